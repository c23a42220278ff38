package dev.perdure.internal.execution;

import dev.perdure.Attempt;
import dev.perdure.InvalidRequestException;
import dev.perdure.PayloadException;
import dev.perdure.RetryPolicy;
import dev.perdure.RunState;
import dev.perdure.StepFailedException;
import dev.perdure.StepOptions;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Recorded;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Performs steps: answers from the journal, or runs the body by its policy and records what came of it.
 *
 * <p>Crash points, in order. Before the flush: nothing of this step happened. In the body: it runs again, as the same
 * attempt number, and the run counts as recovered. After the body, before the record: it runs again. After the record:
 * never again.
 */
final class Steps {
    private static final Duration LONGEST_DELAY = Duration.ofDays(36_500);

    private final Host host;
    private final Transitions transitions;
    private final BodyGuard guard;
    private final Values values;
    private final Derived derived;
    private volatile @Nullable RunningAttempt current;

    Steps(Host host, Transitions transitions, BodyGuard guard, Values values, Derived derived) {
        this.host = host;
        this.transitions = transitions;
        this.guard = guard;
        this.values = values;
        this.derived = derived;
    }

    private static final class RunningAttempt implements Attempt {
        private final Thread thread = Thread.currentThread();
        private final int number;
        private final String idempotencyKey;
        private volatile @Nullable Duration retryAfter;

        RunningAttempt(int number, String idempotencyKey) {
            this.number = number;
            this.idempotencyKey = idempotencyKey;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public String idempotencyKey() {
            return idempotencyKey;
        }

        @Override
        public void retryAfter(Duration delay) {
            if (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0) {
                throw new InvalidRequestException("retryAfter is %s; it cannot be negative and is at most %d days."
                        .formatted(delay, LONGEST_DELAY.toDays()));
            }
            retryAfter = delay;
        }
    }

    /** What one attempt does: runs a body under guard and makes durable what that gave. */
    @FunctionalInterface
    interface Doing {
        Values.Stored perform(Guarded guarded) throws Exception;

        /** There is no further attempt: gives what counts, this failure unless something was done all the same. */
        default Entry giveUp(Entry failure) {
            return failure;
        }
    }

    /** Runs a body as this attempt, interruptible, and encodes what it gives. */
    @FunctionalInterface
    interface Guarded {
        Values.Stored run(Callable<?> body) throws Exception;
    }

    /** An attempt left nothing behind and is no fault of its body's: the same attempt is made again. */
    static final class Again extends Exception {
        private static final long serialVersionUID = 1L;

        Again(Throwable cause) {
            super(cause.getMessage(), cause, false, false);
        }
    }

    /** An attempt found that an earlier one had its effect; its answer is recorded now. */
    static final class Answered extends Exception {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial") // never serialised
        private final Entry entry;

        Answered(Entry entry) {
            super("answered before", null, false, false);
            this.entry = entry;
        }
    }

    /** The attempt that runs on this thread. */
    Optional<Attempt> current(Thread thread) {
        RunningAttempt running = current;
        return running != null && running.thread.equals(thread) ? Optional.of(running) : Optional.empty();
    }

    @Nullable
    Object perform(Call call, Replay.Past past, Type type, Callable<?> body, StepOptions options) {
        return perform(call, past, type, guarded -> recorded(call, guarded.run(body)), options);
    }

    private Values.Stored recorded(Call call, Values.Stored stored) {
        transitions.append(List.of(call.answer(Entry.Status.VALUE, stored.payload())));
        return stored;
    }

    @Nullable
    Object perform(Call call, Replay.Past past, Type type, Doing doing, StepOptions options) {
        Optional<Recorded> answer = past.answer();
        if (answer.isPresent()) {
            return replay(call, answer.get().entry(), type);
        }
        RetryPolicy policy = options.retry().orElse(host.rules().retry());
        List<Recorded> failures = past.notes();
        int failed = failures.size();
        @Nullable
        Instant firstFailure = failures.isEmpty() ? null : failures.getFirst().at();
        if (failed > 0) {
            Recorded lastFailure = failures.getLast();
            long delay = failedAttempt(call, lastFailure.entry()).delayMillis();
            transitions.await(call, lastFailure.at().plusMillis(delay), RunState.BACKING_OFF);
        }
        while (true) {
            transitions.checkOrders();
            transitions.deliverTo(call);
            transitions.flush();
            int number = ++failed;
            RunningAttempt attempt = new RunningAttempt(number, derived.idempotencyKey(call.position()));
            Throwable thrown;
            try {
                return attempt(call, attempt, type, doing, options);
            } catch (Again again) {
                failed--;
                continue;
            } catch (Answered before) {
                return replay(call, before.entry, type);
            } catch (BodyGuard.Interrupted interrupted) {
                if (interrupted.why() == BodyGuard.Cause.TIMEOUT) {
                    thrown = timedOut(call, options, interrupted);
                } else {
                    if (interrupted.why() == BodyGuard.Cause.DEADLINE) {
                        transitions.reachDeadline();
                    }
                    failed--; // no attempt of its own: the loop begins again, where what interrupted it is obeyed
                    continue;
                }
            } catch (VirtualMachineError | LinkageError | Unwind broken) {
                throw broken;
            } catch (Throwable fromBody) {
                thrown = fromBody;
            }
            Instant now = host.clock().now();
            Duration elapsed = firstFailure == null ? Duration.ZERO : Duration.between(firstFailure, now);
            Duration delay = delay(policy, attempt);
            if (!again(policy, thrown, attempt, elapsed.plus(delay))) {
                return replay(call, givenUp(call, doing, attempt, thrown), type);
            }
            Instant at = backOff(call, attempt, thrown, delay);
            firstFailure = firstFailure == null ? at : firstFailure;
        }
    }

    private @Nullable Object replay(Call call, Entry entry, Type type) {
        return switch (entry.status()) {
            case VALUE -> value(call, entry, type);
            case FAILURE -> throw failed(entry.name(), failedAttempt(call, entry));
            case CANCELLED, DEADLINE -> throw transitions.delivered(entry);
            case BEGUN, ATTEMPT -> throw new IllegalStateException("Not an answer: " + entry.status());
        };
    }

    private @Nullable Object value(Call call, Entry entry, Type type) {
        try {
            return values.decode(entry.payload(), type);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    private FailedAttempt failedAttempt(Call call, Entry entry) {
        try {
            return values.decode(entry.payload(), FailedAttempt.class);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    private @Nullable Object attempt(Call call, RunningAttempt attempt, Type type, Doing doing, StepOptions options)
            throws Exception {
        Values.Stored stored = doing.perform(body -> guarded(call, attempt, type, body, options));
        if (host.rules().unloadAfterSteps()) {
            throw transitions.unload();
        }
        return stored.copy();
    }

    private Values.Stored guarded(Call call, RunningAttempt attempt, Type type, Callable<?> body, StepOptions options)
            throws Exception {
        Runnable disarm = transitions.armDeadline();
        current = attempt;
        try {
            @Nullable Object result = guard.run(body, options.timeout().orElse(null));
            return values.store(result, type, "the result of " + call.describe());
        } finally {
            current = null;
            disarm.run();
        }
    }

    private static TimeoutException timedOut(Call call, StepOptions options, BodyGuard.Interrupted interrupted) {
        TimeoutException timeout = new TimeoutException("Step '%s' took longer than %s."
                .formatted(call.name(), options.timeout().orElseThrow()));
        timeout.initCause(
                interrupted.getSuppressed().length == 0 ? null : interrupted.getSuppressed()[0]);
        return timeout;
    }

    private Duration delay(RetryPolicy policy, RunningAttempt attempt) {
        return attempt.retryAfter == null ? policy.delay(attempt.number(), chance()) : attempt.retryAfter;
    }

    /** A result that cannot be stored would not be storable next time either, and its effect may have happened. */
    private static boolean again(RetryPolicy policy, Throwable thrown, RunningAttempt attempt, Duration elapsed) {
        boolean unstorable = thrown instanceof PayloadException;
        return !unstorable && policy.retries(thrown) && policy.allows(attempt.number(), elapsed);
    }

    /** Records that there is no further attempt. */
    private Entry givenUp(Call call, Doing doing, RunningAttempt attempt, Throwable thrown) {
        FailedAttempt last = new FailedAttempt(Failure.of(thrown), attempt.number(), 0);
        Entry counts = doing.giveUp(call.answer(Entry.Status.FAILURE, values.encode(last)));
        transitions.append(List.of(counts));
        return counts;
    }

    /** Records a failed attempt and waits for the next. Gives the time of the failure. */
    private Instant backOff(Call call, RunningAttempt attempt, Throwable thrown, Duration delay) {
        FailedAttempt note = new FailedAttempt(Failure.of(thrown), attempt.number(), delay.toMillis());
        Entry entry = call.note(attempt.number(), Entry.Status.ATTEMPT, values.encode(note));
        Instant due = transitions.begin(call, entry, delay, RunState.BACKING_OFF);
        transitions.await(call, due, RunState.BACKING_OFF);
        return due.minus(delay);
    }

    /** From 0 to 1. */
    private double chance() {
        return (host.clockwork().random() >>> 11) * 0x1.0p-53;
    }

    private static StepFailedException failed(String step, FailedAttempt last) {
        return new StepFailedException(step, last.attempt(), last.failure().toException());
    }
}
