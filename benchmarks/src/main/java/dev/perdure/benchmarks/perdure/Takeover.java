package dev.perdure.benchmarks.perdure;

import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.workload.Recoverable;
import dev.perdure.benchmarks.workload.RecoverableMain;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * W5 with a process that is already running when another one is killed with {@code kill -9}, both with the default
 * lease. The time from the kill until the first body begins again, and until 2,000 runs are finished.
 */
public final class Takeover {
    private static final String REGISTERED =
            "SELECT count(*) FROM perdure.worker WHERE NOT dead AND backend IS NOT NULL";

    private final Task task;
    private final BlockingQueue<Long> begun;
    private final Observer observer;

    private Takeover(Task task, BlockingQueue<Long> begun, Observer observer) {
        this.task = task;
        this.begun = begun;
        this.observer = observer;
    }

    /** The measurement. This process is the one that takes over. */
    public static void measure(Task task) throws Exception {
        BlockingQueue<Long> begun = new LinkedBlockingQueue<>();
        Recoverable.Host standby =
                new PerdureRecoverable().open(task.database(), number -> begun.add(System.nanoTime()));
        try (Observer observer = new Observer(task.database())) {
            Takeover takeover = new Takeover(task, begun, observer);
            takeover.one(task.scale() == Scale.GOALS ? 40 : task.scale().choose(100, 10, 1));
            takeover.many(task.scale().choose(2_000, 2_000, 20), task.scale().rounds());
        } finally {
            standby.close();
        }
    }

    private void one(int kills) throws Exception {
        long[] nanos = new long[kills];
        for (int i = 0; i < kills; i++) {
            task.results().progress("w5.takeover");
            long killed = killInBodies(1);
            nanos[i] = begun.take() - killed;
        }
        Arrays.sort(nanos);
        task.results().figure("w5.takeover.p50", Unit.MILLISECONDS, Load.percentile(nanos, 50));
        task.results().figure("w5.takeover.p99", Unit.MILLISECONDS, Load.percentile(nanos, 99));
    }

    private void many(int count, int rounds) throws Exception {
        double[] seconds = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            task.results().progress("w5.standby");
            long killed = killInBodies(count);
            while (observer.number(new PerdureRecoverable().unfinished()) > 0) {
                Thread.sleep(Duration.ofMillis(2));
            }
            seconds[i] = (System.nanoTime() - killed) / 1e9;
            begun.clear();
        }
        task.results().figure("w5.standby%d.in_all".formatted(count), Unit.SECONDS, seconds);
    }

    /** Kills another process that is in the bodies of so many runs. Returns when it did that. */
    private long killInBodies(int count) throws Exception {
        try (ChildProcess victim =
                ChildProcess.with(RecoverableMain.class, task.database(), PerdureRecoverable.class.getName())) {
            victim.ask("begin " + count);
            while (observer.number(REGISTERED) < 2) { // its lease would decide
                Thread.sleep(Duration.ofMillis(2));
            }
            long killed = System.nanoTime();
            victim.kill();
            return killed;
        }
    }
}
