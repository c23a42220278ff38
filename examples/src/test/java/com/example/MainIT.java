package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the program of {@code docs/start.md} in a process, kills it and starts it again. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class MainIT {
    private static final String EMAIL = "ada@example.org";
    private static final String WELCOME = "To ada@example.org: Welcome!";
    private static final String DURABLE = "Run signup-ada@example.org is durable. Kill me, and start me again.";

    @Test
    void a_killed_program_greets_once_and_its_run_sleeps_on() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("main")) {
            Process first = program(database);
            try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                    Perdure client = Perdure.on(store).client()) {
                assertThat(linesUntil(first, WELCOME)).contains(DURABLE);
                Run<String> run = client.run(RunId.of("signup-" + EMAIL), TypeRef.of(String.class));
                awaitAsleep(run);
                first.destroyForcibly().waitFor();

                Process second = program(database);
                assertThat(linesUntil(second, DURABLE)).doesNotContain(WELCOME);
                assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
                second.destroyForcibly().waitFor();
            } finally {
                first.destroyForcibly();
            }
        }
    }

    private static Process program(SharedPostgres.Fresh database) throws IOException {
        String url = "%s?user=%s&password=%s".formatted(database.jdbcUrl(), database.user(), database.password());
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Main.class.getName(), url, EMAIL)
                .redirectErrorStream(true)
                .start();
    }

    private static List<String> linesUntil(Process process, String last) throws IOException {
        List<String> lines = new ArrayList<>();
        BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            lines.add(line);
            if (line.equals(last) && (last.equals(DURABLE) || lines.contains(DURABLE))) {
                return lines;
            }
        }
        throw new AssertionError("The program ended before it said '%s': %s".formatted(last, lines));
    }

    private static void awaitAsleep(Run<?> run) throws InterruptedException {
        while (run.state() != RunState.SUSPENDED) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }
}
