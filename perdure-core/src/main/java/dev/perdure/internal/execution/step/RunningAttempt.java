package dev.perdure.internal.execution.step;

import dev.perdure.Attempt;
import dev.perdure.TypeRef;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.BodyLimits;
import dev.perdure.internal.failure.LastReport;
import dev.perdure.internal.text.Sentences;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.report.Reports.Heartbeat;
import dev.perdure.spi.report.Reports.Report;
import dev.perdure.spi.report.StepLog;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * An attempt of a step, as its body sees it. The idempotency key is a digest, which is computed only if the body asks
 * for it.
 *
 * <p>How reports work: the latest report is in memory, and the worker writes it soon. If the attempt fails, the entry
 * that records the failure has the latest report too. The last heartbeat before an attempt is the one with the higher
 * version: that in the entry of the attempt before, or that in the store, which a process that crashed has left.
 *
 * <p>Crash points, in order. After a report and before it is written: the report is lost, and the store has the one
 * before it. After it is written: the next process reads it. After the entry of the failure: the next attempt reads the
 * newest of both.
 */
public final class RunningAttempt implements Attempt, StepLog.Sink {
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final int MOST_BYTES = 64 * 1024;
    private static final int MOST_CHARACTERS = 16 * 1024;

    private final Attempts attempts;
    private final ContextCall call;
    private final int number;
    private final @Nullable BodyLimits limits;
    private final BodyGuard guard;
    private final @Nullable LastReport before;
    // Only the thread of the attempt uses it.
    private @Nullable TimeoutException timeout;
    private volatile @Nullable Duration retryAfter;
    private volatile boolean logged;

    // Under the lock of the run.
    private final ReentrantLock lock;
    private @Nullable Report latest;
    private boolean ended;
    /** Whether it knows what earlier attempts have left. */
    private boolean asked;

    private @Nullable Heartbeat inherited;

    RunningAttempt(
            Attempts attempts,
            ContextCall call,
            int number,
            @Nullable BodyLimits limits,
            BodyGuard guard,
            @Nullable LastReport before) {
        this.attempts = attempts;
        this.call = call;
        this.number = number;
        this.limits = limits;
        this.guard = guard;
        this.before = before;
        this.lock = attempts.lock();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public String idempotencyKey() {
        return attempts.idempotencyKey(call);
    }

    @Override
    public void retryAfter(Duration delay) {
        if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("retryAfter is %s; it cannot be negative and is at most %s days."
                    .formatted(delay, LONGEST.toDays()));
        }
        retryAfter = delay;
    }

    /** The delay that the body has set, or null. */
    @Nullable
    Duration retryAfter() {
        return retryAfter;
    }

    /** Interrupts its body. */
    public BodyGuard guard() {
        return guard;
    }

    // ---- its body

    /** Runs the body, with the interceptors around it, so that it can be interrupted and has its limits. */
    <T extends @Nullable Object> T run(Callable<T> intercepted) throws Exception {
        return guard.run(intercepted, limits);
    }

    /**
     * Calls the body inside of the interceptors. If the body has run out of its time, this throws what the engine
     * records, whatever the body makes of the interrupt: the interceptors see how the attempt ends.
     */
    <T extends @Nullable Object> T call(Callable<T> body) throws Exception {
        if (limits == null) {
            return body.call();
        }
        T result;
        try {
            result = body.call();
        } catch (Throwable thrown) {
            if (guard.isTimedOut()) {
                throw timedOut(thrown);
            }
            throw thrown;
        }
        if (guard.isTimedOut()) {
            throw timedOut(null);
        }
        return result;
    }

    /** What the engine records of an attempt that ran out of its time: one exception, however often it is asked for. */
    public TimeoutException timedOut(@Nullable Throwable fromBody) {
        if (timeout == null) {
            var unused = Thread.interrupted(); // The body has been interrupted, and it has ended.
            timeout = new TimeoutException("Step '%s' %s."
                    .formatted(call.name(), Objects.requireNonNull(limits).reason()));
            timeout.initCause(fromBody);
        }
        return timeout;
    }

    // ---- reports

    @Override
    public void progress(double fraction, String message) {
        if (!(fraction >= 0 && fraction <= 1)) { // also refuses NaN
            throw new InvalidRequestException(
                    "The progress of %s is %s; it must be a number from 0 to 1. Divide what is done by what there is to do."
                            .formatted(call.describe(), fraction));
        }
        Texts.requireText("progress message of " + call.describe(), message);
        report(last -> new Report(last.source(), last.version(), fraction, message, last.heartbeat()));
    }

    @Override
    public void heartbeat() {
        report(last -> last);
    }

    @Override
    public void heartbeat(Object value) {
        Texts.requireGiven("value of the heartbeat", value);
        Payload payload =
                attempts.values().at(call.position()).inline().encode(value); // It becomes part of another value.
        if (payload.size() > MOST_BYTES) {
            throw new PayloadException(
                    "The heartbeat of %s has %s bytes and the limit is %s. Report what the next attempt needs to find its place, and store the rest elsewhere."
                            .formatted(call.describe(), payload.size(), MOST_BYTES));
        }
        report(last -> new Report(
                last.source(),
                last.version(),
                last.fraction(),
                last.message(),
                new Heartbeat(last.version(), payload)));
    }

    private void report(UnaryOperator<Report> change) {
        Report next;
        lock.lock();
        try {
            requireRunning();
            Report last = latest;
            long version = attempts.nextVersion();
            next = change.apply(
                    last == null
                            ? new Report(attempts.source(call, number), version, null, "", null)
                            : new Report(last.source(), version, last.fraction(), last.message(), last.heartbeat()));
            latest = next;
        } finally {
            lock.unlock();
        }
        if (limits != null) {
            limits.beat();
        }
        attempts.report(next);
    }

    private void requireRunning() {
        if (ended) {
            throw new ContextMisuseException(
                    "Attempt %s of %s has ended, so it can neither report nor take longer. Wait in the body for the threads that use it, or stop them."
                            .formatted(number, call.describe()));
        }
    }

    @Override
    @SuppressWarnings("unchecked") // decoded as the type that the caller states, which may be primitive
    public <T> Optional<T> lastHeartbeat(Class<T> type) {
        Texts.requireGiven("type", type);
        return last().map(heartbeat -> (T) decoded(heartbeat, type));
    }

    @Override
    @SuppressWarnings("unchecked") // decoded as the type that the caller states
    public <T> Optional<T> lastHeartbeat(TypeRef<T> type) {
        Texts.requireGiven("type", type);
        return last().map(heartbeat -> (T) decoded(heartbeat, type.type()));
    }

    private Object decoded(Heartbeat heartbeat, Type type) {
        try {
            Object value = attempts.values().at(call.position()).decode(heartbeat.value(), type);
            if (value == null) {
                throw new PayloadException("It is null.");
            }
            return value;
        } catch (PayloadException unreadable) {
            throw new PayloadException(
                    "The last heartbeat of %s cannot be read as %s. %s Ask for it with the type that it was written with."
                            .formatted(
                                    call.describe(),
                                    type.getTypeName(),
                                    Sentences.sentence(String.valueOf(unreadable.getMessage()))),
                    unreadable);
        }
    }

    /** The last heartbeat: its own, or one before it. Asks the store outside the lock, and once unless threads race. */
    private Optional<Heartbeat> last() {
        lock.lock();
        try {
            requireRunning();
            Heartbeat own = latest == null ? null : latest.heartbeat();
            if (own != null) {
                return Optional.of(own);
            }
            if (asked) {
                return Optional.ofNullable(inherited);
            }
        } finally {
            lock.unlock();
        }
        Heartbeat stored =
                attempts.last(call).map(last -> last.report().heartbeat()).orElse(null);
        Heartbeat recorded = recorded();
        boolean newer = stored != null && (recorded == null || stored.version() > recorded.version());
        lock.lock();
        try {
            asked = true;
            inherited = newer ? stored : recorded;
            return Optional.ofNullable(inherited);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Heartbeat recorded() {
        if (before == null) {
            return null;
        }
        byte @Nullable [] value = before.heartbeat();
        return value == null ? null : new Heartbeat(before.version(), new Payload(value));
    }

    @Override
    public void extend(Duration by) {
        Texts.requireGiven("extension of the timeout", by);
        if (by.isNegative() || by.isZero() || by.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException(
                    "The timeout of %s cannot be extended by %s; the extension must be longer than zero and at most %s days."
                            .formatted(call.describe(), by, LONGEST.toDays()));
        }
        lock.lock();
        try {
            requireRunning();
        } finally {
            lock.unlock();
        }
        if (limits != null) {
            limits.extend(by);
        }
    }

    // ---- log lines

    @Override
    public void append(Level level, String logger, String text) {
        logged = true;
        attempts.log(
                attempts.source(call, number),
                level,
                Texts.storable(logger, MOST_CHARACTERS),
                Texts.storable(text, MOST_CHARACTERS));
    }

    // ---- its end

    /** The body has ended. */
    void end() {
        boolean reported;
        lock.lock();
        try {
            ended = true;
            reported = latest != null || logged;
        } finally {
            lock.unlock();
        }
        if (reported) {
            attempts.ended();
        }
    }

    /**
     * No other attempt follows: writes its last report. An operator may retry the run, which removes the entry that has
     * the report.
     */
    void writeLast() {
        Report report;
        lock.lock();
        try {
            report = latest;
        } finally {
            lock.unlock();
        }
        if (report != null) {
            attempts.write(report);
        }
    }

    /** What to record with its failure; null if no attempt has reported anything. */
    @Nullable
    LastReport reported() {
        lock.lock();
        try {
            Report report = latest;
            Heartbeat own = report == null ? null : report.heartbeat();
            Heartbeat heartbeat = own == null ? recorded() : own;
            if (report == null && heartbeat == null) {
                return null;
            }
            Double fraction = report == null ? null : report.fraction();
            return new LastReport(
                    fraction,
                    report == null || fraction == null ? null : report.message(),
                    heartbeat == null ? 0 : heartbeat.version(),
                    heartbeat == null ? null : heartbeat.value().bytes());
        } finally {
            lock.unlock();
        }
    }
}
