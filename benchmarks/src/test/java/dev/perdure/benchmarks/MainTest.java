package dev.perdure.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        CommandLine commandLine = Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        return commandLine.execute(args);
    }

    @Test
    void help_names_the_options() {
        assertThat(bench("--help")).isZero();
        assertThat(out.toString()).contains("--only", "--quick", "--url", "goals", "list", "micro");
    }

    @Test
    void the_list_says_for_whom_a_workload_is_measured() {
        assertThat(bench("list")).isZero();
        assertThat(out.toString()).contains("w2 ", "for perdure, dbos");
    }

    @Test
    void an_unknown_workload_is_a_usage_error_that_names_it() {
        assertThat(bench("w99")).isEqualTo(2);
        assertThat(err.toString()).contains("w99");
    }
}
