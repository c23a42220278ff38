package dev.perdure.testing;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A test whose threads call the engine at once. */
final class ThreadsOfATestTest {
    private static final int THREADS = 4;

    private final Definition<String, String> sleeper =
            Definition.of("sleeper", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    /** Lets all threads start a run in each round, all at the same moment. */
    private void startAtOnce(Perdure perdure, int rounds) throws Exception {
        CyclicBarrier together = new CyclicBarrier(THREADS);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            all.add(threads.submit(() -> {
                for (int round = 0; round < rounds; round++) {
                    together.await(30, TimeUnit.SECONDS);
                    perdure.start(Invocation.of(sleeper, "x"), id("run-%d-%d".formatted(thread, round)));
                }
                return thread;
            }));
        }
        for (Future<?> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void starts_of_several_threads_neither_move_time_nor_throw() throws Exception {
        try (PerdureTest perdure = PerdureTest.create().register(sleeper)) {
            Instant before = perdure.now();
            startAtOnce(perdure, 500);
            assertThat(perdure.now()).isEqualTo(before);
        }
    }

    @Test
    void the_first_calls_of_several_threads_start_one_engine() throws Exception {
        for (int i = 0; i < 50; i++) {
            try (PerdureTest perdure = PerdureTest.create().register(sleeper)) {
                startAtOnce(perdure, 1);
                assertThat(perdure.versions().workers()).hasSize(1);
            }
        }
    }
}
