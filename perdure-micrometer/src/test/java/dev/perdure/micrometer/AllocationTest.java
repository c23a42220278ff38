package dev.perdure.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What measurements cost the threads of the engine. */
class AllocationTest {
    private static final int RUNS = 20_000;
    private static final long MOST_BYTES_PER_RUN = 64;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final PerdureMetrics metrics = PerdureMetrics.on(new SimpleMeterRegistry());
    private final RunChange running = change(RunState.RUNNING);
    private final RunChange completed = change(RunState.COMPLETED);

    private static RunChange change(RunState state) {
        return new RunChange(RunId.of("r"), "order", state, Optional.empty());
    }

    /** What the engine tells of a run with two steps. */
    private void run() {
        metrics.loaded();
        metrics.changed(running);
        metrics.began("order", "default");
        for (int i = 0; i < 3; i++) {
            metrics.committing();
            metrics.committed(1, 200_000);
        }
        metrics.attempted("order", "default", true, 1_000_000);
        metrics.attempted("order", "default", true, 1_000_000);
        metrics.unloaded();
        metrics.changed(completed);
        metrics.ran("order", RunState.COMPLETED, 5_000_000);
    }

    private long allocated() {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < RUNS; i++) {
            run();
        }
        return (threads.getCurrentThreadAllocatedBytes() - before) / RUNS;
    }

    @Test
    void the_measurements_of_a_run_allocate_next_to_nothing() {
        long unused = allocated(); // registers the meters
        assertThat(allocated()).isLessThan(MOST_BYTES_PER_RUN);
    }
}
