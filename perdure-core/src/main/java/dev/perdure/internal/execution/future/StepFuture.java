package dev.perdure.internal.execution.future;

import dev.perdure.Settled;
import dev.perdure.StepOptions;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A step whose body runs beside the run's own thread. The body's thread only runs it; what came of it is handed in, and
 * everything is recorded by the run's thread, so that a run still has one writer. The next attempt of one that failed begins
 * when the run awaits it and its back-off is over.
 */
final class StepFuture<T extends @Nullable Object> extends EngineFuture<T> {
    private final Futures futures;
    private final Steps steps;
    private final Transitions transitions;
    private final ContextCall call;
    private final Type type;
    private final Callable<T> body;
    private final StepOptions options;

    // Of the run's thread, but for what the body's thread reads while it runs.
    private int failed;
    private @Nullable Instant firstFailure;
    private @Nullable Instant nextAttempt;
    private boolean running;
    private @Nullable Settled<T> settled;

    StepFuture(
            Futures futures,
            Steps steps,
            Transitions transitions,
            ContextCall call,
            Type type,
            Callable<T> body,
            StepOptions options) {
        super(futures);
        this.futures = futures;
        this.steps = steps;
        this.transitions = transitions;
        this.call = call;
        this.type = type;
        this.body = body;
        this.options = options;
    }

    /**
     * Takes over what is recorded, and begins if that is not the answer.
     *
     * @param replaying whether more is recorded: then the run came past here before, and nothing was delivered
     */
    void begin(Replay.Past past, boolean replaying) {
        Entry answer = past.answer().map(Recorded::entry).orElse(null);
        if (answer != null) {
            settled = recorded(answer);
            return;
        }
        List<Recorded> failures = past.notes();
        failed = failures.size();
        if (failed > 0) {
            Recorded last = failures.getLast();
            firstFailure = failures.getFirst().at();
            nextAttempt =
                    last.at().plusMillis(steps.failedAttempt(call, last.entry()).delayMillis());
        } else {
            if (!replaying) {
                transitions.deliverTo(call);
            }
            futures.launch(this);
        }
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    private Settled<T> recorded(Entry answer) {
        try {
            return value((T) steps.replay(call, answer, type));
        } catch (StepFailedException failure) {
            return failure(failure);
        }
    }

    @Override
    protected @Nullable Settled<T> look() {
        return settled;
    }

    @Override
    protected void wants(WaitCondition wanted) {
        if (running) {
            return;
        }
        if (nextAttempt == null || !futures.now().isBefore(nextAttempt)) {
            futures.launch(this);
        } else {
            wanted.time(nextAttempt);
        }
    }

    void launched() {
        running = true;
    }

    String name() {
        return call.name();
    }

    /** On a thread of its own: runs the body once, and hands in what came of it. */
    void run(BodyGuard guard) {
        Runnable told = newsOf(guard);
        futures.handIn(() -> {
            running = false;
            told.run();
        });
    }

    /** What the run's thread is to do about the attempt, whatever happens: it waits for nothing else. */
    private Runnable newsOf(BodyGuard guard) {
        try {
            return attempted(steps.attempt(call, failed + 1), guard);
        } catch (Throwable unjudged) { // the attempt has left nothing behind, so that it can be made again
            return () -> {
                throw transitions.lost(unjudged);
            };
        }
    }

    private Runnable attempted(Steps.RunningAttempt attempt, BodyGuard guard) {
        try {
            Values.Stored stored = steps.tryOnce(call, attempt, type, body, options, guard);
            return () -> transitions.defer(call.answer(Entry.Status.VALUE, stored.payload()), at -> succeed(stored));
        } catch (BodyGuard.Interrupted interrupted) {
            return switch (interrupted.why()) {
                case TIMEOUT -> failure(attempt, Steps.timedOut(call, options, interrupted));
                case DEADLINE -> transitions::reachDeadline;
                case CANCEL, LOST, ABANDONED -> () -> {};
            };
        } catch (Throwable thrown) { // an Error too: it is an attempt that failed
            return failure(attempt, thrown);
        }
    }

    private Runnable failure(Steps.RunningAttempt attempt, Throwable thrown) {
        Steps.Verdict verdict = steps.judge(call, steps.policy(options), attempt, thrown, firstFailure);
        return () -> transitions.defer(steps.entry(call, verdict), at -> fail(verdict, at));
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // read back as the type that the caller declared
    private void succeed(Values.Stored stored) {
        settled = value((T) stored.copy());
    }

    /** Ends it, unless it has ended: it will not be tried again, nor begun again on replay. */
    void giveUp(RuntimeException why) {
        if (settled == null) {
            Steps.Verdict verdict = steps.giveUp(failed, why);
            transitions.defer(steps.entry(call, verdict));
            settled = failure(Steps.failed(call.name(), verdict.attempt()));
        }
    }

    private void fail(Steps.Verdict verdict, Instant at) {
        failed = verdict.attempt().attempt();
        firstFailure = firstFailure == null ? at : firstFailure;
        Duration again = verdict.again();
        if (again == null) {
            settled = failure(Steps.failed(call.name(), verdict.attempt()));
        } else {
            nextAttempt = at.plus(again);
        }
    }

    @Override
    protected String awaited() {
        return "The result of step '%s'".formatted(call.name());
    }
}
