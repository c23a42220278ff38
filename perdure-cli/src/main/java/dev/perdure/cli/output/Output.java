package dev.perdure.cli.output;

import java.io.PrintWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How a command prints: as text, or as JSON with {@code --json}. */
public class Output {
    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    @Option(names = "--json", description = "Print one JSON object in one line, for scripts.")
    private boolean json;

    /** Text, unless the command line asks for JSON. */
    public Output() {}

    /** Prints a page, and returns the exit code of success. */
    public final int print(Page page) {
        PrintWriter out = writer();
        if (json) {
            out.println(page.json());
        } else {
            page.lines(Terminal.current()).forEach(out::println);
        }
        out.flush();
        return 0;
    }

    final boolean json() {
        return json;
    }

    final PrintWriter writer() {
        return Objects.requireNonNull(command).commandLine().getOut();
    }

    final PrintWriter errors() {
        return Objects.requireNonNull(command).commandLine().getErr();
    }
}
