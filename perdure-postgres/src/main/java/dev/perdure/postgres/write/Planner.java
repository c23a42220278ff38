package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Database.UnforeseenException;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.LocalDag;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.postgres.write.part.OneChangeSql;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Chooses how a batch is sent: one change or many, by a plan with beliefs or by the plan that looks everything up.
 *
 * <p>How it works: most changes touch only what their worker holds, and a plan that assumes this
 * ({@link OneChangePlan}, {@link BelievedBatch}) costs a fraction of the {@link LookedUpPlan}. Its statements check
 * what it assumes, so a wrong belief does no harm: the batch, or the rest of it, is sent again and everything is looked
 * up. A belief that was wrong is not used for a while ({@link Belief}).
 */
public final class Planner {
    private final WriteContext context;
    private final OneChangeSql oneChangeSql;
    private final BelievedBatch.Knowledge knowledge;
    private final boolean believes;
    private final LongAdder believed = new LongAdder();
    private final LongAdder wrong = new LongAdder();
    private final LongAdder lookedUp = new LongAdder();

    Planner(WriteContext context, OneChangeSql oneChangeSql, BelievedBatch.Knowledge knowledge, boolean believes) {
        this.context = context;
        this.oneChangeSql = oneChangeSql;
        this.knowledge = knowledge;
        this.believes = believes;
    }

    /**
     * The result of a batch.
     *
     * @param waiting calls of virtual objects that wait for their turn since then, and for whose results other runs
     *     wait
     */
    record Applied(List<Outcome> outcomes, List<Long> waiting) {}

    /**
     * How batches were sent so far.
     *
     * @param believed by plans with beliefs that were right
     * @param wrong by plans with beliefs that skipped all or some of the batch
     * @param lookedUp by the plan that looks everything up
     */
    public record Counts(long believed, long wrong, long lookedUp) {}

    Counts counts() {
        return new Counts(believed.sum(), wrong.sum(), lookedUp.sum());
    }

    Applied apply(Sender sender, List<Change> changes) {
        BelievedPlan plan = believes ? believed(sender, changes) : null;
        return plan == null ? lookedUp(sender, changes, changes.size() == 1) : tried(plan, sender, changes);
    }

    private @Nullable BelievedPlan believed(Sender sender, List<Change> changes) {
        if (changes.size() == 1) {
            BelievedPlan one = OneChangePlan.of(context, oneChangeSql, sender, changes.getFirst(), knowledge.keys());
            if (one != null) {
                return one;
            }
        }
        return BelievedBatch.of(context, sender, changes, knowledge);
    }

    private Applied tried(BelievedPlan plan, Sender sender, List<Change> changes) {
        try {
            context.send(plan.parts());
        } catch (RefusedException notAsBelieved) {
            wrong.increment();
            plan.failed();
            return lookedUp(sender, changes, true);
        }
        @Nullable Outcome[] outcomes = plan.outcomes();
        List<Integer> left = new ArrayList<>();
        for (int i = 0; i < outcomes.length; i++) {
            if (outcomes[i] == null) {
                left.add(i);
            }
        }
        if (left.isEmpty()) {
            believed.increment();
            return new Applied(List.of(outcomes), List.of());
        }
        wrong.increment();
        Applied second = lookedUp(sender, left.stream().map(changes::get).toList(), changes.size() == 1);
        for (int i = 0; i < left.size(); i++) {
            outcomes[left.get(i)] = second.outcomes().get(i);
        }
        return new Applied(List.of(outcomes), second.waiting());
    }

    /**
     * @param careful whether entries may already exist; if not, a batch that meets one is sent again, carefully
     */
    private Applied lookedUp(Sender sender, List<Change> changes, boolean careful) {
        lookedUp.increment();
        Batch batch = new Batch(changes, knowledge.keys());
        if (careful) {
            return send(sender, batch, true);
        }
        try {
            return send(sender, batch, false);
        } catch (UnforeseenException thereBefore) {
            return send(sender, batch, true);
        }
    }

    private Applied send(Sender sender, Batch batch, boolean careful) {
        LookedUpPlan plan = new LookedUpPlan(context, sender, batch, careful);
        List<Outcome> outcomes = plan.outcomes();
        batch.births.all.forEach(birth -> meet(batch, birth, outcomes));
        return new Applied(outcomes, plan.waiting());
    }

    /** A DAG that was started for a worker here is known from now on. */
    private void meet(Batch batch, RunToStart birth, List<Outcome> outcomes) {
        LocalDag dag = batch.tasks.dag(birth.key());
        if (dag != null
                && birth.asked() != null
                && outcomes.get(birth.asked().index()) instanceof Outcome.Started started
                && started.run().equals(dag.head.ref)
                && !started.handed().isEmpty()) {
            knowledge.localDags().born(dag, started.at());
        }
    }
}
