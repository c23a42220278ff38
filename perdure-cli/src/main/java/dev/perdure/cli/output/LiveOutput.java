package dev.perdure.cli.output;

import dev.perdure.error.StoreException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/**
 * How a command prints that can be watched: with {@code --watch} again and again, until Ctrl-C. A terminal shows the
 * newest page in the place of the one before; a file or a pipe gets one page after the other, until its reader is gone.
 */
public final class LiveOutput extends Output {
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final String CLEAR_SCREEN = "\033[2J";
    private static final String HIDE_CURSOR = "\033[?25l";
    private static final String SHOW_CURSOR = "\033[?25h";

    @Option(names = "--watch", description = "Print again each second, until Ctrl-C.")
    private boolean watch;

    /** Prints once, unless the command line asks to watch. */
    public LiveOutput() {}

    /** Prints the page, and returns the exit code of success. */
    public int print(Supplier<Page> page) {
        Page first = page.get();
        if (!watch) {
            return print(first);
        }
        Optional<Terminal> terminal = json() ? Optional.empty() : Terminal.current();
        try {
            terminal.ifPresent(t -> begin());
            watch(page, first, terminal);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private void begin() {
        write(HIDE_CURSOR + CLEAR_SCREEN);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(SHOW_CURSOR), "show-cursor"));
    }

    private void watch(Supplier<Page> page, Page first, Optional<Terminal> terminal) throws InterruptedException {
        Page shown = first;
        show(shown, Optional.empty(), terminal);
        while (!Thread.currentThread().isInterrupted() && !isReaderGone()) {
            Thread.sleep(PERIOD);
            Optional<String> trouble = Optional.empty();
            try {
                shown = page.get();
            } catch (StoreException outOfReach) { // a database that restarts comes back
                trouble = Optional.ofNullable(outOfReach.getMessage()).map(ControlCharacters::replaced);
            }
            show(shown, trouble, terminal);
        }
    }

    private void show(Page page, Optional<String> trouble, Optional<Terminal> terminal) {
        if (terminal.isPresent()) {
            List<String> lines = new ArrayList<>();
            trouble.ifPresent(message -> lines.addAll(List.of(message + " This is the last answer:", "")));
            lines.addAll(page.lines(terminal));
            write(terminal.get().frame(lines));
        } else if (trouble.isPresent()) {
            errors().println(trouble.get());
        } else {
            print(page);
        }
    }

    /** Whether nothing more can be printed. The writer does not know of errors that {@code System.out} keeps to itself. */
    private boolean isReaderGone() {
        return writer().checkError() || System.out.checkError();
    }

    private void write(String text) {
        PrintWriter out = writer();
        out.print(text);
        out.flush();
    }
}
