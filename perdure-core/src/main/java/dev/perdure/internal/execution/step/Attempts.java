package dev.perdure.internal.execution.step;

import dev.perdure.StepOptions;
import dev.perdure.error.StoreException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.PendingLines;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.BodyLimits;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.LastReport;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.report.Reports;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** Makes the attempts of a run, and connects them to the store. */
public final class Attempts {
    private final HeldRun held;
    private final Host host;
    private final Values values;
    private final ReentrantLock lock;

    // Under the lock.
    private long reports;
    /** Made for the first line, because most runs log nothing. */
    private @Nullable PendingLines lines;

    /**
     * The attempts of a run.
     *
     * @param lock the lock of the run
     */
    public Attempts(HeldRun held, Host host, Values values, ReentrantLock lock) {
        this.held = held;
        this.host = host;
        this.values = values;
        this.lock = lock;
    }

    /** The lock of the run, for its attempts. */
    ReentrantLock lock() {
        return lock;
    }

    /**
     * Makes an attempt.
     *
     * @param guard interrupts its body
     * @param before what earlier attempts had reported, as far as the journal tells; null if it tells nothing
     */
    public RunningAttempt make(
            ContextCall call, int number, StepOptions options, BodyGuard guard, @Nullable LastReport before) {
        BodyLimits limits = BodyLimits.of(
                options.timeout().orElse(null), options.heartbeatTimeout().orElse(null));
        return new RunningAttempt(this, call, number, limits, guard, before);
    }

    String idempotencyKey(ContextCall call) {
        return new Derived(held.run().id(), held.seed()).idempotencyKey(call.position());
    }

    Values values() {
        return values;
    }

    /** The version of the next report. The caller holds the lock. */
    long nextVersion() {
        return Reports.version(held.epoch(), ++reports);
    }

    Reports.Source source(ContextCall call, int attempt) {
        return new Reports.Source(held.run(), held.epoch(), call.position(), call.name(), attempt);
    }

    void report(Reports.Report report) {
        host.store().report(report);
    }

    /** Keeps a log line of an attempt. */
    void log(Reports.Source source, Level level, String logger, String text) {
        host.store().log(lines(), source, level, logger, text);
    }

    private PendingLines lines() {
        lock.lock();
        try {
            PendingLines all = lines == null ? new PendingLines() : lines;
            lines = all;
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** An attempt that has reported something has ended. */
    void ended() {
        host.store().hurryReports();
    }

    /** Writes a report now. */
    void write(Reports.Report report) {
        host.store().writeReport(report);
    }

    /**
     * What the store has of the step. A thread of its own asks, because a body can be interrupted at any time, and an
     * interrupt in a socket read would close the connection.
     */
    Optional<Reports.Reported> last(ContextCall call) {
        Clockwork.Signal answered = host.clockwork().signal();
        AtomicReference<Optional<Reports.Reported>> answer = new AtomicReference<>(Optional.empty());
        AtomicReference<@Nullable Throwable> trouble = new AtomicReference<>();
        host.clockwork().fork("perdure-heartbeat-" + held.run().id(), () -> {
            try {
                answer.set(host.store().lastReport(held.run(), call.position()));
            } catch (RuntimeException | Error thrown) {
                trouble.set(thrown);
            } finally {
                answered.raise();
            }
        });
        try {
            answered.await(Clockwork.NEVER, Clockwork.NEVER);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unread(call, "The body was interrupted", interrupted);
        }
        Throwable unanswered = trouble.get();
        if (unanswered != null) {
            throw unread(call, "The worker lost its lease, or the store failed,", unanswered);
        }
        return answer.get();
    }

    private StoreException unread(ContextCall call, String why, Throwable cause) {
        return new StoreException(
                StoreException.Kind.UNAVAILABLE,
                "%s before the store had returned the last heartbeat of %s of run '%s'. Let this exception leave the body."
                        .formatted(why, call.describe(), held.run().id()),
                cause);
    }
}
