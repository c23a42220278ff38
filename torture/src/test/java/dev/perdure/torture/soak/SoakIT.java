package dev.perdure.torture.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A soak of seconds: it measures everything. Whether something grows takes an hour to say. */
@Tag("thorough")
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class SoakIT {
    @TempDir
    private Path logs;

    @Test
    void measures_tables_memory_threads_connections_and_files() throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        Soak.Plan plan = new Soak.Plan(Soak.FEWEST_SAMPLES, Duration.ofSeconds(1), Duration.ofMillis(200), logs);
        try (Soak soak = new Soak(plan, out)) {
            assertThat(soak.run())
                    .as("nothing but growth, as everything is new")
                    .allSatisfy(each -> assertThat(each).contains("in the second third"));
        }
        String text = said.toString(StandardCharsets.UTF_8);
        System.out.println(text);
        assertThat(text)
                .contains("table journal ", "rows of run ", "heap of worker 2 ", "threads of client ", "connections ")
                .containsPattern("\\d+ figures, \\d+ of them grow");
    }
}
