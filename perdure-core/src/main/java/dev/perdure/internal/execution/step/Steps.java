package dev.perdure.internal.execution.step;

import dev.perdure.Attempt;
import dev.perdure.RetryPolicy;
import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.StepFailedException;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.failure.LastReport;
import dev.perdure.internal.interception.LoggingContext;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.report.StepLog;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.run");

    private final HeldRun held;
    private final Host host;
    private final Transitions transitions;
    private final Waits waits;
    private final BodyGuard guard;
    private final Values values;
    private final Attempts attempts;
    private final @Nullable WorkflowCall entered;
    private final Thread own = Thread.currentThread();
    /** Made for the first body beside the run's own thread, under the lock of the guard, because most runs have none. */
    private volatile @Nullable Map<Thread, Attempt> onOtherThreads;

    // Only the workflow's own thread reads and writes it.
    private @Nullable Attempt onOwnThread;

    /**
     * The steps of a run.
     *
     * @param entered what interceptors are told of the run, or null if there are none to tell
     */
    public Steps(
            HeldRun held,
            Host host,
            Transitions transitions,
            Waits waits,
            BodyGuard guard,
            Values values,
            Attempts attempts,
            @Nullable WorkflowCall entered) {
        this.held = held;
        this.host = host;
        this.transitions = transitions;
        this.waits = waits;
        this.guard = guard;
        this.values = values;
        this.attempts = attempts;
        this.entered = entered;
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
            super(cause.getMessage(), cause, false, false);
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

    /** The attempt that runs on this thread. */
    public Optional<Attempt> current() {
        Thread thread = Thread.currentThread();
        if (thread.equals(own)) {
            return Optional.ofNullable(onOwnThread);
        }
        Map<Thread, Attempt> beside = onOtherThreads;
        return Optional.ofNullable(beside == null ? null : beside.get(thread));
    }

    private void current(@Nullable Attempt attempt) {
        Thread thread = Thread.currentThread();
        if (thread.equals(own)) {
            onOwnThread = attempt;
        } else if (attempt == null) {
            besides().remove(thread);
        } else {
            besides().put(thread, attempt);
        }
    }

    private Map<Thread, Attempt> besides() {
        guard.lock().lock();
        try {
            Map<Thread, Attempt> all = onOtherThreads == null ? new ConcurrentHashMap<>() : onOtherThreads;
            onOtherThreads = all;
            return all;
        } finally {
            guard.lock().unlock();
        }
    }

    /**
     * The attempt that begins now.
     *
     * @param guarding interrupts its body
     * @param before what earlier attempts had reported, as far as the journal tells; null if it tells nothing
     */
    public RunningAttempt attempt(
            ContextCall call, int number, StepOptions options, BodyGuard guarding, @Nullable LastReport before) {
        return attempts.make(call, number, options, guarding, before);
    }

    public RetryPolicy policy(StepOptions options) {
        return options.retry().orElse(host.rules().retry());
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
        RetryPolicy policy = policy(options);
        List<Recorded> failures = past.notes();
        int failed = failures.size();
        @Nullable
        Instant firstFailure = failures.isEmpty() ? null : failures.getFirst().at();
        @Nullable LastReport reported = null;
        if (failed > 0) {
            Recorded lastFailure = failures.getLast();
            FailedAttempt before = failedAttempt(call, lastFailure.entry());
            reported = before.reported();
            waits.await(call, lastFailure.at().plusMillis(before.delayMillis()), RunState.BACKING_OFF);
        }
        while (true) {
            transitions.obeySignals();
            transitions.deliverTo(call);
            transitions.flush();
            int number = ++failed;
            permits().await(call, number, options);
            RunningAttempt attempt = attempt(call, number, options, guard, reported);
            Throwable thrown;
            try {
                Values.Stored stored =
                        doing.perform(body -> tryOnce(call, attempt, type, intercepted(call, attempt, body)));
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
            Verdict verdict = judge(call, policy, attempt, thrown, firstFailure);
            reported = verdict.attempt().reported();
            Duration delay = verdict.again();
            if (delay == null) {
                Entry counts = givenUp(call, doing, verdict);
                permits().recorded(options);
                return replay(call, counts, type);
            }
            Instant due = waits.begin(entry(call, verdict), delay, RunState.BACKING_OFF);
            permits().recorded(options);
            waits.await(call, due, RunState.BACKING_OFF);
            firstFailure = firstFailure == null ? due.minus(delay) : firstFailure;
        }
    }

    /** The recorded answer of a step. */
    public @Nullable Object replay(ContextCall call, Entry entry, Type type) {
        return switch (entry.status()) {
            case VALUE -> value(call, entry, type);
            case FAILURE -> throw failed(entry.name(), failedAttempt(call, entry));
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

    public FailedAttempt failedAttempt(ContextCall call, Entry entry) {
        try {
            return values.at(call.position()).decode(entry.payload(), FailedAttempt.class);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    /** The body with the interceptors around it. Only the thread of the workflow asks for it. */
    public <T extends @Nullable Object> Callable<T> intercepted(
            ContextCall call, RunningAttempt attempt, Callable<T> body) {
        if (entered == null || !isStep(call)) {
            return body;
        }
        StepCall intercepted = new StepCall(entered, call.name(), attempt.number());
        return host.rules().interceptors().step(intercepted, () -> attempt.call(body));
    }

    private static boolean isStep(ContextCall call) {
        return call.kind() == Entry.Kind.STEP || call.kind() == Entry.Kind.TRANSACTION;
    }

    /** Runs the body once, on this thread. */
    public Values.Stored tryOnce(ContextCall call, RunningAttempt attempt, Type type, Callable<?> body)
            throws Exception {
        current(attempt);
        StepLog.open(attempt);
        long began = host.clockwork().nanoTime();
        boolean succeeded = false;
        boolean logs = isStep(call);
        boolean counts = logs;
        boolean beside = !Thread.currentThread().equals(own);
        try {
            if (logs) {
                openLog(call, attempt, beside);
            }
            @Nullable Object result = attempt.run(() -> interruptible(attempt, body));
            Values.Stored stored = valuesOf(call).store(result, type, "the result of " + call.describe());
            succeeded = true;
            return stored;
        } catch (BodyGuard.Interrupted interrupted) {
            counts &= interrupted.why() == BodyGuard.Cause.TIMEOUT; // Otherwise it is not a failed attempt.
            throw interrupted;
        } finally {
            if (logs) {
                closeLog(beside);
            }
            StepLog.close();
            current(null);
            attempt.end();
            if (counts) {
                measure(succeeded, began);
            }
        }
    }

    /**
     * Calls the body of an attempt. From here on it can be interrupted. A request for the run that came since its thread has
     * last obeyed, such as while it wrote something or waited for a permit, has interrupted nothing, so it is looked for now.
     */
    private @Nullable Object interruptible(RunningAttempt attempt, Callable<?> body) throws Exception {
        BodyGuard.Cause asked = transitions.interrupting();
        if (asked != null) {
            attempt.guard().interrupt(asked);
            throw new InterruptedException();
        }
        Runnable disarm = transitions.deadline().arm(attempt.guard());
        try {
            return body.call();
        } finally {
            disarm.run();
        }
    }

    /** The body of this attempt begins on this thread: the run's own one, or one beside it. */
    private void openLog(ContextCall call, RunningAttempt attempt, boolean beside) {
        LoggingContext logging = logging();
        if (beside) {
            logging.enter(transitions.run(), transitions.definition(), host.workerName());
        }
        logging.enterStep(call.name(), attempt.number());
    }

    private void closeLog(boolean beside) {
        LoggingContext logging = logging();
        logging.leaveStep();
        if (beside) {
            logging.leave();
        } else {
            logging.restore(transitions.run(), transitions.definition(), host.workerName());
        }
    }

    private LoggingContext logging() {
        return host.rules().interceptors().logging(transitions.definition());
    }

    private void measure(boolean succeeded, long began) {
        host.rules()
                .measurements()
                .attempted(
                        transitions.definition(),
                        attempts.queue(),
                        succeeded,
                        host.clockwork().nanoTime() - began);
    }

    /** The result of an attempt on another thread, which the run's own thread records now, maybe long after. */
    public Values.Stored kept(ContextCall call, Values.Stored stored, Type type) {
        return valuesOf(call).kept(stored, type, "the result of " + call.describe());
    }

    /**
     * The result of a transaction step stays in place, because it is part of the application's transaction: nothing is
     * written outside of that, and no second connection is needed while it is open.
     */
    private Values valuesOf(ContextCall call) {
        Values here = values.at(call.position());
        return call.kind() == Entry.Kind.TRANSACTION ? here.inline() : here;
    }

    /**
     * The consequence of a failed attempt.
     *
     * @param attempt the attempt to record
     * @param again how long until the next attempt, or null if there is none
     */
    public record Verdict(FailedAttempt attempt, @Nullable Duration again) {}

    /** Applies the policy to a failed attempt, and logs it, because a retried attempt shows nowhere else. */
    public Verdict judge(
            ContextCall call,
            RetryPolicy policy,
            RunningAttempt attempt,
            Throwable thrown,
            @Nullable Instant firstFailure) {
        Instant now = host.clock().now();
        Duration elapsed = firstFailure == null ? Duration.ZERO : Duration.between(firstFailure, now);
        Failure failure = Failure.of(thrown);
        Duration wanted = attempt.retryAfter();
        Duration delay = wanted == null ? policy.delay(attempt.number(), chance()) : wanted;
        // The effect has happened, and the next result could not be stored either, because the code would be the same.
        boolean inVain = thrown instanceof PayloadException || thrown instanceof ContextMisuseException;
        boolean again = !inVain && policy.retries(thrown) && policy.allows(attempt.number(), elapsed.plus(delay));
        LOG.atWarn()
                .setCause(thrown)
                .addKeyValue("run", transitions.run())
                .addKeyValue("definition", transitions.definition())
                .addKeyValue("step", call.name())
                .addKeyValue("attempt", attempt.number())
                .addKeyValue("last", !again)
                .log(
                        "Run {} of '{}': {} failed at attempt {}{}.",
                        transitions.run(),
                        transitions.definition(),
                        call.describe(),
                        attempt.number(),
                        again
                                ? "; the next attempt is in " + delay
                                : ", the last; the workflow gets a " + StepFailedException.class.getSimpleName());
        if (!again) {
            attempt.writeLast();
        }
        return again
                ? new Verdict(new FailedAttempt(failure, attempt.number(), delay.toMillis(), attempt.reported()), delay)
                : new Verdict(new FailedAttempt(failure, attempt.number(), 0, attempt.reported()), null);
    }

    /** After this many failed attempts no other follows, because the run was told to end. */
    public Verdict giveUp(int failed, RuntimeException why) {
        return new Verdict(new FailedAttempt(Failure.of(why), failed, 0), null);
    }

    /** The entry that records a verdict. */
    public Entry entry(ContextCall call, Verdict verdict) {
        Payload payload = values.at(call.position()).encode(verdict.attempt());
        return verdict.again() == null
                ? call.answer(Entry.Status.FAILURE, payload)
                : call.note(verdict.attempt().attempt(), Entry.Status.ATTEMPT, payload);
    }

    /** Records that no further attempt follows. For the last step it also ends the run. */
    private Entry givenUp(ContextCall call, Doing doing, Verdict verdict) {
        Entry counts = doing.giveUp(entry(call, verdict));
        if (doing.isLast()) {
            transitions.defer(counts);
        } else {
            transitions.append(List.of(counts));
        }
        return counts;
    }

    /** A random number from 0 to 1. */
    private double chance() {
        return (host.clockwork().random() >>> 11) * 0x1.0p-53;
    }

    public static StepFailedException failed(String step, FailedAttempt last) {
        return new StepFailedException(step, last.attempt(), last.failure().toException());
    }
}
