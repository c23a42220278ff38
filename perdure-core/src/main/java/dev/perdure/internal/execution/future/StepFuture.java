package dev.perdure.internal.execution.future;

import dev.perdure.Settled;
import dev.perdure.StepOptions;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.step.RunningAttempt;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.step.Verdicts;
import dev.perdure.internal.execution.step.Verdicts.Verdict;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.LastReport;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A step whose body runs beside the run's own thread. The body's thread only runs the body and hands in the result. The
 * run's thread records everything, so that a run has one writer. The next attempt of a failed step begins when the run
 * awaits it and its back-off is over. An attempt that waits for a permit begins when the run awaits it and its
 * turn has come.
 */
final class StepFuture<T extends @Nullable Object> extends EngineFuture<T> {
    private final Futures futures;
    private final Steps steps;
    private final Transitions transitions;
    private final ContextCall call;
    private final Type type;
    private final Callable<T> body;
    private final StepOptions options;

    // Used by the run's thread, except for what the body's thread reads while it runs.
    private Callable<T> attempted;
    private @Nullable RunningAttempt attempt;
    private int failed;
    private @Nullable LastReport reported;
    private @Nullable Instant firstFailure;
    private @Nullable Instant nextAttempt;
    private boolean running;
    private boolean waitsForPermit;
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
        this.attempted = body;
        this.options = options;
    }

    /**
     * Takes over what the journal has, and begins if that is not the final answer.
     *
     * @param replaying whether more is recorded: then the run passed here before, and nothing was delivered
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
            FailedAttempt before = steps.verdicts().failedAttempt(call, last.entry());
            reported = before.reported();
            nextAttempt = last.at().plusMillis(before.delayMillis());
        } else {
            if (!replaying) {
                transitions.deliverTo(call);
            }
            launchIfPermitted();
        }
    }

    /** Lets the next attempt begin, if it holds a permit or needs none. */
    private void launchIfPermitted() {
        waitsForPermit = !steps.permits().take(call, failed + 1, options);
        if (!waitsForPermit) {
            RunningAttempt next = steps.attempts().make(call, failed + 1, options, futures.guardForOneBody(), reported);
            attempted = steps.bodies().intercepted(call, next, body);
            attempt = next;
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
            if (!waitsForPermit) {
                launchIfPermitted();
            }
            if (waitsForPermit) {
                options.limiter().ifPresent(limiter -> wanted.permit(limiter.name()));
            }
        } else {
            wanted.time(nextAttempt);
        }
    }

    /** Asks again for the permit that it waits for. */
    void askForPermit() {
        launchIfPermitted();
    }

    /** Whether its next attempt waits for a permit, and nothing else has come of it. */
    boolean waitsForPermit() {
        return waitsForPermit && settled == null;
    }

    /**
     * Its attempt begins.
     *
     * @return interrupts its body
     */
    BodyGuard launched() {
        running = true;
        return Objects.requireNonNull(attempt).guard();
    }

    String name() {
        return call.name();
    }

    /** Runs the body once, on its own thread, and hands in the result. */
    void run() {
        Runnable told = newsOf();
        futures.handIn(() -> {
            running = false;
            told.run();
        });
    }

    /**
     * Hands in what the run's thread has to do about the attempt, in every case: the run's thread waits for nothing
     * else.
     */
    private Runnable newsOf() {
        try {
            return attempted(Objects.requireNonNull(attempt));
        } catch (Throwable unjudged) { // The attempt had no effect, so it can be made again.
            return () -> {
                throw transitions.lost(unjudged);
            };
        }
    }

    private Runnable attempted(RunningAttempt now) {
        try {
            Values.Stored stored = steps.bodies().run(call, now, type, attempted);
            return () -> record(steps.bodies().kept(call, stored, type));
        } catch (BodyGuard.Interrupted interrupted) {
            return switch (interrupted.why()) {
                case TIMEOUT -> failure(now, now.timedOut(interrupted.fromBody()));
                case DEADLINE -> transitions.deadline()::reach;
                case CANCEL, LOST, ABANDONED -> () -> {};
            };
        } catch (Unwind leaving) { // The worker lost its lease while it stored the result: no failure of the body.
            return () -> {
                throw transitions.lost(leaving);
            };
        } catch (Throwable thrown) { // Includes errors: they are failed attempts too.
            return failure(now, thrown);
        }
    }

    private void record(Values.Stored stored) {
        transitions.defer(call.answer(Entry.Status.VALUE, stored.payload()), at -> succeed(stored));
    }

    private Runnable failure(RunningAttempt ended, Throwable thrown) {
        Verdict verdict = steps.verdicts().judge(call, options, ended, thrown, firstFailure);
        return () -> transitions.defer(steps.verdicts().entry(call, verdict), at -> fail(verdict, at));
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // read back as the type that the caller declared
    private void succeed(Values.Stored stored) {
        steps.permits().recorded(options);
        settled = value((T) stored.copy());
    }

    /** Ends it, unless it has ended: it is neither retried nor begun again on a replay. */
    void giveUp(RuntimeException why) {
        if (settled == null) {
            Verdict verdict = steps.verdicts().giveUp(failed, why);
            transitions.defer(steps.verdicts().entry(call, verdict));
            settled = failure(Verdicts.failed(call.name(), verdict.attempt()));
        }
    }

    private void fail(Verdict verdict, Instant at) {
        steps.permits().recorded(options);
        failed = verdict.attempt().attempt();
        reported = verdict.attempt().reported();
        firstFailure = firstFailure == null ? at : firstFailure;
        Duration again = verdict.again();
        if (again == null) {
            settled = failure(Verdicts.failed(call.name(), verdict.attempt()));
        } else {
            nextAttempt = at.plus(again);
        }
    }

    @Override
    protected String awaited() {
        return "The result of step '%s'".formatted(call.name());
    }
}
