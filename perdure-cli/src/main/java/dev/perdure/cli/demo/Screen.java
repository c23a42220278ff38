package dev.perdure.cli.demo;

import java.io.PrintWriter;
import java.time.Duration;
import picocli.CommandLine.Help.Ansi;

/** Prints what the demo does, with the seconds since it began, in colours where the terminal has them. */
final class Screen {
    private final PrintWriter out;
    private final long began = System.nanoTime();
    private boolean allHeld = true;

    Screen(PrintWriter out) {
        this.out = out;
    }

    void headline(String text) {
        print("%n@|bold " + text + "|@%n");
    }

    void line(String text) {
        double seconds = Duration.ofNanos(System.nanoTime() - began).toMillis() / 1000.0;
        print("  %6.1f s  %s%n".formatted(seconds, text));
    }

    /** Several lines at once. */
    void block(String lines) {
        line(lines.strip().replace("\n", "\n            "));
    }

    /** A promise that was put to the test. */
    void check(boolean held, String promise) {
        allHeld &= held;
        print(held ? "            @|green ✓|@ " + promise + "%n" : "            @|bold,red ✗ " + promise + "|@%n");
    }

    boolean allHeld() {
        return allHeld;
    }

    private void print(String text) {
        out.print(Ansi.AUTO.string(text.replace("%n", System.lineSeparator())));
        out.flush();
    }
}
