package dev.perdure.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return Main.run(arguments, new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void histories_run_with_progress_and_coverage() {
        assertThat(run("--seeds", "12", "--workers", "2", "--first", "7")).isZero();
        assertThat(printed())
                .contains("12 histories, ", " a second")
                .contains("How often a fault hit a commit")
                .contains("ANSWER_LOST", "Move.Wait", "Effect.Take", "Change.Start")
                .contains("RUNNING -> COMPLETED: ")
                .contains("No history had these edges: ", "No history had these pairs: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--seed 5 | '--seed' is no option.",
                "--seeds | The option '--seeds' has no value.",
                "--seeds many | The value 'many' of '--seeds' is not a whole number from 1 on.",
                "--seeds 0 | The value '0' of '--seeds' is not a whole number from 1 on.",
                "--minutes -1 | The value '-1' of '--minutes' is not a whole number from 1 on.",
                "--workers 5000 | The value '5000' of '--workers' is more than 1000.",
            })
    void a_bad_option_is_named(String arguments, String message) {
        assertThat(run(arguments.strip().split(" ", -1))).isEqualTo(2);
        assertThat(printed()).contains(message).contains("Usage: perdure simulate");
    }

    @Test
    void help_is_no_mistake() {
        assertThat(run("--help")).isZero();
        assertThat(printed()).startsWith("Usage: perdure simulate");
    }
}
