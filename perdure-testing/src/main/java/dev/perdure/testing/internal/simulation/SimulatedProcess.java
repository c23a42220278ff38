package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A process of a history: the clockwork of one engine. Its clocks may be wrong by an offset and by a drift; it can
 * stand still, and it can die.
 */
public final class SimulatedProcess implements Clockwork {
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");
    /** One in a thousand, far more than a real clock. */
    private static final long MOST_DRIFT_PPM = 1_000;

    private final String name;
    private final Scheduler scheduler;
    private final Choices choices;
    private final long offsetNanos;
    private final long driftPpm;
    private long frozenUntil;
    private long unawareUntil;
    private boolean dead;
    private Runnable lastWord = () -> {};

    SimulatedProcess(String name, Scheduler scheduler, Choices choices, boolean mayBeWrong) {
        this.name = name;
        this.scheduler = scheduler;
        this.choices = choices;
        boolean wrong = mayBeWrong && choices.happens(Fault.CLOCK);
        this.offsetNanos = wrong
                ? choices.between(
                        -Duration.ofHours(1).toNanos(), Duration.ofMinutes(10).toNanos())
                : 0;
        this.driftPpm = wrong ? choices.between(-MOST_DRIFT_PPM, MOST_DRIFT_PPM) : 0;
    }

    /** Its name in a timeline. */
    public String name() {
        return name;
    }

    /** Whether its clock differs from the true one. */
    boolean isClockWrong() {
        return offsetNanos != 0;
    }

    /** Whether it has died. */
    public boolean isDead() {
        return dead;
    }

    /** Called once, when it dies. */
    void lastWord(Runnable code) {
        lastWord = code;
    }

    /** Stops all its threads for good. Returns whether it was alive. */
    boolean die() {
        if (dead) {
            return false;
        }
        dead = true;
        lastWord.run();
        return true;
    }

    /** Makes it stand still for this long. */
    void freeze(long nanos) {
        frozenUntil = Math.max(frozenUntil, scheduler.now() + nanos);
    }

    /** Until when it stands still, or stood still the last time. */
    long frozenUntil() {
        return frozenUntil;
    }

    /** The store takes it for dead. It learns that when it next asks, or when its lease ends, whichever is first. */
    void takenForDead() {
        unawareUntil = scheduler.now() + World.leases(1);
    }

    /** Until when it may not know that it has lost its runs: it stands still, or the store has taken it for dead. */
    public long unawareUntil() {
        return Math.max(frozenUntil, unawareUntil);
    }

    private long drifted(long trueNanos) {
        return driftPpm == 0 ? trueNanos : trueNanos + (long) Math.floor(trueNanos * (driftPpm * 1e-6));
    }

    /**
     * The true time that passes while this process's clock moves by this much. Rounded up, so that no wait ends early.
     */
    private long trueNanos(long ownNanos) {
        return driftPpm == 0 ? ownNanos : ownNanos - ownNanos / (1_000_000 + driftPpm) * driftPpm + 2_000;
    }

    @Override
    public Instant now() {
        return BEGINNING.plusNanos(offsetNanos + drifted(scheduler.wall()));
    }

    @Override
    public long nanoTime() {
        return drifted(scheduler.now());
    }

    @Override
    public long random() {
        return choices.bits();
    }

    @Override
    public Signal signal() {
        return new SimulatedSignal();
    }

    @Override
    public void fork(String taskName, Runnable task) {
        scheduler.fork(this, taskName, task);
    }

    @Override
    public void loop(String taskName, Runnable task) {
        scheduler.fork(this, taskName, task);
    }

    @Override
    public void giveWay() {
        scheduler.giveWay();
    }

    @Override
    public void interrupt(Thread thread) {
        scheduler.interrupt(thread);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        SimulatedSignal off = new SimulatedSignal();
        scheduler.fork(this, "perdure-alarm", () -> {
            if (!off.awaitQuietly(delay.toNanos())) {
                task.run();
            }
        });
        return off::raise;
    }

    private final class SimulatedSignal implements Signal {
        private boolean raised;
        private @Nullable Task waiting;

        @Override
        public void raise() {
            raised = true;
            Task waiter = waiting;
            if (waiter != null) {
                scheduler.wake(waiter);
            }
        }

        @Override
        public boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (!raised) {
                waitUntil(due(scheduler.now(), housekeepingNanos), due(scheduler.wall(), timerNanos), true);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            boolean was = raised;
            raised = false;
            return was;
        }

        boolean awaitQuietly(long nanos) {
            if (!raised) {
                waitUntil(due(scheduler.now(), nanos), NEVER, false);
            }
            return raised;
        }

        private void waitUntil(long due, long wallDue, boolean interruptible) {
            waiting = scheduler.waiter();
            try {
                scheduler.await(due, wallDue, interruptible);
            } finally {
                waiting = null;
            }
        }

        private long due(long from, long nanos) {
            long own = nanos == NEVER ? NEVER : trueNanos(nanos);
            return own >= NEVER - from ? NEVER : from + Math.max(0, own);
        }
    }
}
