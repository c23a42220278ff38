package dev.perdure.internal.execution;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.PayloadException;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.host.Departure;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.LoadedRun;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.ReadAhead;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.RunSignals;
import dev.perdure.internal.execution.transition.SwallowedUnwinds;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.interception.LoggingContext;
import dev.perdure.internal.interception.UncalledException;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * One run in this worker's memory, from the moment when the worker takes it until it leaves.
 *
 * <p>How it works. {@link #run} enters the workflow's function from the top on a virtual thread. Its context answers
 * calls from the journal as long as the journal has answers, and carries out the calls after that. The run leaves
 * memory only through {@link Transitions}: it ends, waits, is given back, or is lost to another worker. In the last
 * case the execution unwinds and writes nothing to the store. The dispatcher, {@code close()} and the lease control a
 * running execution from other threads, through {@link #signal}, {@link #giveBack} and {@link #lose}.
 *
 * <p>Crash points. Before the first commit, nothing has happened that a replay would not do again. After a commit, the
 * journal answers. After a body and before its record, the body runs again: only here does something run at least once.
 */
public final class Execution implements LoadedRun, Runnable {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");
    private static final String THE_END = "the end of the workflow";
    /** How long a request waits for the next call of the code before the engine does something about that. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** How long code has to return when it was interrupted. */
    private static final Duration INTERRUPTED = Duration.ofSeconds(1);

    private final HeldRun held;
    private final Host host;
    private final Turn turn;
    private Journals.Page journal;
    private final RunSignals signals;
    private final Transitions transitions;
    private final BodyGuard guard;
    /** Whether the host knows that it has left; under the lock of the guard. */
    private boolean hasLeft;

    private volatile @Nullable Futures bodies;
    /** The run's own thread, while it is at work. */
    private volatile @Nullable Thread code;
    /** Cancels the alarm that rings if the code does not obey; under the lock of the guard. */
    private Runnable alarmOff = () -> {};

    /** An execution of this run, with the first page of its journal. */
    public Execution(HeldRun held, Journals.Page journal, Host host, Turn turn) {
        this.held = held;
        this.host = host;
        this.turn = turn;
        this.journal = journal;
        this.guard = new BodyGuard(host.clockwork());
        this.signals = new RunSignals(held.control(), host.clockwork(), guard.lock());
        this.transitions = new Transitions(held, host, guard, signals, turn);
    }

    @Override
    public RunRef ref() {
        return held.run();
    }

    @Override
    public Optional<Instant> createdAt() {
        return Optional.ofNullable(held.origin().createdAt());
    }

    @Override
    public String definition() {
        return held.definition().target().name();
    }

    /** Its queue when the worker took it. */
    public String queue() {
        return held.origin().queue();
    }

    /** The epoch under which the worker holds it. */
    public long epoch() {
        return held.epoch();
    }

    /** Whether this execution continues the run after another execution of it. */
    public boolean follows(Execution before) {
        return before.epoch() < epoch() || (before.epoch() == epoch() && before.isDiscarded());
    }

    /** Whether it ran ahead and has done so in vain: it writes nothing, and leaves as soon as its code lets it. */
    public boolean isDiscarded() {
        return turn.isDropped();
    }

    /** Whether the body of a step is running. */
    public boolean isInBody() {
        Futures beside = bodies;
        return guard.isInBody() || (beside != null && beside.atWork());
    }

    /** Whether no other run may run beside it. */
    public boolean alone() {
        return held.alone();
    }

    /** Executes the run until it leaves memory. Returns normally, whatever happens inside. */
    @Override
    public void run() {
        Departure departure;
        code = Thread.currentThread();
        try {
            departure = enter();
        } catch (Unwind left) {
            departure = transitions.departure().orElseGet(Departure.Lost::new);
        } catch (RuntimeException | Error unexpected) {
            departure = recovered(unexpected);
        } finally {
            code = null;
        }
        if (!transitions.isTakenOver()) {
            left(departure);
        }
    }

    private void left(Departure departure) {
        if (isFirstToLeave()) {
            host.left(this, departure);
            turn.left();
        }
    }

    private boolean isFirstToLeave() {
        guard.lock().lock();
        try {
            boolean first = !hasLeft;
            hasLeft = true;
            alarmOff.run();
            return first;
        } finally {
            guard.lock().unlock();
        }
    }

    /**
     * The code continues although its run has left memory, because it catches {@link Unwind}. Its thread waits here
     * until the worker ends. The run would do the same again, so it is paused. Another thread may have taken the run
     * over.
     */
    private void keepOut() {
        SwallowedUnwinds swallowed = transitions.swallowed();
        if (swallowed.areNew()) {
            String reason =
                    "The code of run '%s' catches Throwable or Error around calls on the context and continues, the last time at %s, so the run cannot leave memory. Catch Exception there, or rethrow errors, deploy that, then resume the run."
                            .formatted(held.run().id(), SwallowedUnwinds.codeLine());
            LOG.error("{} Its thread is kept until this worker closes.", reason);
            host.keep(this);
            Departure gone = transitions.departure().orElseGet(Departure.Lost::new);
            if (!transitions.isTakenOver()) {
                left(gone);
            }
            interrupt(BodyGuard.Cause.LOST); // Asynchronous bodies: the code is not there to wait for them.
            if (gone instanceof Departure.Moved moved && moved.state() != RunState.PAUSED && !signals.isGivenBack()) {
                host.pause(held.run(), definition(), reason);
            }
        }
        while (!signals.isLost() || swallowed.areEndless()) {
            signals.awaitNews(Clockwork.NEVER, Clockwork.NEVER);
        }
    }

    /**
     * The engine itself failed to continue the run. It counts as a recovery, so that the run is paused if it happens
     * every time.
     */
    private Departure recovered(Throwable unexpected) {
        LOG.atError()
                .setCause(unexpected)
                .addKeyValue("run", held.run().id())
                .addKeyValue("definition", definition())
                .log(
                        "The engine failed to continue run {} and gives it back.",
                        held.run().id());
        try {
            return transitions.leave(new Move.Recover(reason(unexpected)));
        } catch (Unwind lost) {
            return transitions.departure().orElseGet(Departure.Lost::new);
        }
    }

    private Departure enter() {
        Values values = new Values(host.rules().codec(), host.rules().maxPayloadBytes())
                .of(held.run().id());
        boolean replaying = !journal.entries().isEmpty();
        Replay replay = replay(held.run().id().value());
        WorkflowCall entered = host.rules().interceptors().concern(definition()) ? entered(replaying) : null;
        RunContext context = RunContext.of(
                new EngineRunContext.Parts(held, host, signals, transitions, guard, replay, values, entered));
        Futures futures = context.futures();
        bodies = futures;
        transitions.bodies(futures);
        transitions.whenSwallowed(this::keepOut);
        if (host.onlyReplays()) {
            transitions.whenUnanswered(call -> leaveReplay(replay, call));
        }
        try {
            transitions.obeySignals();
            held.unknown().ifPresent(unknown -> {
                throw transitions.stop(
                        "%s is one that this version of Perdure does not know. Nothing was applied. Deploy the version that wrote it, or restore the row, then resume the run."
                                .formatted(unknown));
            });
            if (held.object() != null && held.object().hold() == ObjectCall.Hold.ON_ARRIVAL) {
                transitions.arrive();
            }
            @Nullable Object input = input(values);
            @Nullable Object result = code(context, input, entered);
            futures.finish();
            context.close();
            replay.finish(THE_END);
            return transitions.end(RunState.COMPLETED, outcome(values, result), "");
        } catch (Replay.Mismatch | UncalledException stopped) {
            return transitions.leave(new Move.Pause(messageOf(stopped)));
        } catch (Unwind unwind) {
            throw unwind;
        } catch (Throwable thrown) {
            if (transitions.isTakenOver()) { // It was interrupted because its run has ended.
                throw transitions.lost();
            }
            futures.finish();
            context.close();
            return failed(values, replay, thrown);
        } finally {
            futures.interrupt(BodyGuard.Cause.LOST);
        }
    }

    /** What interceptors are told of the run. */
    private WorkflowCall entered(boolean replaying) {
        return new WorkflowCall(
                held.run().id(),
                definition(),
                held.origin().queue(),
                host.workerName(),
                replaying,
                held.origin().headers());
    }

    /**
     * Calls the workflow's code.
     *
     * @param entered what interceptors are told of the run, or null if there are none to tell
     */
    private @Nullable Object code(RunContext context, @Nullable Object input, @Nullable WorkflowCall entered)
            throws Throwable {
        Interceptors interceptors = host.rules().interceptors();
        LoggingContext logging = interceptors.logging(definition());
        logging.enter(held.run().id(), definition(), host.workerName());
        try {
            return entered == null
                    ? held.definition().function().call(context, input)
                    : interceptors.workflow(entered, () -> intercepted(context, input));
        } finally {
            logging.leave();
        }
    }

    /** Calls the code below interceptors, which are not told that it does not fit its journal: it has not failed. */
    private @Nullable Object intercepted(RunContext context, @Nullable Object input) throws Throwable {
        try {
            return held.definition().function().call(context, input);
        } catch (Replay.Mismatch mismatch) {
            throw transitions.stop(messageOf(mismatch));
        }
    }

    /** The journal does not answer this call. A journal that has more answers is of other code. */
    private void leaveReplay(Replay replay, ContextCall call) {
        try {
            replay.requireNothingAfter(call);
        } catch (Replay.Mismatch mismatch) {
            throw transitions.stop(messageOf(mismatch));
        }
        throw transitions.lost();
    }

    private Replay replay(String run) {
        Replay.Origin origin = new Replay.Origin(run, held.origin().createdAt(), host.knowsTokens());
        Journals.Page first = journal;
        journal = Journals.Page.EMPTY; // The replay drops what the code has passed.
        if (first.last()) {
            return new Replay(origin, first, after -> Journals.Page.EMPTY); // there is no further page
        }
        ReadAhead pages =
                new ReadAhead(host.clockwork(), run, after -> host.store().read(held.run(), after));
        return new Replay(origin, first, after -> {
            try {
                return transitions.answered(() -> pages.apply(after));
            } catch (RuntimeException
                    | Error trouble) { // A failure of the store or the engine is never a failure of the run.
                throw transitions.lost(trouble);
            }
        });
    }

    private Payload outcome(Values values, @Nullable Object result) {
        PayloadPlace place = PayloadPlace.result(held.run().id());
        if (result instanceof Encoded encoded) {
            return values.at(encoded.place()).moved(encoded.payload(), place);
        }
        return values.at(place)
                .store(result, held.definition().target().resultType(), "the result of workflow '" + definition() + "'")
                .payload();
    }

    private @Nullable Object input(Values values) {
        try {
            Registered definition = held.definition();
            return values.at(PayloadPlace.input(held.inputOwner()))
                    .decode(held.input(), definition.target().inputType());
        } catch (PayloadException unreadable) {
            throw transitions.stop(Sentences.unreadable(
                    "The input of run '%s'".formatted(held.run().id()), unreadable));
        }
    }

    private Departure failed(Values values, Replay replay, Throwable thrown) {
        Failure failure = Failure.of(thrown);
        Values ending = values.at(PayloadPlace.result(held.run().id()));
        try {
            replay.finish(THE_END + ", by " + reason(thrown));
        } catch (Replay.Mismatch mismatch) {
            return transitions.leave(new Move.Pause(messageOf(mismatch)));
        }
        if (thrown instanceof CancelledException) {
            return transitions.end(RunState.CANCELLED, ending.encode(failure), messageOf(thrown));
        }
        if (thrown instanceof Skipped) {
            return transitions.end(RunState.SKIPPED, Payload.EMPTY, messageOf(thrown));
        }
        Departure departure = transitions.end(RunState.FAILED, ending.encode(failure), reason(thrown));
        if (departure instanceof Departure.Ended) { // Otherwise another worker ends it and logs it.
            RunId id = held.run().id();
            LOG.atWarn()
                    .setCause(thrown)
                    .addKeyValue("run", id)
                    .addKeyValue("definition", definition())
                    .addKeyValue("state", RunState.FAILED)
                    .log(
                            "Run {} of '{}' is FAILED and is not retried. './perdure runs show {}' shows its history. When the cause is gone, './perdure runs retry {}' or Run.retry() lets it continue at the call that failed.",
                            id,
                            definition(),
                            id,
                            id);
        }
        return departure;
    }

    /** What the run's row says. If values are hidden, a message that may have one is only in the outcome. */
    private String reason(Throwable thrown) {
        Failure failure = Failure.of(thrown);
        return host.rules().codec().hidesTexts() ? failure.type() + shown(thrown) : failure.summary();
    }

    /** That the deadline has passed is no value. What follows may be one, such as why the handler of a DAG failed, too. */
    private String shown(Throwable thrown) {
        return transitions
                .deadline()
                .sentence()
                .filter(sentence -> thrown instanceof DeadlineExceededException
                        && messageOf(thrown).startsWith(sentence))
                .map(sentence -> ": " + sentence)
                .orElse(" (its message is hidden)");
    }

    private static String messageOf(Throwable thrown) {
        return Optional.ofNullable(thrown.getMessage()).orElse(thrown.getClass().getName());
    }

    /** A request for this run has arrived. Returns whether it is new. */
    public boolean signal(Control control) {
        if (!signals.signal(control)) {
            return false;
        }
        String kill = control.kill();
        if (kill != null && guard.abandon()) {
            Move end = new Move.End(RunState.CANCELLED, Payload.EMPTY, kill);
            host.clockwork().fork("perdure-kill-" + held.run().id(), () -> takeOver(end));
        } else {
            boolean cancels = control.cancel() != null && !transitions.cancelDelivered();
            if (cancels) {
                interrupt(BodyGuard.Cause.CANCEL);
            }
            if (cancels || kill != null || control.pause() != null) {
                awaitObedience();
            }
        }
        return true;
    }

    /** The code obeys at its next call. If it blocks, there is none. */
    private void awaitObedience() {
        Runnable off = host.clockwork().alarm(PATIENCE, this::goOnWithoutCode);
        guard.lock().lock();
        try {
            alarmOff.run();
            alarmOff = hasLeft ? () -> {} : off;
            if (hasLeft) {
                off.run();
            }
        } finally {
            guard.lock().unlock();
        }
    }

    /** The code has not obeyed for a while. A kill does not need it; nothing else is possible without it. */
    private void goOnWithoutCode() {
        Thread blocked = code;
        Control asked = signals.control();
        if (blocked == null || signals.isLost()) {
            return;
        }
        if (asked.kill() == null) {
            tellOfBlockedCode(blocked, asked);
        } else if (transitions.seize(blocked)) {
            StackTraceElement[] where = blocked.getStackTrace();
            host.clockwork().interrupt(blocked);
            Move end = new Move.End(RunState.CANCELLED, Payload.EMPTY, asked.kill());
            host.clockwork().fork("perdure-kill-" + held.run().id(), () -> {
                takeOver(end);
                interrupt(BodyGuard.Cause.LOST);
                var unused = host.clockwork().alarm(INTERRUPTED, () -> tellOfInterruptedCode(where));
            });
        } else {
            awaitObedience(); // The engine is at work for it, and obeys when that is over.
        }
    }

    private void tellOfBlockedCode(Thread blocked, Control asked) {
        String request = asked.pause() != null ? "pause" : asked.cancel() != null ? "cancel" : null;
        boolean delivered = asked.pause() == null && transitions.cancelDelivered();
        if (request != null && !delivered && !turn.isAhead() && transitions.isInCode()) {
            LOG.atWarn()
                    .setCause(new CodeIsHere(blocked.getStackTrace()))
                    .addKeyValue("run", held.run().id())
                    .addKeyValue("definition", definition())
                    .log(
                            "Run {} of '{}' does not obey its {}: for {} its code has made no call on its context. Put what blocks there into a step, which can be interrupted. A kill ends the run without its code.",
                            held.run().id(),
                            definition(),
                            request,
                            PATIENCE);
        }
    }

    private void tellOfInterruptedCode(StackTraceElement[] where) {
        boolean left = code != null;
        LOG.atLevel(left ? Level.ERROR : Level.WARN)
                .setCause(new CodeIsHere(where))
                .addKeyValue("run", held.run().id())
                .addKeyValue("definition", definition())
                .log(
                        "Run {} of '{}' was killed although its code did not return. {} Put what blocks there into a step, which can be interrupted.",
                        held.run().id(),
                        definition(),
                        left
                                ? "Its code ignores the interrupt: its thread is left, with what it holds, until the code returns."
                                : "Its code was interrupted.");
    }

    /** Shows where the code of a workflow is. */
    private static final class CodeIsHere extends Exception {
        private static final long serialVersionUID = 1L;

        CodeIsHere(StackTraceElement[] where) {
            super("the code of the workflow is here", null, false, true);
            setStackTrace(where);
        }
    }

    /** Mail has arrived with this wake-up. Returns whether no other wake-up is known to have come in between. */
    public boolean mailed(Hints.MailArrived mail) {
        return signals.mailed(mail);
    }

    private void interrupt(BodyGuard.Cause why) {
        guard.interrupt(why);
        Futures beside = bodies;
        if (beside != null) {
            beside.interrupt(why);
        }
    }

    /** The worker is closing: the run leaves memory at its next call or wait. */
    public void giveBack() {
        signals.giveBack();
    }

    /** The worker closes now: interrupts a body that still runs, and gives the run back without waiting for it. */
    public void giveBackNow() {
        if (guard.abandon()) {
            takeOver(new Move.Yield());
        } else {
            signals.giveBackNow();
        }
    }

    private void takeOver(Move move) {
        Departure departure;
        try {
            departure = transitions.leave(move);
        } catch (Unwind lost) {
            departure = new Departure.Lost();
        } catch (RuntimeException
                | Error unexpected) { // the thread of its code may still have been at work on what is pending
            LOG.error(
                    "The engine failed to take over run {} from its code. It is given back within a lease.",
                    held.run().id(),
                    unexpected);
            departure = new Departure.Lost();
        }
        left(departure);
    }

    @Override
    public void lose() {
        signals.lose();
        interrupt(BodyGuard.Cause.LOST);
    }
}
