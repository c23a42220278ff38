package dev.perdure.torture.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** There are always so many worker processes, whatever they say and whenever they are ended. */
@Timeout(30)
class WorkersTest {
    @TempDir
    private Path logs;

    /** Says more than a pipe holds, and ends with its input. */
    static final class Talkative {
        private Talkative() {}

        public static void main(String... arguments) throws IOException {
            System.out.println("ready");
            System.out.println("x".repeat(1024 * 1024));
            System.in.readAllBytes();
        }
    }

    @Test
    void a_worker_that_says_much_does_not_stand_still_and_ends_with_its_input() throws Exception {
        try (Workers workers = new Workers(Talkative.class, 1, List.of(), logs)) {
            workers.start();
            WorkerProcess worker = workers.at(0);
            worker.end();
            assertThat(worker.exitCode()).isZero();
            assertThat(workers.lost()).isEmpty();
        }
    }

    @Test
    void a_worker_that_is_ended_while_it_speaks_is_replaced() throws Exception {
        try (Workers workers = new Workers(Talkative.class, 1, List.of(), logs)) {
            workers.start();
            WorkerProcess worker = workers.at(0);
            worker.close();
            await().until(() -> workers.at(0) != worker);
            assertThat(workers.lost()).isEmpty();
        }
    }
}
