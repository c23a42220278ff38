package dev.perdure.benchmarks.ours;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.measure.Footprint;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.Site;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.postgres.PostgresStore;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** What Perdure holds: connections, platform threads, heap at rest, and heap per run that is in a step. */
public final class Budget {
    private static final int ACTIVE = 5_000;

    private Budget() {}

    /** Measures. */
    public static void measure(Task task) throws Exception {
        task.results().progress("footprint");
        int active = task.scale().choose(ACTIVE, ACTIVE, 100);
        CountDownLatch inStep = new CountDownLatch(active);
        CountDownLatch goOn = new CountDownLatch(1);
        Definition<Integer, @Nullable Void> workflow = Definition.ofVoid(
                "holding",
                Integer.class,
                (ctx, in) -> ctx.run("hold", () -> {
                    inStep.countDown();
                    goOn.await();
                }));
        try (HikariDataSource pool = task.site().pool(PerdureSteps.CONNECTIONS)) {
            warmUp(task.site());
            long heapBefore = Footprint.heap();
            int threadsBefore = Footprint.threads();
            try (PostgresStore store = PostgresStore.on(pool).open();
                    Perdure perdure = Perdure.on(store).register(workflow).start()) {
                long atRest = Footprint.heap();
                int threads = Footprint.threads() - threadsBefore;
                List<Run<@Nullable Void>> runs =
                        perdure.startAll(workflow, Collections.nCopies(active, 1), each -> StartOptions.defaults());
                inStep.await();
                long busy = Footprint.heap();
                goOn.countDown();
                runs.forEach(Run::result);
                int connections = pool.getHikariPoolMXBean().getTotalConnections();
                task.results().figure("footprint.connections", Unit.COUNT, connections);
                task.results().figure("footprint.threads", Unit.COUNT, threads);
                task.results().figure("footprint.heap_at_rest", Unit.BYTES, (double) (atRest - heapBefore));
                task.results().figure("footprint.heap_per_run", Unit.BYTES, (busy - atRest) / (double) active);
            }
        }
    }

    /** Classes are loaded once, by whoever comes first; they are not what an engine holds. */
    private static void warmUp(Site site) throws Exception {
        try (StepRunner runner = PerdureSteps.open(site)) {
            runner.run(1);
        }
    }
}
