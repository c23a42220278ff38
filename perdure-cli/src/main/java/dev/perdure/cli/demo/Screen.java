package dev.perdure.cli.demo;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine.Help.Ansi;

/** Prints the progress of the demo, with the seconds since its start, in colour if the terminal supports it. */
final class Screen {
    private final PrintWriter out;
    private final long began = System.nanoTime();
    private boolean allPassed = true;

    Screen(PrintWriter out) {
        this.out = out;
    }

    void headline(String text) {
        print("%n@|bold " + text + "|@%n");
    }

    void line(String text) {
        double seconds = Duration.ofNanos(System.nanoTime() - began).toMillis() / 1000.0;
        print(String.format(Locale.ROOT, "  %6.1f s  %s%n", seconds, text));
    }

    /** Prints several lines. */
    void block(String lines) {
        line(lines.strip().replace("\n", "\n            "));
    }

    /** Prints a claim and whether it holds. */
    void check(boolean holds, String claim) {
        allPassed &= holds;
        print(holds ? "            @|green ✓|@ " + claim + "%n" : "            @|bold,red ✗ " + claim + "|@%n");
    }

    boolean allPassed() {
        return allPassed;
    }

    private void print(String text) {
        out.print(Ansi.AUTO.string(text.replace("%n", System.lineSeparator())));
        out.flush();
    }
}
