package dev.perdure.internal.time;

import dev.perdure.spi.Clockwork;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The clockwork for production. It reads the wall time once and continues it with the monotonic clock, so that a change
 * of the system clock cannot make a timer fire early.
 */
public final class SystemClockwork implements Clockwork {
    private final Instant startedAt = Instant.now();
    private final long startedNanos = System.nanoTime();
    private final SecureRandom chance = new SecureRandom();

    @Override
    public Instant now() {
        return startedAt.plusNanos(System.nanoTime() - startedNanos);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long random() {
        return chance.nextLong();
    }

    @Override
    public Signal signal() {
        return new SystemSignal();
    }

    /**
     * The thread inherits no thread locals: a run that happens to begin on the thread of a request, or of another run, has
     * neither its MDC nor its user.
     */
    @Override
    public void fork(String name, Runnable task) {
        Thread thread = Thread.ofVirtual()
                .name(name)
                .inheritInheritableThreadLocals(false)
                .unstarted(task);
        // Without that, the class loader would be the system's, which does not know the classes of many applications.
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        thread.start();
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // nothing depends on it; a virtual thread goes to the end of its queue
    public void giveWay() {
        Thread.yield();
    }

    @Override
    public void giveWay(Signal signal, Duration atMost) {
        Waiting.housekeeping(signal, atMost.toNanos());
    }

    @Override
    public void loop(String name, Runnable task) {
        Thread.ofPlatform().daemon().name(name).start(task);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        return realAlarm(delay, task);
    }

    /** An alarm in real time, for any clockwork. */
    public static Runnable realAlarm(Duration delay, Runnable task) {
        CompletableFuture<Boolean> due =
                new CompletableFuture<Boolean>().completeOnTimeout(true, delay.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Void> rung = due.thenAccept(yes -> task.run());
        return () -> {
            due.cancel(false);
            rung.cancel(false);
        };
    }

    private static final class SystemSignal implements Signal {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition raisedNow = lock.newCondition();
        private boolean raised;

        @Override
        public void raise() {
            lock.lock();
            try {
                raised = true;
                raisedNow.signal();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException {
            long nanos = Math.min(timerNanos, housekeepingNanos);
            lock.lockInterruptibly();
            try {
                while (!raised && nanos > 0) {
                    if (nanos == NEVER) {
                        raisedNow.await();
                    } else {
                        nanos = raisedNow.awaitNanos(nanos);
                    }
                }
                boolean was = raised;
                raised = false;
                return was;
            } finally {
                lock.unlock();
            }
        }
    }
}
