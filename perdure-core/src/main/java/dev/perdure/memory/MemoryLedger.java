package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Applies changes. */
final class MemoryLedger implements Ledger {
    private final Tables tables;
    private final boolean lanesFence;

    private final MemoryEffects effects;
    private final CallCycles cycles;
    final MemoryStartKeys keys;
    private final MemoryRetries retries;
    /** The calls of virtual objects that were handed over in this batch, and the ends that handed them over. */
    private final Map<Row, RunRef> handedHere = new HashMap<>();
    /** For each object, the last call in this batch that held it and ended. */
    private final Map<ObjectKey, RunId> lastHere = new HashMap<>();

    /** @param lanesFence whether the lane alone fences a change that leaves its run where it is */
    MemoryLedger(Tables tables, boolean lanesFence) {
        this.tables = tables;
        this.lanesFence = lanesFence;
        this.effects = new MemoryEffects(tables, this);
        this.cycles = new CallCycles(tables);
        this.keys = new MemoryStartKeys(tables, this);
        this.retries = new MemoryRetries(tables, this);
        tables.startWith(this::start);
    }

    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        return tables.inTransaction(() -> {
            if (lane.worker() != null && !tables.workers.containsKey(lane.worker())) {
                return changes.stream()
                        .<Outcome>map(change -> new Outcome.Fenced())
                        .toList();
            }
            handedHere.clear();
            lastHere.clear();
            return inOrder(changes, change -> apply(lane, change));
        });
    }

    /** Makes deliveries last, so that they meet the runs that the same batch starts, moves or lets wait. */
    private static List<Outcome> inOrder(List<Change> changes, Function<Change, Outcome> apply) {
        List<Outcome> outcomes = new ArrayList<>(Collections.nCopies(changes.size(), new Outcome.Fenced()));
        for (boolean deliveries : List.of(false, true)) {
            for (int i = 0; i < changes.size(); i++) {
                if (changes.get(i) instanceof Change.Deliver == deliveries) {
                    outcomes.set(i, apply.apply(changes.get(i)));
                }
            }
        }
        return outcomes;
    }

    private Outcome apply(Lane lane, Change change) {
        return switch (change) {
            case Change.Start start -> start(start);
            case Change.Advance advance -> advance(lane, advance);
            case Change.CompletedCall completed -> completed(lane, completed);
            case Change.Command command -> command(command);
            case Change.Rerun rerun -> retries.rerun(rerun);
            case Change.Retry retry -> retries.retry(retry);
            case Change.Retell retell -> retries.retell(retell);
            case Change.Fork fork -> retries.fork(fork);
            case Change.Repair repair -> retries.repair(repair);
            case Change.Reassign reassign -> retries.reassign(reassign);
            case Change.Deliver deliver -> tables.post.deliver(deliver);
        };
    }

    Outcome start(Change.Start start) {
        NewRun run = start.run();
        Row existing = tables.byId.get(run.id());
        if (existing != null) {
            boolean mine = existing.start.seed() == run.seed();
            return mine
                    ? new Outcome.Started(
                            existing.ref,
                            existing.isHeldBy(start.owner(), Outcome.Started.FIRST_EPOCH),
                            existing.createdAt,
                            tables.dags.heldFromBirth(existing, start.owner()))
                    : new Outcome.Existing(
                            existing.ref,
                            existing.start.definition(),
                            existing.restarts > 0 || existing.start.input().equals(run.input()));
        }
        String refusal = run.admission().refusal();
        if (refusal != null) {
            return beginCancelled(start, refusal);
        }
        StartKey key = run.admission().startKey();
        return key == null ? admit(start) : keys.start(start, key);
    }

    /**
     * Starts a run whose id is new, unless the key of its queue is full and the queue does not let such starts wait.
     */
    Outcome admit(Change.Start start) {
        FullKey full = tables.queues.full(start);
        if (full == null) {
            return begin(start);
        }
        NewRun run = start.run();
        Queue.WhenKeyFull policy = tables.queues.known(run.queue()).whenKeyFull();
        return switch (policy) {
            case WAIT -> begin(start);
            case REFUSE ->
                run.admission().unanswered() ? beginCancelled(start, full.reason(policy)) : new Outcome.KeyFull(full);
            case DROP_NEWEST -> beginCancelled(start, full.reason(policy));
            case CANCEL_OLDEST -> {
                tables.queues.inFavourOf(run).forEach(row -> cancel(row, full.cancelledFor(run.id())));
                yield begin(start);
            }
        };
    }

    /** Whether the queue starts no run that can begin, because the key is full. */
    boolean turnsAway(Change.Start start) {
        return tables.queues.full(start) != null
                && tables.queues.known(start.run().queue()).whenKeyFull() != Queue.WhenKeyFull.CANCEL_OLDEST;
    }

    /** Starts a run and ends it at once. */
    Outcome beginCancelled(Change.Start start, String reason) {
        Outcome started = begin(new Change.Start(start.run(), null, start.mails(), start.tasks()));
        if (started instanceof Outcome.Started) {
            expire(Objects.requireNonNull(tables.byId.get(start.run().id())), reason);
        }
        return started;
    }

    /** Starts a run whose id is new. */
    Outcome begin(Change.Start start) {
        NewRun run = start.run();
        RunId taken = tables.dags.taken(start.tasks());
        if (taken != null) {
            return Outcome.Refused.taskIdTaken(taken);
        }
        Row row = tables.add(run);
        tables.objects.begin(row);
        if (!start.tasks().isEmpty()) {
            tables.dags.add(row, start);
        } else if (tables.objects.mustWait(row)) {
            row.state = RunState.PENDING;
        } else if (start.owner() != null && !tables.queues.isLimited(row)) {
            row.born(start.owner());
        } else if (run.delay() != null) {
            row.state = RunState.SUSPENDED;
            row.wakeAt = row.createdAt.plus(run.delay());
        }
        tables.entered(row, null);
        tables.limit(row);
        start.mails().forEach(mail -> tables.post.deliver(row, mail));
        cycles.refuse(row);
        boolean owned = row.state == RunState.RUNNING;
        return new Outcome.Started(
                row.ref,
                owned,
                row.createdAt,
                tables.dags.heldFromBirth(row, start.owner()),
                owned ? tables.objects.known(row) : null);
    }

    private Outcome advance(Lane lane, Change.Advance advance) {
        Row row = tables.byKey.get(advance.run().key());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        boolean held = row.isHeldBy(lane.worker(), advance.epoch());
        if ((!held && !isFencedByLane(lane, advance)) || isOutOfTurn(row, advance.move())) {
            return wasApplied(row, advance) ? new Outcome.AlreadyThere(row.changedAt, row.state) : new Outcome.Fenced();
        }
        RunId rival = effects.taken(advance.effects());
        if (rival != null) {
            return Outcome.Refused.taskIdTaken(rival);
        }
        Instant now = tables.now();
        Instant before = append(row, advance.entries(), now);
        effects.carryOut(row, advance.effects());
        return switch (advance.move()) {
            case Move.Stay() ->
                before == null
                        ? new Outcome.Applied(now, RunState.RUNNING)
                        : new Outcome.AlreadyThere(before, RunState.RUNNING);
            case Move.Wait wait -> await(row, wait, before == null ? now : before);
            case Move.Yield() -> moved(row, RunState.READY, null);
            case Move.Restart restart -> {
                effects.restart(row, restart);
                yield moved(row, RunState.READY, null);
            }
            case Move.Recover recover -> {
                tables.recover(row, recover.reason());
                yield new Outcome.Applied(now, row.state);
            }
            case Move.Pause pause -> {
                if (row.control.wakes() > pause.seenWakes()) {
                    yield new Outcome.Woken(before == null ? now : before, row.control);
                }
                row.ask(asked -> new Control(asked.wakes(), asked.mails(), asked.cancel(), asked.kill(), null));
                yield moved(row, RunState.PAUSED, pause.reason());
            }
            case Move.Arrive() -> arrive(row, now);
            case Move.End end -> {
                row.outcome = end.outcome();
                List<Row> taken = new ArrayList<>(tables.dags.take(row, end.takes()));
                taken.addAll(tables.objects.take(row, end.takes() - taken.size()));
                taken.forEach(each -> handedHere.put(each, row.ref));
                List<Claimed> next = tables.objects.behind(taken, end.takes() - taken.size());
                ended(row, end);
                yield new Outcome.Applied(
                        now, row.state, taken.stream().map(Row::claimed).toList(), next);
            }
        };
    }

    /** A transaction step is no append: it locks its run and compares the epoch. */
    private boolean isFencedByLane(Lane lane, Change.Advance advance) {
        return lanesFence
                && lane.worker() != null
                && advance.move() instanceof Move.Stay
                && advance.entries().stream().noneMatch(entry -> entry.kind() == Entry.Kind.TRANSACTION);
    }

    private void ended(Row row, Move.End end) {
        moved(row, end.state(), end.reason().isEmpty() ? null : end.reason());
        ObjectCall call = row.start.object();
        if (call != null && call.hold() == ObjectCall.Hold.EXCLUSIVE) {
            lastHere.put(call.object(), row.ref.id());
        }
    }

    private Outcome completed(Lane lane, Change.CompletedCall completed) {
        NewRun run = completed.run();
        ObjectCall call = run.object();
        Row existing = tables.byId.get(run.id());
        if (existing != null) {
            boolean mine = existing.start.seed() == run.seed()
                    && existing.state == completed.end().state();
            return mine ? new Outcome.AlreadyThere(existing.changedAt, existing.state) : new Outcome.Fenced();
        }
        boolean next = call != null
                && completed.follows().equals(lastHere.get(call.object()))
                && tables.objects.isFreeBut(call.object(), handedHere.keySet(), completed.beside());
        boolean polled =
                tables.queues.isLimited(run.queue()) || !run.placement().isAnywhere();
        if (!next || polled || lane.worker() == null) {
            return new Outcome.Fenced();
        }
        Row row = tables.add(run);
        row.born(lane.worker());
        tables.entered(row, null);
        append(row, completed.entries(), row.createdAt);
        effects.carryOut(row, completed.effects());
        row.outcome = completed.end().outcome();
        ended(row, completed.end());
        return new Outcome.Applied(row.changedAt, row.state);
    }

    /** An end ahead of its turn was made from the state that another call left. That call must have ended just now. */
    private boolean isOutOfTurn(Row row, Move move) {
        return move instanceof Move.End end
                && end.follows() != null
                && !end.follows().equals(handedHere.get(row));
    }

    private Outcome arrive(Row row, Instant now) {
        tables.objects.arrive(row);
        if (!tables.objects.mustWait(row)) {
            return new Outcome.Applied(now, row.state);
        }
        tables.change(row, RunState.PENDING, null);
        cycles.refuse(row);
        return new Outcome.Applied(now, row.state);
    }

    private Outcome moved(Row row, RunState state, @Nullable String reason) {
        tables.change(row, state, reason);
        return new Outcome.Applied(row.changedAt, state);
    }

    private Outcome await(Row row, Move.Wait wait, Instant at) {
        boolean free = wait.state() == RunState.PENDING && row.open == 0;
        if (free || row.control.wakes() > wait.seenWakes()) {
            return new Outcome.Woken(at, row.control);
        }
        Instant due = switch (wait.due()) {
            case Due.In in -> at.plus(in.delay());
            case Due.At time -> time.time();
            case Due.Never() -> null;
        };
        row.wakeAt = due;
        row.awaited = wait.awaited().channels();
        row.needed = wait.awaited().needed();
        row.limiters = wait.awaited().limiters();
        tables.change(row, wait.state(), null);
        return new Outcome.Applied(at, wait.state());
    }

    /** Appends the entries that are not there yet. Returns the time of those that were there, or null. */
    private static @Nullable Instant append(Row row, List<Entry> entries, Instant now) {
        Instant before = null;
        for (Entry entry : entries) {
            Recorded there = row.journal.putIfAbsent(Row.Place.of(entry), new Recorded(entry, now));
            if (there != null) {
                before = there.at();
            }
        }
        return before;
    }

    private static boolean wasApplied(Row row, Change.Advance advance) {
        if (advance.move() instanceof Move.Restart restart) {
            return row.start.seed() == restart.seed();
        }
        if (row.epoch != advance.epoch()
                || !advance.entries().stream().map(Row.Place::of).allMatch(row.journal::containsKey)) {
            return false;
        }
        return switch (advance.move()) {
            case Move.Stay() -> false;
            case Move.Wait wait -> row.state == wait.state();
            case Move.Yield() -> row.state == RunState.READY;
            case Move.Restart restart -> false;
            case Move.Recover recover -> false;
            case Move.Pause pause -> row.state == RunState.PAUSED;
            case Move.Arrive() ->
                row.state == RunState.PENDING
                        && row.start.object() != null
                        && row.start.object().hold() == ObjectCall.Hold.EXCLUSIVE;
            case Move.End end -> row.state == end.state() && end.outcome().equals(row.outcome);
        };
    }

    private Outcome command(Change.Command command) {
        Row row = tables.byId.get(command.run());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        if (command.audit() != null && tables.audits.has(command.audit())) {
            return new Outcome.Commanded(tables.now(), row.state, false, true);
        }
        if (!command.isFor(row.createdAt, row.changedAt)) {
            return new Outcome.UnknownRun();
        }
        RunState before = row.state;
        Control asked = row.control;
        obey(row, command, false);
        boolean changed = row.state != before;
        boolean accepted = changed || !row.control.asksTheSameAs(asked);
        if (accepted) {
            tables.audits.add(command.audit());
        }
        if (command.kind() == Change.CommandKind.KILL) {
            // The last first, so that none becomes ready before its turn.
            row.tasks.reversed().forEach(task -> obey(task, command, true));
        }
        return new Outcome.Commanded(tables.now(), row.state, changed, accepted);
    }

    private void obey(Row row, Change.Command command, boolean withDag) {
        if (!row.state.isTerminal()) {
            switch (command.kind()) {
                case CANCEL -> cancel(row, command.reason());
                case KILL -> kill(row, command.reason(), withDag);
                case PAUSE -> pause(row, command.reason());
                case RESUME -> resume(row);
                case REFUSE -> {
                    if (row.state == RunState.PENDING) {
                        tables.fail(row, command.reason());
                    }
                }
                case EXPIRE -> expire(row, command.reason());
            }
        }
    }

    void cancel(Row row, String reason) {
        if (row.control.cancel() != null) {
            return;
        }
        Control asked = row.control;
        row.control = new Control(asked.wakes() + 1, asked.mails(), reason, asked.kill(), asked.pause());
        tables.urge(row);
        switch (row.state) {
            case PENDING -> {
                if (!row.tasks.isEmpty()) {
                    tables.change(row, RunState.READY, null);
                } else if (row.open == 0) {
                    end(row, reason);
                }
            }
            case READY, PAUSED -> {
                if (row.hasNothingToSay()) {
                    end(row, reason);
                }
            }
            case SUSPENDED, BACKING_OFF -> {
                if (row.hasNothingToSay()) {
                    end(row, reason);
                } else {
                    tables.change(row, RunState.READY, null);
                }
            }
            case RUNNING -> signalOwner(row);
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> {}
        }
        String ofTask = Change.Command.ofTask(Change.CommandKind.CANCEL, reason);
        // The last first, so that none becomes ready before its turn.
        row.tasks.reversed().stream().filter(task -> !task.state.isTerminal()).forEach(task -> cancel(task, ofTask));
    }

    private void kill(Row row, String reason, boolean withDag) {
        // A task ends after all tasks that it comes after, unless its DAG ends too.
        boolean waitsForTurn = row.isTask() && row.open > 0 && !withDag;
        if (row.state == RunState.RUNNING || waitsForTurn) {
            Control asked = row.control;
            row.control = new Control(asked.wakes() + 1, asked.mails(), asked.cancel(), reason, asked.pause());
            signalOwner(row);
            if (row.state == RunState.PAUSED) {
                tables.change(row, RunState.PENDING, null);
            }
        } else {
            end(row, reason);
        }
    }

    /** Ends a run, with its tasks, if nothing of it has begun. Returns whether it did. */
    boolean expire(Row row, String reason) {
        if (row.hasBegun() || row.state.isTerminal()) {
            return false;
        }
        end(row, reason);
        row.tasks.reversed().stream()
                .filter(task -> !task.state.isTerminal())
                .forEach(task -> kill(task, reason, true));
        return true;
    }

    private void pause(Row row, String reason) {
        Control asked = row.control;
        if (row.state == RunState.RUNNING) {
            row.control = new Control(asked.wakes() + 1, asked.mails(), asked.cancel(), asked.kill(), reason);
            signalOwner(row);
        } else if (row.state != RunState.PAUSED && asked.kill() == null) {
            tables.change(row, RunState.PAUSED, reason);
        }
    }

    void end(Row row, String reason) {
        row.outcome = Payload.EMPTY;
        tables.change(row, RunState.CANCELLED, reason);
    }

    private void resume(Row row) {
        Control asked = row.control;
        if (row.state == RunState.PAUSED) {
            tables.forgive(row);
            row.control = new Control(asked.wakes(), asked.mails(), asked.cancel(), asked.kill(), null);
            // A run with tasks passes a cancel on to them, and need not wait for them first.
            boolean passesOn = asked.cancel() != null && !row.tasks.isEmpty();
            boolean waits = tables.objects.mustWait(row) || row.waitsForReplaced() || (row.open > 0 && !passesOn);
            tables.change(row, waits ? RunState.PENDING : RunState.READY, null);
        } else if (asked.pause() != null) {
            row.control = new Control(asked.wakes() + 1, asked.mails(), asked.cancel(), asked.kill(), null);
            signalOwner(row);
        }
    }

    private void signalOwner(Row row) {
        if (row.owner != null) {
            tables.hint(new Hints.WorkerSignalled(row.owner));
        }
    }
}
