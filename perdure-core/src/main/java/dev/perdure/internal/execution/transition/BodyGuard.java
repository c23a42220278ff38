package dev.perdure.internal.execution.transition;

import dev.perdure.spi.Clockwork;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs step bodies so that only they can be interrupted. An interrupt of a thread in a socket read closes the
 * connection, and with it a whole batch of other runs. So the guard interrupts only while a body runs, under a lock
 * that the body's end takes too, and clears the flag before anything else happens on the thread.
 */
public final class BodyGuard {
    /** Why a body was interrupted; stronger causes come last. */
    public enum Cause {
        TIMEOUT,
        DEADLINE,
        CANCEL,
        /** The worker lost the run: the result of the body is ignored. */
        LOST,
        /**
         * Another thread has taken the run over: the result of the body is ignored, and its thread writes nothing more.
         */
        ABANDONED
    }

    /**
     * The body was interrupted for this reason.
     *
     * <p>What the body threw is not its cause: a connection that the interrupt has closed says nothing about the
     * database.
     */
    public static final class Interrupted extends Exception {
        private static final long serialVersionUID = 1L;

        private final Cause why;
        private final @Nullable Throwable fromBody;

        Interrupted(Cause why, @Nullable Throwable fromBody) {
            super(why.name(), null, false, false);
            this.why = why;
            this.fromBody = fromBody;
        }

        public Cause why() {
            return why;
        }

        /** What the body threw; null if it returned a result. */
        public @Nullable Throwable fromBody() {
            return fromBody;
        }
    }

    private final Clockwork clockwork;
    private final boolean forOneBody;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Thread inBody;
    private @Nullable Cause cause;
    private long bodies;

    public BodyGuard(Clockwork clockwork) {
        this(clockwork, false);
    }

    /**
     * What else of the run several threads share is under the same lock, because a run at work has it all in memory. No
     * one waits for anything while it holds the lock.
     */
    public ReentrantLock lock() {
        return lock;
    }

    private BodyGuard(Clockwork clockwork, boolean forOneBody) {
        this.clockwork = clockwork;
        this.forOneBody = forOneBody;
    }

    /** For one body on its own thread. It can be interrupted before that thread has reached it. */
    public static BodyGuard forOneBody(Clockwork clockwork) {
        return new BodyGuard(clockwork, true);
    }

    /**
     * Runs a body. If a cancel or the deadline interrupts it and it still returns a result, the result counts, because
     * the effect has happened. A result after a timeout, or after the run was given up, does not count.
     *
     * @param limits after which it is interrupted; null for none
     */
    public <T extends @Nullable Object> T run(Callable<T> body, @Nullable BodyLimits limits) throws Exception {
        long number = enter();
        Runnable alarmOff = limits == null ? () -> {} : limits.arm(clockwork, () -> timeOut(number));
        T result;
        try {
            result = body.call();
        } catch (Throwable thrown) {
            Cause why = leave(alarmOff);
            if (why != null) {
                throw new Interrupted(why, thrown);
            }
            throw thrown;
        }
        Cause why = leave(alarmOff);
        if (why != null && why != Cause.DEADLINE && why != Cause.CANCEL) {
            throw new Interrupted(why, null);
        }
        return result;
    }

    /** An alarm may ring after its body has ended, while the next one runs. It applies to one body only. */
    private void timeOut(long number) {
        lock.lock();
        try {
            if (number == bodies) {
                interrupt(Cause.TIMEOUT);
            }
        } finally {
            lock.unlock();
        }
    }

    private long enter() {
        lock.lock();
        try {
            if (cause != Cause.ABANDONED && !forOneBody) {
                cause = null;
            }
            inBody = Thread.currentThread();
            if (forOneBody && cause != null) {
                clockwork.interrupt(inBody);
            }
            return ++bodies;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Cause leave(Runnable alarmOff) {
        alarmOff.run();
        lock.lock();
        try {
            inBody = null;
            return cause;
        } finally {
            var unused = Thread.interrupted();
            lock.unlock();
        }
    }

    /** Interrupts the body that runs now, if there is one, unless a stronger cause has interrupted it. */
    public void interrupt(Cause why) {
        lock.lock();
        try {
            boolean open = inBody != null || (forOneBody && bodies == 0);
            if (open && (cause == null || cause.compareTo(why) < 0)) {
                cause = why;
                if (inBody != null) {
                    clockwork.interrupt(inBody);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the run from the thread whose body runs now.
     *
     * @return whether a body ran: then its thread writes nothing more, and the caller has to make the run leave memory
     */
    public boolean abandon() {
        lock.lock();
        try {
            boolean first = inBody != null && cause != Cause.ABANDONED;
            interrupt(Cause.ABANDONED);
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a body runs now. */
    public boolean isInBody() {
        lock.lock();
        try {
            return inBody != null;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the body has run out of its time, and nothing stronger has interrupted it since. */
    public boolean isTimedOut() {
        lock.lock();
        try {
            return cause == Cause.TIMEOUT;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the run was taken from its thread. */
    public boolean abandoned() {
        lock.lock();
        try {
            return cause == Cause.ABANDONED;
        } finally {
            lock.unlock();
        }
    }
}
