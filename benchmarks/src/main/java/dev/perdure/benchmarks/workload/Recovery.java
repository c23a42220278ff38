package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Moments;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.process.Conversation;
import dev.perdure.benchmarks.report.Unit;
import java.util.Arrays;

/**
 * W5: a process with 2,000 workflows in their sixth step is killed with {@code kill -9}, and started again. Two times
 * make up the recovery, and both are told: until the dead one counts as dead and the first workflow goes on (a lease
 * has to end; a system that only looks after its own needs none), and from then until all are finished.
 */
public final class Recovery {
    private record Round(double rate, double untilFirst, double inAll) {}

    private Recovery() {}

    /** The measurement for these workflows. */
    public static Measurement by(Recoverable recoverable) {
        return task -> {
            int count = task.scale().choose(2_000, 2_000, 20);
            String metric = "w5.recover" + count;
            Rounds<Metered<Round>> rounds = Rounds.of(task, () -> {
                task.results().progress("w5");
                return round(task, recoverable, count);
            });
            rounds.figure(
                    metric + ".rate", Unit.PER_SECOND, round -> round.result().rate());
            rounds.figure(
                    metric + ".until_first",
                    Unit.SECONDS,
                    round -> round.result().untilFirst());
            rounds.figure(
                    metric + ".in_all", Unit.SECONDS, round -> round.result().inAll());
            rounds.cost(metric, round -> round.cost().per(count));
        };
    }

    private static Metered<Round> round(Task task, Recoverable recoverable, int count) throws Exception {
        String workflows = recoverable.getClass().getName();
        try (Conversation first = Conversation.with(RecoverableMain.class, task.site(), workflows)) {
            first.ask("begin " + count);
            first.kill();
        }
        try (Conversation second = Conversation.with(RecoverableMain.class, task.site(), workflows);
                Unfinished unfinished = new Unfinished(task.site(), recoverable.unfinished())) {
            return task.meter().with(second).measure(() -> recover(second, unfinished, count));
        }
    }

    private static Round recover(Conversation second, Unfinished unfinished, int count) throws Exception {
        String begun = second.ask("recover " + count);
        unfinished.awaitNone();
        long finished = Moments.now();
        long[] moments = Moments.parse(begun);
        long opened = moments[0];
        long resumed = Arrays.stream(moments).skip(1).min().orElseThrow();
        return new Round(count * 1e6 / (finished - resumed), (resumed - opened) / 1e6, (finished - opened) / 1e6);
    }
}
