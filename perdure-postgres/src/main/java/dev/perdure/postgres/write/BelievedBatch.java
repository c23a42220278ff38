package dev.perdure.postgres.write;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.LocalCalls;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.postgres.write.change.LocalDags;
import dev.perdure.postgres.write.change.SelfContained;
import dev.perdure.postgres.write.change.TakesAndStarts;
import dev.perdure.postgres.write.part.Answers;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.FreeCallSql;
import dev.perdure.postgres.write.part.FreeCalls;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.LocalDagEnds;
import dev.perdure.postgres.write.part.LocalDagSql;
import dev.perdure.postgres.write.part.LocalDagStarts;
import dev.perdure.postgres.write.part.OwnEnds;
import dev.perdure.postgres.write.part.OwnSql;
import dev.perdure.postgres.write.part.OwnStarts;
import dev.perdure.postgres.write.part.OwnWaits;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The plan for changes that touch only runs of the sending worker, which most batches consist of: appends, starts, ends
 * and waits of runs that concern no other run, also those that take mail and start such runs ({@link OwnSql}), calls of
 * free virtual objects ({@link FreeCallSql}), and tasks of DAGs that the worker knows ({@link LocalDagSql}). It locks
 * only what it changes and looks nothing up. It fails as a whole if the worker does not hold a run as it believes, or
 * an id is not new. It does not touch calls whose objects are not free.
 */
public final class BelievedBatch implements BelievedPlan {
    private final WriteContext context;
    private final Sending sending;
    private final List<Change> changes;
    private final LocalDags localDags;
    private final List<Placed<Change.Advance>> appends = new ArrayList<>();
    private final OwnStarts starts = new OwnStarts();
    private final OwnWaits waits = new OwnWaits();
    private final TakesAndStarts takesAndStarts = new TakesAndStarts();
    private final OwnEnds ends = new OwnEnds();
    private final FreeCalls calls;
    private final LocalDagStarts dagStarts = new LocalDagStarts();
    private final LocalDagEnds dagEnds = new LocalDagEnds();
    private final Function<long[], Map<Long, Claimed>> lookUp;
    private final Outcome[] outcomes;

    /** What the plan needs in addition to the changes. */
    record Knowledge(Keys keys, LocalDags localDags, LocalCalls localCalls, Workers workers, Claims claims) {}

    private BelievedBatch(WriteContext context, Sender sender, List<Change> changes, Knowledge knowledge) {
        this.context = context;
        this.sending = context.by(sender);
        this.changes = changes;
        this.localDags = knowledge.localDags();
        this.calls = new FreeCalls(knowledge.localCalls());
        this.lookUp =
                keys -> sender.worker() == null ? Map.of() : knowledge.claims().read(keys, sender.worker());
        this.outcomes = Answers.none(changes.size());
    }

    /** These changes as such a batch; null if they are not one, or if a belief that it needs was wrong recently. */
    static @Nullable BelievedBatch of(WriteContext context, Sender sender, List<Change> changes, Knowledge knowledge) {
        Sorting sorting = Sorting.of(changes, knowledge.localDags());
        if (sorting == null || !sorting.fitsTogether() || !sorting.isWorthwhile(context.beliefs())) {
            return null;
        }
        BelievedBatch batch = new BelievedBatch(context, sender, changes, knowledge);
        if (sorting.dags()) {
            Predicate<NewRun> skills =
                    sender.worker() == null ? null : knowledge.workers().skills(sender.worker());
            if (skills == null) {
                return null;
            }
            batch.add(sorting, knowledge.keys());
            batch.dagEnds.close(skills);
        } else {
            batch.add(sorting, knowledge.keys());
        }
        return batch;
    }

    /** The kind of each change. */
    private enum Sort {
        APPEND,
        START,
        WAIT,
        END,
        CALL,
        DAG_START,
        TASK_END
    }

    /**
     * A change of the batch.
     *
     * @param task the task that it ends, or null; looked up once, because it may be forgotten at any time
     */
    private record Sorted(Sort sort, @Nullable Member task) {}

    /**
     * The changes of the batch, sorted.
     *
     * @param startsOthers whether transitions start runs
     */
    private record Sorting(List<Sorted> all, Set<Sort> sorts, boolean startsOthers) {
        static @Nullable Sorting of(List<Change> changes, LocalDags localDags) {
            List<Sorted> all = new ArrayList<>(changes.size());
            Set<Sort> sorts = EnumSet.noneOf(Sort.class);
            for (Change change : changes) {
                Sort sort = sort(change);
                Member task = sort == Sort.TASK_END && change instanceof Change.Advance advance
                        ? localDags.find(advance.run().key())
                        : null;
                if (sort == null || (sort == Sort.TASK_END && task == null)) {
                    return null;
                }
                all.add(new Sorted(sort, task));
                sorts.add(sort);
            }
            boolean startsOthers = changes.stream()
                    .anyMatch(
                            change -> change instanceof Change.Advance advance && SelfContained.startsOthers(advance));
            return new Sorting(all, sorts, startsOthers);
        }

        private static @Nullable Sort sort(Change change) {
            return switch (change) {
                case Change.Start start when start.owner() == null -> null;
                case Change.Start start when LocalDagStarts.isOne(start) -> Sort.DAG_START;
                case Change.Start start when SelfContained.isStart(start) -> Sort.START;
                case Change.Start start when SelfContained.isStartOfCall(start) -> Sort.CALL;
                case Change.Advance advance
                when advance.move() instanceof Move.Stay && SelfContained.onlyTakesAndStarts(advance) -> Sort.APPEND;
                case Change.Advance advance
                when SelfContained.isWait(advance) && SelfContained.onlyTakesAndStarts(advance) -> Sort.WAIT;
                case Change.Advance advance when SelfContained.isEnd(advance) -> Sort.END;
                case Change.Advance advance when SelfContained.isEndOfCall(advance) -> Sort.CALL;
                case Change.Advance advance when SelfContained.onlyEnds(advance) -> Sort.TASK_END;
                default -> null;
            };
        }

        private boolean has(Sort wanted) {
            return sorts.contains(wanted);
        }

        boolean dags() {
            return has(Sort.DAG_START) || has(Sort.TASK_END);
        }

        /**
         * Statements that lock runs must do so in one pass, and one statement can do that only for the rows that it
         * knows.
         */
        boolean fitsTogether() {
            boolean waits = has(Sort.WAIT);
            boolean calls = has(Sort.CALL);
            return !(waits && calls) && !(dags() && (waits || calls));
        }

        boolean isWorthwhile(Beliefs beliefs) {
            boolean starts = has(Sort.START) || has(Sort.DAG_START) || startsOthers;
            boolean calls = has(Sort.CALL);
            return !((starts || calls) && !beliefs.idsAreNew.isWorthwhile())
                    && !(calls && !beliefs.objectsAreFree.isWorthwhile())
                    && !(has(Sort.WAIT) && !beliefs.waitersSleep.isWorthwhile());
        }
    }

    private void add(Sorting sorting, Keys keys) {
        boolean tasksEnd = sorting.has(Sort.TASK_END);
        for (int i = 0; i < changes.size(); i++) {
            Sort sort = sorting.all().get(i).sort();
            switch (changes.get(i)) {
                case Change.Start start when sort == Sort.CALL -> calls.begin(i, start.run(), keys);
                case Change.Start start when sort == Sort.DAG_START -> dagStarts.add(i, start, keys);
                case Change.Start start -> starts.add(i, start.run(), keys);
                case Change.Advance advance when sort == Sort.CALL -> calls.end(i, advance);
                case Change.Advance advance
                when sort == Sort.WAIT -> {
                    waits.add(i, advance);
                    takesAndStarts.add(advance, keys);
                }
                case Change.Advance advance
                when sort == Sort.APPEND -> {
                    appends.add(new Placed<>(i, advance));
                    takesAndStarts.add(advance, keys);
                }
                case Change.Advance advance
                when tasksEnd -> dagEnds.add(i, advance, sorting.all().get(i).task());
                case Change.Advance advance -> ends.add(i, advance);
                default -> throw new IllegalStateException("Not of a sort: " + changes.get(i));
            }
        }
    }

    @Override
    public List<Part> parts() {
        LedgerSql sql = context.sql();
        LookedUpPlan.Parts parts = new LookedUpPlan.Parts();
        parts.addIf(!calls.isEmpty(), () -> calls.part(sql.free, sending, outcomes));
        parts.addIf(!waits.isEmpty() && !ends.isEmpty(), this::lock);
        parts.addIf(!appends.isEmpty(), this::append);
        parts.addIf(!waits.isEmpty(), () -> waits.part(sql.own, sending, outcomes));
        parts.addIf(!ends.isEmpty(), () -> ends.part(sql.own, sending, outcomes));
        parts.addIf(!dagEnds.isEmpty(), () -> dagEnds.part(sql.localDag, sending));
        parts.addIf(takesAndStarts.takes(), this::take);
        parts.addIf(!starts.isEmpty(), () -> starts.part(sql.own, sending, outcomes));
        parts.addIf(takesAndStarts.starts(), this::startOthers);
        parts.addIf(!dagStarts.isEmpty(), () -> dagStarts.part(sql.localDag, sending));
        TouchedRuns touched = TouchedRuns.of(changes);
        parts.addIf(!touched.isEmpty(), () -> context.react(touched));
        parts.addIf(calls.beginsAny(), () -> calls.statesPart(sql.objects, outcomes));
        return parts.withSettings(sql, appends.size() < changes.size() || !takesAndStarts.isEmpty());
    }

    /** All moves in one pass, as in any batch. */
    private Part lock() {
        long[] keys = LongStream.concat(LongStream.of(ends.keys()), LongStream.of(waits.keys()))
                .toArray();
        return new Part(
                context.sql().locks.lock,
                parameters -> sending.lane(parameters).longs(keys).integer(sending.worker()));
    }

    private Part take() {
        return new Part(context.sql().own.take, parameters -> takesAndStarts.bindTakes(sending.lane(parameters)));
    }

    private Part startOthers() {
        return new Part(
                context.sql().own.startReporting, parameters -> takesAndStarts.bindStarts(sending.fence(parameters)));
    }

    private Part append() {
        return Part.timed(
                context.sql().append,
                parameters -> new Entries(Batch.changes(appends)).bind(sending.fence(parameters)),
                at -> {
                    Outcome outcome = at == null ? new Outcome.Fenced() : new Outcome.Applied(at, RunState.RUNNING);
                    appends.forEach(append -> outcomes[append.index()] = outcome);
                });
    }

    @Override
    public @Nullable Outcome[] outcomes() {
        if (!waits.isEmpty()) {
            context.beliefs().waitersSleep.proved(true);
        }
        if (takesAndStarts.starts()) {
            context.hints().tell(new Hints.WorkReady());
        }
        dagStarts.started(outcomes, localDags);
        dagEnds.ended(outcomes, lookUp);
        if (dagEnds.queued()) {
            context.hints().tell(new Hints.WorkReady());
        }
        @Nullable Outcome[] all = outcomes.clone();
        List<Integer> left = calls.left();
        left.forEach(index -> all[index] = null);
        if (!calls.isEmpty()) {
            context.beliefs().objectsAreFree.proved(2 * left.size() <= calls.size());
        }
        return all;
    }

    @Override
    public void failed() {
        if (!waits.isEmpty()) {
            context.beliefs().waitersSleep.proved(false);
        }
        changes.forEach(localDags::doubt);
    }
}
