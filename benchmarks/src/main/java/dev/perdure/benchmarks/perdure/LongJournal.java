package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.benchmarks.measure.JvmUsage;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import org.jspecify.annotations.Nullable;

/**
 * W8: how long it takes to resume a run with a long journal. The run makes its entries, of 100 bytes each, and sleeps.
 * Then the benchmark pauses and resumes it repeatedly, and measures the time from the resume until its code is back at
 * the sleep.
 */
public final class LongJournal {
    private static final String HUNDRED_BYTES = "x".repeat(98);

    private final SynchronousQueue<Long> arrivals = new SynchronousQueue<>();
    private final Definition<Integer, @Nullable Void> workflow =
            Definition.of("long", Integer.class, (ctx, entries) -> {
                for (int i = 0; i < entries; i++) {
                    ctx.step("step", () -> HUNDRED_BYTES);
                }
                arrivals.put(System.nanoTime());
                ctx.sleep(Duration.ofDays(1));
            });

    private LongJournal() {}

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        new LongJournal().all(task);
    }

    private void all(Task task) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(workflow).start()) {
            for (int entries :
                    task.scale().choose(List.of(10, 1_000, 100_000), List.of(10, 1_000, 20_000), List.of(10))) {
                measure(task, perdure, entries);
            }
        }
    }

    private void measure(Task task, Perdure perdure, int entries) throws Exception {
        String metric = "w8." + entries;
        task.results().progress(metric);
        Run<@Nullable Void> run = perdure.start(Invocation.of(workflow, entries));
        arrivals.take();
        long warm = System.nanoTime() + task.scale().warmUp().dividedBy(2).toNanos();
        do {
            resume(run);
        } while (System.nanoTime() < warm);
        double[] millis = new double[task.scale().rounds()];
        for (int round = 0; round < millis.length; round++) {
            millis[round] = resume(run) / 1e6;
        }
        task.results().figure(metric + ".resume", Unit.MILLISECONDS, millis);
        task.results().figure(metric + ".heap", Unit.BYTES, heap(run));
        run.kill("measured");
    }

    private long resume(Run<?> run) throws InterruptedException {
        pause(run);
        long began = System.nanoTime();
        run.resume();
        return arrivals.take() - began;
    }

    /** The heap of the run when its code has reached the end of the journal. */
    private double heap(Run<?> run) throws InterruptedException {
        pause(run);
        long before = JvmUsage.heap();
        run.resume();
        // No thread takes the arrival yet, so the run waits there.
        while (run.state() != RunState.RUNNING) {
            Thread.sleep(Duration.ofMillis(10));
        }
        Thread.sleep(Duration.ofSeconds(1));
        long held = Math.max(0, JvmUsage.heap() - before);
        arrivals.take();
        return held;
    }

    private static void pause(Run<?> run) throws InterruptedException {
        while (run.state() != RunState.SUSPENDED) {
            Thread.sleep(Duration.ofMillis(2));
        }
        run.pause("to be resumed");
        while (run.state() != RunState.PAUSED) {
            Thread.sleep(Duration.ofMillis(2));
        }
    }
}
