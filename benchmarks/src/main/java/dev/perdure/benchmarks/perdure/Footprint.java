package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.measure.JvmUsage;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.postgres.PostgresStore;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Measures the footprint of Perdure: connections, platform threads, heap of an idle engine, and heap per run that is in
 * a step.
 */
public final class Footprint {
    private static final int ACTIVE = 5_000;
    private static final int CALLERS = 64;
    /** What a store with the most lanes uses, with the connection that listens. */
    private static final int CONNECTIONS = 9;

    /**
     * Where a body waits.
     *
     * @param inStep counts the bodies that have begun
     * @param goOn lets them end
     */
    private record Hold(CountDownLatch inStep, CountDownLatch goOn) {
        /** Holds nothing. */
        static final Hold NONE = new Hold(new CountDownLatch(0), new CountDownLatch(0));

        void await() throws InterruptedException {
            inStep.countDown();
            goOn.await();
        }
    }

    private Footprint() {}

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        task.results().progress("footprint");
        int active = task.scale().choose(ACTIVE, ACTIVE, 100);
        AtomicReference<Hold> hold = new AtomicReference<>(Hold.NONE);
        Definition<Integer, @Nullable Void> workflow = Definition.of(
                "holding",
                Integer.class,
                (ctx, in) -> ctx.step("hold", () -> hold.get().await()));
        try (HikariDataSource pool = task.database().pool(CONNECTIONS)) {
            warmUp(task, workflow);
            long heapBefore = JvmUsage.heap();
            int threadsBefore = JvmUsage.threads();
            try (PostgresStore store = PostgresStore.on(pool).open();
                    Perdure perdure = Perdure.on(store).register(workflow).start()) {
                long atRest = JvmUsage.heap();
                int threads = JvmUsage.threads() - threadsBefore;
                Hold held = new Hold(new CountDownLatch(active), new CountDownLatch(1));
                hold.set(held);
                List<Run<@Nullable Void>> runs = perdure.startAll(
                        Collections.nCopies(active, 1),
                        each -> Invocation.of(workflow, each),
                        each -> StartOptions.defaults());
                held.inStep().await();
                long busy = JvmUsage.heap();
                held.goOn().countDown();
                runs.forEach(Run::result);
                int connections = pool.getHikariPoolMXBean().getTotalConnections();
                task.results().figure("footprint.connections", Unit.COUNT, connections);
                task.results().figure("footprint.threads", Unit.COUNT, threads);
                task.results().figure("footprint.heap_at_rest", Unit.BYTES, (double) (atRest - heapBefore));
                task.results().figure("footprint.heap_per_run", Unit.BYTES, (busy - atRest) / (double) active);
            }
        }
    }

    /**
     * Loads and compiles the code before the measurement, with the same workflow: classes do not belong to an engine's
     * footprint, and the stack of a run takes several times as much memory while the code on it is interpreted.
     */
    private static void warmUp(Task task, Definition<Integer, @Nullable Void> workflow) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(workflow).start()) {
            Load.of(
                    CALLERS,
                    task.scale().warmUp(),
                    () -> perdure.start(Invocation.of(workflow, 1)).result());
        }
    }
}
