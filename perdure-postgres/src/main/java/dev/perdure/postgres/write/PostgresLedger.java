package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.jdbc.SqlState;
import dev.perdure.postgres.lane.ClientFence;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.LocalCalls;
import dev.perdure.postgres.write.change.LocalDags;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.OneChangeSql;
import dev.perdure.postgres.write.part.ReadBack;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Task;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Applies batches: one round trip and one commit each.
 *
 * <p>How it works: the {@link Planner} chooses how a batch is sent. If the server refuses a batch because of one
 * change, the batch has changed nothing. Then it is sent again in halves until that change is alone.
 */
public final class PostgresLedger implements Ledger {
    private final WriteContext context;
    private final Planner planner;
    private final LocalDags localDags = new LocalDags();
    private final LocalCalls localCalls = new LocalCalls();
    private final Workers workers;
    private final ClientFence clientFence;
    private final PostgresHints hints;
    private final CallCycleSearch cycles;
    private final KeyedStarts keyedStarts;
    private final RevivedRuns revivedRuns;
    private final AtomicReference<Set<String>> limited = new AtomicReference<>(Set.of());

    /**
     * The ledger of a schema.
     *
     * @param believes whether batches may be sent by plans with beliefs; otherwise everything is looked up
     */
    public PostgresLedger(
            Database database,
            Schema schema,
            LedgerSql sql,
            Keys keys,
            Workers workers,
            PostgresQueues queues,
            PostgresHints hints,
            boolean believes) {
        this.context = new WriteContext(
                database, sql, new Script(), new ReadBack(database, sql), hints, new Beliefs(), queues);
        this.keyedStarts = new KeyedStarts(context, schema, keys);
        this.revivedRuns = new RevivedRuns(context, schema, keys);
        Claims claims = new Claims(schema, sql, database);
        this.planner = new Planner(
                context,
                new OneChangeSql(schema),
                new BelievedBatch.Knowledge(keys, localDags, localCalls, workers, claims),
                believes);
        this.workers = workers;
        this.clientFence = new ClientFence(workers);
        this.hints = hints;
        this.cycles = new CallCycleSearch(database, sql.objects);
    }

    /** How batches were sent so far. */
    public Planner.Counts plans() {
        return planner.counts();
    }

    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        if (changes.isEmpty()) {
            return List.of();
        }
        if (lane.worker() == null && changes.stream().anyMatch(ClientFence::concerns)) {
            return clientFence.apply(this, changes);
        }
        Integer worker = lane.worker() == null ? null : workers.number(lane.worker());
        if (lane.worker() != null && worker == null) {
            return changes.stream().<Outcome>map(change -> new Outcome.Fenced()).toList();
        }
        return apply(worker, lane.number(), withinLimits(changes));
    }

    /**
     * Runs of queues with limits begin only by a poll, which counts the places. So they do not start as running, and
     * the worker does not take over their tasks in memory.
     */
    private List<Change> withinLimits(List<Change> changes) {
        Set<String> now = context.queues().limited();
        if (!limited.getAndSet(now).equals(now)) {
            localDags.forgetAll();
        }
        return now.isEmpty()
                ? changes
                : changes.stream()
                        .map(change -> change instanceof Change.Start start && begins(start, now)
                                ? new Change.Start(start.run(), null, start.mails(), start.tasks())
                                : change)
                        .toList();
    }

    private static boolean begins(Change.Start start, Set<String> limited) {
        return start.owner() != null
                && (limited.contains(start.run().queue())
                        || start.tasks().stream()
                                .anyMatch(task -> limited.contains(task.run().queue())));
    }

    private List<Outcome> apply(@Nullable Integer worker, int lane, List<Change> changes) {
        List<Change> storable = new ArrayList<>(changes.size());
        @Nullable Outcome[] refused = new Outcome[changes.size()];
        for (int i = 0; i < refused.length; i++) {
            String reason = Batch.unstorable(changes.get(i));
            if (changes.get(i) instanceof Change.CompletedCall call
                    && (context.queues().limits(call.run().queue())
                            || !call.run().placement().isAnywhere())) {
                refused[i] = new Outcome.Fenced();
            } else if (reason == null) {
                storable.add(changes.get(i));
            } else {
                refused[i] = new Outcome.Refused(reason);
            }
        }
        List<Outcome> applied = storable.isEmpty() ? List.of() : sent(worker, lane, storable);
        List<Outcome> outcomes = merged(refused, applied);
        for (int i = 0; i < refused.length; i++) {
            localDags.saw(changes.get(i), outcomes.get(i));
            localCalls.saw(changes.get(i));
        }
        tell(changes, outcomes);
        return outcomes;
    }

    private List<Outcome> sent(@Nullable Integer worker, int lane, List<Change> changes) {
        if (worker == null) {
            return inOrder(new Sender(null, lane), changes);
        }
        int row = workers.lanes().row(worker, lane);
        try {
            return inOrder(new Sender(worker, row), changes);
        } catch (RuntimeException | Error failure) {
            workers.lanes().failed(worker, row, failure);
            throw failure;
        }
    }

    private static List<Outcome> merged(@Nullable Outcome[] refused, List<Outcome> applied) {
        List<Outcome> outcomes = new ArrayList<>(refused.length);
        int next = 0;
        for (Outcome outcome : refused) {
            outcomes.add(outcome != null ? outcome : applied.get(next++));
        }
        return outcomes;
    }

    /**
     * Starts under keys, and starts in queues that may refuse them, are transactions of their own, one after another.
     * The rest follows them, because mail may be for their runs.
     */
    private List<Outcome> inOrder(Sender sender, List<Change> changes) {
        if (changes.stream().noneMatch(change -> keyedStarts.decides(change) || RevivedRuns.decides(change))) {
            return halving(sender, changes);
        }
        @Nullable Outcome[] keyed = new Outcome[changes.size()];
        List<Change> others = new ArrayList<>();
        for (int i = 0; i < keyed.length; i++) {
            if (keyedStarts.decides(changes.get(i)) && changes.get(i) instanceof Change.Start start) {
                keyed[i] = keyed(sender, start);
            } else if (RevivedRuns.decides(changes.get(i))) {
                keyed[i] = revived(sender, changes.get(i));
            } else {
                others.add(changes.get(i));
            }
        }
        return merged(keyed, others.isEmpty() ? List.of() : halving(sender, others));
    }

    private Outcome keyed(Sender sender, Change.Start start) {
        try {
            return keyedStarts.apply(sender, start);
        } catch (RefusedException refused) {
            return refusal(start, refused);
        } catch (LockedException locked) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The key of the start of '%s' is locked by another transaction; waiting for it."
                            .formatted(start.run().id()),
                    locked);
        }
    }

    private Outcome revived(Sender sender, Change change) {
        try {
            return revivedRuns.apply(sender, change);
        } catch (RefusedException refused) {
            return refusal(change, refused);
        } catch (LockedException locked) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The run of %s is locked by another transaction; waiting for it.".formatted(change),
                    locked);
        }
    }

    /** Lets runs begin whose predecessors under their keys have ended. */
    public void releaseKeys() {
        keyedStarts.release();
    }

    /** Deletes keys of starts that no longer count. */
    public void forgetKeys() {
        keyedStarts.forget();
    }

    private List<Outcome> halving(Sender sender, List<Change> changes) {
        try {
            Planner.Applied applied = planner.apply(sender, changes);
            breakCycles(applied.waiting());
            return applied.outcomes();
        } catch (RefusedException refused) {
            if (changes.size() == 1) {
                return List.of(refusal(changes.getFirst(), refused));
            }
            return halves(sender, changes);
        } catch (LockedException locked) {
            if (changes.size() == 1) {
                throw new StoreException(
                        StoreException.Kind.UNAVAILABLE,
                        "The run of %s is locked by another transaction; waiting for it.".formatted(changes.get(0)),
                        locked);
            }
            return halves(sender, changes);
        }
    }

    private Outcome refusal(Change change, RefusedException refused) {
        if (SqlState.isOfClosedPartition(refused)) {
            throw new StoreException(
                    StoreException.Kind.MOVING,
                    "The partition of '%s' moves to another shard, or has moved; waiting for it."
                            .formatted(change.about()),
                    refused);
        }
        RunId taken = context.readBack().taken(tasksOf(change));
        return taken != null
                ? Outcome.Refused.taskIdTaken(taken)
                : new Outcome.Refused("PostgreSQL does not store it: " + refused.getMessage());
    }

    private static List<Task> tasksOf(Change change) {
        return switch (change) {
            case Change.Start start -> start.tasks();
            case Change.Advance advance ->
                advance.effects().stream()
                        .flatMap(effect ->
                                effect instanceof Effect.Start start ? start.tasks().stream() : Stream.empty())
                        .toList();
            default -> List.of();
        };
    }

    /** Refuses calls that would wait for each other for ever. A refusal may have broken only one of the cycles that shared its run. */
    private void breakCycles(List<Long> waiting) {
        Set<RunId> refused = new HashSet<>();
        List<Change> refusals = waiting.isEmpty() ? List.of() : cycles.breaking(waiting);
        while (refused.addAll(refusals.stream().map(Change::about).toList())) {
            apply(Lane.client(0), refusals);
            refusals = cycles.breaking(waiting);
        }
    }

    /** The same for calls whose own batch was not followed by the search. */
    public void breakOldCycles() {
        breakCycles(cycles.longWaiting());
    }

    private List<Outcome> halves(Sender sender, List<Change> changes) {
        int middle = changes.size() / 2;
        List<Outcome> outcomes = new ArrayList<>(changes.size());
        StoreException locked = null;
        for (List<Change> half : List.of(changes.subList(0, middle), changes.subList(middle, changes.size()))) {
            try {
                outcomes.addAll(halving(sender, half));
            } catch (StoreException e) {
                if (Database.isUnanswered(e)) {
                    throw e; // This lane cannot be used before it is replaced.
                }
                // The other half must not wait for a lock in this one. Sent again, it finds itself applied.
                locked = e;
            }
        }
        if (locked != null) {
            throw locked;
        }
        return outcomes;
    }

    private void tell(List<Change> changes, List<Outcome> outcomes) {
        for (int i = 0; i < outcomes.size(); i++) {
            Change change = changes.get(i);
            if (outcomes.get(i) instanceof Outcome.Applied || outcomes.get(i) instanceof Outcome.Woken) {
                showing(change).forEach(run -> hints.tell(new Hints.RunShows(run)));
            }
            if (change instanceof Change.Deliver || change instanceof Change.CompletedCall) {
                // The batch has the hints for the runs that it wakes. No process knows a call that did not exist
                // before.
                continue;
            }
            switch (outcomes.get(i)) {
                case Outcome.Started started
                when !started.owned() && started.handed().isEmpty() && !waits(change) ->
                    hints.tell(new Hints.WorkReady());
                case Outcome.Applied applied -> tell(change, applied.state());
                case Outcome.Commanded commanded -> tell(change, commanded.state());
                default -> {}
            }
        }
    }

    /** The runs that publish something with this change. */
    private static Stream<RunId> showing(Change change) {
        return switch (change) {
            case Change.Deliver deliver -> settled(deliver.to(), deliver.mail());
            case Change.Advance advance when advance.effects().isEmpty() -> Stream.empty();
            case Change.Advance advance ->
                advance.effects().stream()
                        .flatMap(effect -> switch (effect) {
                            case Effect.Publish publish ->
                                Stream.of(advance.run().id());
                            case Effect.Deliver deliver -> settled(deliver.to(), deliver.mail());
                            default -> Stream.empty();
                        })
                        .distinct();
            default -> Stream.empty();
        };
    }

    private static Stream<RunId> settled(RunId run, Mail mail) {
        return mail.channel().kind() == Channel.Kind.PROMISE ? Stream.of(run) : Stream.empty();
    }

    /** A run that was to start as running, and does not, waits for its turn. */
    private static boolean waits(Change change) {
        return change instanceof Change.Start start
                && start.owner() != null
                && start.run().object() != null;
    }

    private void tell(Change change, RunState state) {
        if (change instanceof Change.Advance advance && advance.move() instanceof Move.Wait) {
            // This process looks at the timers in time; the others need no hint.
            hints.tellHere(new Hints.WorkReady());
        } else if (state == RunState.READY) {
            hints.tell(new Hints.WorkReady());
        } else if (state.isTerminal()) {
            hints.tell(new Hints.RunEnded(id(change)));
        }
    }

    private static RunId id(Change change) {
        return switch (change) {
            case Change.Start start -> start.run().id();
            case Change.Advance advance -> advance.run().id();
            case Change.CompletedCall completed -> completed.run().id();
            case Change.Command command -> command.run();
            case Change.Rerun rerun -> rerun.run();
            case Change.Retry retry -> retry.run();
            case Change.Retell retell -> retell.run();
            case Change.Fork fork -> fork.id();
            case Change.Repair repair -> repair.run();
            case Change.Reassign reassign -> reassign.run();
            case Change.Deliver deliver -> deliver.to();
        };
    }
}
