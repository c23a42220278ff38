package dev.perdure.internal.execution.transition;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.execution.host.Departure;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.report.EngineLog;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The only way in which an execution writes: one transition at a time. What needs no answer waits in
 * {@link PendingWrites} and is written with the next transition. It also obeys {@link RunSignals}: kill, pause and
 * give-back at any call, but cancel and deadline only where the journal has no more entries, because the code depends
 * on them and they are entries themselves.
 */
public final class Transitions {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");

    private final HeldRun held;
    private final Host host;
    private final BodyGuard guard;
    private final RunSignals signals;
    /** Written once, under the lock of the guard. */
    private volatile @Nullable Departure departure;

    // Under the lock of the guard.
    private boolean sending;
    private @Nullable Thread seizedFrom;

    private final Turn turn;
    private final PendingWrites pending = new PendingWrites();
    private final RunDeadline deadline;

    // Only the workflow's own thread writes it.
    private volatile boolean cancelDelivered;
    private int seenWakes;
    private boolean finishing;
    private boolean pipelined;
    /** Made when the code calls the context after the run has left memory. */
    private @Nullable SwallowedUnwinds swallowed;

    // Set once, before the workflow's code runs.
    private SideThreads bodies = SideThreads.NONE;
    private Supplier<Optional<KnownState>> known = Optional::empty;
    private Runnable keptOut = () -> {};
    private Consumer<ContextCall> unanswered = call -> {};

    public Transitions(HeldRun held, Host host, BodyGuard guard, RunSignals signals, Turn turn) {
        this.held = held;
        this.host = host;
        this.guard = guard;
        this.signals = signals;
        this.turn = turn;
        this.deadline = new RunDeadline(held, host);
        this.pipelined = turn.isPipelined();
    }

    public RunId run() {
        return held.run().id();
    }

    /** The definition that it runs. */
    public String definition() {
        return held.definition().target().name();
    }

    public RunDeadline deadline() {
        return deadline;
    }

    public void bodies(SideThreads those) {
        bodies = those;
    }

    /** Sets what happens when code keeps calling the context although its run has left memory. */
    public void whenSwallowed(Runnable keepOut) {
        keptOut = keepOut;
    }

    /** Sets what happens where the journal does not answer a call, before the call is carried out. */
    public void whenUnanswered(Consumer<ContextCall> then) {
        unanswered = then;
    }

    public SwallowedUnwinds swallowed() {
        SwallowedUnwinds all = swallowed == null ? new SwallowedUnwinds() : swallowed;
        swallowed = all;
        return all;
    }

    /** Whether a body is running. */
    boolean bodiesAtWork() {
        return bodies.atWork();
    }

    /** The state of the virtual object that the run holds, for the call that holds it next. */
    public void knows(Supplier<Optional<KnownState>> what) {
        known = what;
    }

    // ---- leaving

    public Optional<Departure> departure() {
        return Optional.ofNullable(departure);
    }

    private Departure depart(Departure how) {
        guard.lock().lock();
        try {
            if (departure == null && seizedFrom != Thread.currentThread()) {
                departure = how;
            }
            return departure == null ? how : departure;
        } finally {
            guard.lock().unlock();
        }
    }

    /**
     * Takes the run from its own thread, whose code does not return, unless the engine is at work there. From then on that
     * thread writes nothing, and the caller has to make the run leave memory.
     */
    public boolean seize(Thread code) {
        if (turn.isAhead()) {
            return false;
        }
        guard.lock().lock();
        try {
            boolean free = departure == null && !sending && seizedFrom == null;
            seizedFrom = free ? code : seizedFrom;
            return free;
        } finally {
            guard.lock().unlock();
        }
    }

    /** Whether another thread makes the run leave memory. */
    public boolean isTakenOver() {
        guard.lock().lock();
        try {
            return seizedFrom != null || guard.abandoned();
        } finally {
            guard.lock().unlock();
        }
    }

    /** Whether the code is at work: it has been entered, and neither a body nor a transition of the run is under way. */
    public boolean isInCode() {
        guard.lock().lock();
        try {
            return departure == null && !sending && !guard.isInBody() && !bodies.atWork();
        } finally {
            guard.lock().unlock();
        }
    }

    private boolean beginsToSend() {
        guard.lock().lock();
        try {
            boolean may = departure == null && seizedFrom != Thread.currentThread();
            sending |= may;
            return may;
        } finally {
            guard.lock().unlock();
        }
    }

    private void hasSent() {
        guard.lock().lock();
        try {
            sending = false;
        } finally {
            guard.lock().unlock();
        }
    }

    public Departure end(RunState state, Payload outcome, String reason) {
        return leave(new Move.End(state, outcome, reason));
    }

    /** Makes a move after which the run is no longer in memory. */
    public Departure leave(Move move) {
        if (move instanceof Move.End) {
            pending.dropForReplay();
        }
        boolean keepsPending = move instanceof Move.End || move instanceof Move.Restart;
        Outcome outcome = send(keepsPending ? take(List.of()) : PendingWrites.Load.NOTHING, move);
        return switch (outcome) {
            case Outcome.Refused refused
            when keepsPending ->
                leave(new Move.Pause("The store refused %s: "
                                .formatted(move instanceof Move.End ? "its outcome" : "to begin it anew")
                        + refused.reason()));
            default ->
                Outcomes.isApplied(outcome) ? depart(Outcomes.departure(move, outcome)) : depart(new Departure.Lost());
        };
    }

    private Unwind unwind(Departure how) {
        depart(how);
        return new Unwind("run " + held.run().id() + " leaves memory");
    }

    /** Leaves memory so that a person can fix the code. Writes nothing that is pending. */
    public Unwind stop(String reason) {
        return unwind(leave(new Move.Pause(reason)));
    }

    /** The current code cannot read what is recorded for this call. */
    public Unwind unreadable(ContextCall call, PayloadException cause) {
        String what = "What run '%s' recorded at position %s for %s"
                .formatted(held.run().id(), call.position(), call.describe());
        return stop(Sentences.unreadable(what, cause));
    }

    /** The store does not answer any more. The workflow's code does not see that. */
    public Unwind lost() {
        return unwind(new Departure.Lost());
    }

    /** The store or the engine fails. The workflow's code does not see that either. */
    public Unwind lost(Throwable trouble) {
        if (!(trouble instanceof Unwind)) {
            LOG.error(
                    "The engine failed to continue run {}. It drops the run from memory and gives it back within a lease.",
                    held.run().id(),
                    trouble);
        }
        return lost();
    }

    // ---- writing

    /** Writes an entry with the next transition. */
    public void defer(Entry entry) {
        pending.add(entry);
    }

    /**
     * Writes an entry with the next transition that only a replay needs. It is left out if that transition ends the
     * run.
     */
    public void deferForReplay(Entry entry) {
        pending.addForReplay(entry);
    }

    /** As {@link #deferForReplay(Entry)}, with an effect outside the run. */
    public void deferForReplay(Entry entry, Effect effect) {
        pending.addForReplay(entry);
        pending.add(effect);
    }

    /** Writes an entry and its effect outside the run with the next transition. */
    public void defer(Entry entry, Effect effect) {
        pending.add(entry);
        pending.add(effect);
    }

    /** Writes an entry and its effects beyond the run with the next transition. */
    public void defer(Entry entry, List<Effect> effects) {
        pending.add(entry);
        pending.addAll(effects);
    }

    /** Writes an entry with the next transition, and reports the time of that transition once it is durable. */
    public void defer(Entry entry, Consumer<Instant> durable) {
        pending.add(entry, durable);
    }

    private PendingWrites.Load take(List<Entry> more) {
        bodies.handIn();
        return pending.take(more);
    }

    /** Makes everything so far durable, then starts waiting bodies. Returns whether there was anything to write. */
    public boolean flush() {
        bodies.handIn();
        boolean any = !pending.isEmpty();
        if (any) {
            append(List.of());
        }
        if (mayBegin()) {
            bodies.beginMore();
        }
        return any;
    }

    /** Asks again for the permits of steps beside the run's own thread. */
    public void askForPermits() {
        bodies.askForPermits();
    }

    /** No body starts in a run that is about to leave memory or to be told to end. */
    private boolean mayBegin() {
        Control asked = signals.control();
        boolean leaves = asked.kill() != null || isAskedToLeave() || host.onlyReplays();
        return !leaves && (asked.cancel() == null || cancelDelivered || finishing);
    }

    /** Whether the run has to leave memory, to continue later. */
    boolean isAskedToLeave() {
        return signals.control().pause() != null || signals.isGivenBack();
    }

    /** Appends entries and returns their time once they are durable. */
    public Instant append(List<Entry> entries) {
        return switch (send(take(entries), new Move.Stay())) {
            case Outcome.Applied applied -> observed(applied.at());
            case Outcome.AlreadyThere there -> there.at();
            case Outcome.Refused refused -> throw stop("The store refused an entry: " + refused.reason());
            case Outcome.Fenced fenced -> throw lost();
            case Outcome.UnknownRun gone -> throw lost();
            case Outcome other -> throw new IllegalStateException("Unexpected outcome " + other);
        };
    }

    /** Takes its place at its virtual object, and leaves memory if other calls are before it. */
    public void arrive() {
        Move arrival = new Move.Arrive();
        Outcome outcome = send(PendingWrites.Load.NOTHING, arrival);
        if (!Outcomes.isApplied(outcome)) {
            throw lost();
        }
        if (!(outcome instanceof Outcome.Applied applied && applied.state() == RunState.RUNNING)) {
            throw unwind(Outcomes.departure(arrival, outcome));
        }
    }

    private Outcome send(PendingWrites.Load load, Move move) {
        if (signals.isLost() || !beginsToSend()) {
            return new Outcome.Fenced();
        }
        boolean ends = move instanceof Move.End;
        try {
            if (!ends) {
                awaitTurn();
            }
            Change.Advance transition =
                    new Change.Advance(held.run(), held.epoch(), load.entries(), load.effects(), move);
            Outcome outcome =
                    ends ? turn.end(transition, known.get()) : host.store().commit(transition);
            Outcomes.timeOf(outcome).ifPresent(at -> load.whenDurable().forEach(durable -> durable.accept(at)));
            return outcome;
        } catch (RuntimeException
                | Error trouble) { // A failure of the store or the engine is never a failure of the run.
            throw lost(trouble);
        } finally {
            hasSent();
        }
    }

    /** Waits until the worker holds the run, if it runs ahead. From here on, others may see its effects. */
    void awaitTurn() {
        if (pipelined) {
            Control asked = turn.await().orElseThrow(this::lost);
            pipelined = false;
            signals.begin(asked);
        }
    }

    private Instant observed(Instant at) {
        host.clock().observe(at);
        return at;
    }

    // ---- obeying

    /** Leaves memory if it is requested. */
    public void obeySignals() {
        seenWakes = obey().wakes(); // Later requests must prevent the run from waiting.
    }

    /** Obeys the requests so far, and returns them if the run stays. */
    private Control obey() {
        Departure gone = departure().orElse(null);
        if (gone != null || isTakenOver()) {
            if (swallowed().areEnough()) {
                keptOut.run();
            }
            throw new Unwind("run " + held.run().id() + " has left memory");
        }
        Control asked = signals.control();
        if (signals.isLost() || !host.alive()) {
            throw lost();
        }
        if (asked.kill() != null) {
            throw unwind(end(RunState.CANCELLED, Payload.EMPTY, asked.kill()));
        }
        boolean bodiesFirst = bodies.atWork() && !signals.isGivenBackNow();
        if (bodiesFirst) {
            return asked;
        }
        if (asked.pause() != null && pipelined) {
            awaitTurn(); // a resume may have withdrawn the pause meanwhile, and nobody tells a call that waits
            return obey();
        }
        if (asked.pause() != null) {
            return obeyPause(asked.pause(), asked.wakes());
        }
        if (signals.isGivenBack()) {
            flush();
            throw unwind(leave(new Move.Yield()));
        }
        return asked;
    }

    /**
     * Asks the store until it answers, whatever the error is: it is never a failure of the run. Obeys kill, pause and
     * give-back in the meantime. Requests that arrive in the meantime do not count as seen, because the answer may be
     * older.
     */
    public <T> T answered(Supplier<T> question) {
        @Nullable Backoff backoff = null;
        while (true) {
            try {
                return question.get();
            } catch (StoreException trouble) {
                host.store().waits(held.run(), trouble);
            } catch (Error trouble) { // A failure of the store or the engine is never a failure of the run.
                throw lost(trouble);
            }
            obey();
            backoff = backoff == null ? new Backoff(host.clockwork()) : backoff;
            backoff.pause();
        }
    }

    /** Pauses, unless the pause has been taken back. */
    private Control obeyPause(String reason, int seenWakes) {
        Move pause = new Move.Pause(reason, seenWakes);
        Outcome outcome = send(take(List.of()), pause);
        return switch (outcome) {
            case Outcome.Woken woken -> {
                signals.learn(woken.control());
                yield obey();
            }
            case Outcome.Refused refused -> throw stop("The store refused an entry: " + refused.reason());
            default ->
                throw unwind(Outcomes.isApplied(outcome) ? Outcomes.departure(pause, outcome) : new Departure.Lost());
        };
    }

    public boolean cancelDelivered() {
        return cancelDelivered;
    }

    /** Why a body that is about to begin must not: what another thread has asked for. The run's thread obeys it then. */
    public BodyGuard.@Nullable Cause interrupting() {
        if (signals.isLost()) {
            return BodyGuard.Cause.LOST;
        }
        Control asked = signals.control();
        boolean cancels = asked.cancel() != null && !cancelDelivered;
        return asked.kill() != null || cancels || signals.isGivenBackNow() ? BodyGuard.Cause.CANCEL : null;
    }

    /** The journal does not answer this call: the run carries it out, unless it only replays. */
    public void unanswered(ContextCall call) {
        unanswered.accept(call);
    }

    /** The run is about to wait for a body. Leaves memory if it only replays, because then no body runs. */
    void requireBodies() {
        if (host.onlyReplays()) {
            throw lost();
        }
    }

    /**
     * The journal does not answer this call. Delivers a cancel or the deadline as its answer, if one is due and has not
     * been delivered.
     */
    public void deliverTo(ContextCall call) {
        unanswered(call);
        String cancel = signals.control().cancel();
        if (cancel != null && !cancelDelivered) {
            bodies.giveUp(new CancelledException(cancel));
            pending.addAll(bodies.cancels(cancel));
            append(List.of(call.answer(Entry.Status.CANCELLED, text(cancel))));
            throw cancelled(cancel);
        }
        if (deadline.isPast()) {
            String time = String.valueOf(deadline.open());
            bodies.giveUp(deadline.exceeded(time));
            append(List.of(call.answer(Entry.Status.DEADLINE, text(time))));
            throw deadline.deliver(time);
        }
    }

    /** Throws again what was delivered at this position. */
    public RuntimeException delivered(Entry entry) {
        String text = new String(entry.payload().bytes(), StandardCharsets.UTF_8);
        return entry.status() == Entry.Status.CANCELLED ? cancelled(text) : deadline.deliver(text);
    }

    private CancelledException cancelled(String reason) {
        cancelDelivered = true;
        deadline.ignoreDuring(bodies::awaitCancelled);
        return new CancelledException(reason);
    }

    private static Payload text(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Leaves memory until all tasks that the run comes after have ended. Returns if they have ended. */
    public void awaitPremises() {
        do {
            obeySignals();
            suspend(List.of(), RunState.PENDING, new Due.Never(), Awaited.NOTHING);
        } while (signals.control().wakes() > seenWakes); // It stays because of a command, not because they have ended.
    }

    /** The workflow has returned: nothing is delivered to it any more. */
    public void finishing() {
        finishing = true;
    }

    /** Leaves memory to wait. Returns only if the run was woken in the meantime, and so stays. */
    Instant suspend(List<Entry> entries, RunState state, Due due, Awaited awaited) {
        Move move = new Move.Wait(state, due, awaited, seenWakes);
        Outcome outcome = send(take(entries), move);
        return switch (outcome) {
            case Outcome.Woken woken -> {
                signals.learn(woken.control());
                signals.wakeUp(); // Handles the wake-up before it waits again.
                yield observed(woken.at());
            }
            case Outcome.Refused refused -> throw stop("The store refused an entry: " + refused.reason());
            default ->
                throw unwind(Outcomes.isApplied(outcome) ? Outcomes.departure(move, outcome) : new Departure.Lost());
        };
    }

    /** Leaves memory to begin anew. */
    public Unwind restart(Move.Restart restart) {
        return unwind(leave(restart));
    }

    /** In the test mode for it: leaves memory after a step and comes back, to show that a replay returns the same. */
    public void unloadAfterStep() {
        if (host.rules().unloadAfterSteps() && !bodies.atWork()) {
            throw unwind(leave(new Move.Yield()));
        }
    }
}
