package dev.perdure.internal.execution.step;

import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RecordedException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.step.Verdicts.Verdict;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.LastReport;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Performs steps: answers from the journal, or runs the body by its policy and records the result.
 *
 * <p>A limited step waits for a permit before each attempt ({@link StepPermits}).
 *
 * <p>Crash points, in order. Before the flush: nothing of this step has happened. In the body: it runs again with the
 * same attempt number, and the run counts as recovered. After the body and before the record: it runs again. After the
 * record: it never runs again.
 */
public final class Steps {
    private final HeldRun held;
    private final Host host;
    private final Transitions transitions;
    private final Waits waits;
    private final BodyGuard guard;
    private final Values values;
    private final Attempts attempts;
    private final StepBodies bodies;

    /** The steps of a run, with what makes its attempts and runs their bodies. */
    public Steps(
            HeldRun held,
            Host host,
            Transitions transitions,
            Waits waits,
            BodyGuard guard,
            Values values,
            Attempts attempts,
            StepBodies bodies) {
        this.held = held;
        this.host = host;
        this.transitions = transitions;
        this.waits = waits;
        this.guard = guard;
        this.values = values;
        this.attempts = attempts;
        this.bodies = bodies;
    }

    /** The work of one attempt: runs a body under guard and makes its result durable. */
    @FunctionalInterface
    interface Doing {
        public Values.Stored perform(Guarded guarded) throws Exception;

        /**
         * No further attempt follows. Returns the final answer: this failure, unless an effect was committed after all.
         */
        public default Entry giveUp(Entry failure) {
            return failure;
        }

        /** Whether its result is the run's outcome, which is recorded with the end of the run. */
        default boolean isLast() {
            return false;
        }
    }

    /** The last step of a run. */
    private static final class Last implements Doing {
        private final Callable<?> body;
        private Payload outcome = Payload.EMPTY;

        Last(Callable<?> body) {
            this.body = body;
        }

        @Override
        public Values.Stored perform(Guarded guarded) throws Exception {
            Values.Stored stored = guarded.run(body);
            outcome = stored.payload();
            return stored;
        }

        @Override
        public boolean isLast() {
            return true;
        }
    }

    /** Runs a body as this attempt, interruptible, and encodes its result. */
    @FunctionalInterface
    interface Guarded {
        Values.Stored run(Callable<?> body) throws Exception;
    }

    /** An attempt had no effect, through no fault of its body: the same attempt is made again. */
    static final class Again extends Exception {
        private static final long serialVersionUID = 1L;

        Again(Throwable cause) {
            super(RecordedException.of(cause).getMessage(), cause, false, false);
        }
    }

    /** An attempt found that an earlier one had taken effect; its answer is recorded now. */
    static final class Answered extends Exception {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial") // never serialised
        private final Entry entry;

        Answered(Entry entry) {
            super("answered before", null, false, false);
            this.entry = entry;
        }
    }

    /** The permits of limited steps. They remember nothing, so each call makes them. */
    public StepPermits permits() {
        return new StepPermits(held, host, transitions, waits);
    }

    /** Runs their bodies. */
    public StepBodies bodies() {
        return bodies;
    }

    /** Makes their attempts. */
    public Attempts attempts() {
        return attempts;
    }

    /** Judges their failed attempts. Verdicts remember nothing, so each call makes them. */
    public Verdicts verdicts() {
        return new Verdicts(host, transitions, values);
    }

    public @Nullable Object perform(
            ContextCall call, Replay.Past past, Type type, Callable<?> body, StepOptions options) {
        return perform(call, past, type, guarded -> recorded(call, guarded.run(body)), options);
    }

    /** Performs the last step of a run: one commit records its result and ends the run. */
    public Encoded performLast(ContextCall call, Replay.Past past, Type type, Callable<?> body, StepOptions options) {
        Last last = new Last(body);
        perform(call, past, type, last, options);
        return new Encoded(last.outcome, PayloadPlace.entry(values.run(), call.position()));
    }

    private Values.Stored recorded(ContextCall call, Values.Stored stored) {
        transitions.append(List.of(call.answer(Entry.Status.VALUE, stored.payload())));
        return stored;
    }

    public @Nullable Object perform(ContextCall call, Replay.Past past, Type type, Doing doing, StepOptions options) {
        Optional<Recorded> answer = past.answer();
        if (answer.isPresent()) {
            return replay(call, answer.get().entry(), type);
        }
        List<Recorded> failures = past.notes();
        int failed = failures.size();
        @Nullable
        Instant firstFailure = failures.isEmpty() ? null : failures.getFirst().at();
        @Nullable LastReport reported = null;
        if (failed > 0) {
            Recorded lastFailure = failures.getLast();
            FailedAttempt before = verdicts().failedAttempt(call, lastFailure.entry());
            reported = before.reported();
            waits.await(call, lastFailure.at().plusMillis(before.delayMillis()), RunState.BACKING_OFF);
        }
        while (true) {
            transitions.obeySignals();
            transitions.deliverTo(call);
            transitions.flush();
            int number = ++failed;
            permits().await(call, number, options);
            RunningAttempt attempt = attempts.make(call, number, options, guard, reported);
            Throwable thrown;
            try {
                Values.Stored stored =
                        doing.perform(body -> bodies.run(call, attempt, type, bodies.intercepted(call, attempt, body)));
                if (!doing.isLast()) {
                    permits().recorded(options);
                    transitions.unloadAfterStep();
                }
                return stored.copy();
            } catch (Again again) {
                failed--;
                continue;
            } catch (Answered before) {
                return replay(call, before.entry, type);
            } catch (BodyGuard.Interrupted interrupted) {
                if (interrupted.why() == BodyGuard.Cause.TIMEOUT) {
                    thrown = attempt.timedOut(interrupted.fromBody());
                } else {
                    if (interrupted.why() == BodyGuard.Cause.DEADLINE) {
                        transitions.deadline().reach();
                    }
                    failed--; // Does not count as an attempt: the loop begins again and obeys what interrupted it.
                    continue;
                }
            } catch (Unwind leaving) {
                throw leaving;
            } catch (Throwable fromBody) { // Includes errors: they are failed attempts too.
                thrown = fromBody;
            }
            Verdict verdict = verdicts().judge(call, options, attempt, thrown, firstFailure);
            reported = verdict.attempt().reported();
            Duration delay = verdict.again();
            if (delay == null) {
                Entry counts = givenUp(call, doing, verdict);
                permits().recorded(options);
                return replay(call, counts, type);
            }
            Instant due = waits.begin(verdicts().entry(call, verdict), delay, RunState.BACKING_OFF);
            permits().recorded(options);
            waits.await(call, due, RunState.BACKING_OFF);
            firstFailure = firstFailure == null ? due.minus(delay) : firstFailure;
        }
    }

    /** The recorded answer of a step. */
    public @Nullable Object replay(ContextCall call, Entry entry, Type type) {
        return switch (entry.status()) {
            case VALUE -> value(call, entry, type);
            case FAILURE -> throw Verdicts.failed(entry.name(), verdicts().failedAttempt(call, entry));
            case CANCELLED, DEADLINE -> throw transitions.delivered(entry);
            case BEGUN, ATTEMPT, ABSENT, HEADERS, UNKNOWN ->
                throw transitions.unreadable(
                        call, new PayloadException("Its status is %s, which no step has.".formatted(entry.status())));
        };
    }

    private @Nullable Object value(ContextCall call, Entry entry, Type type) {
        try {
            return values.at(call.position()).decode(entry.payload(), type);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    /** Records that no further attempt follows. For the last step it also ends the run. */
    private Entry givenUp(ContextCall call, Doing doing, Verdict verdict) {
        Entry counts = doing.giveUp(verdicts().entry(call, verdict));
        if (doing.isLast()) {
            transitions.defer(counts);
        } else {
            transitions.append(List.of(counts));
        }
        return counts;
    }
}
