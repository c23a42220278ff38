package dev.perdure.testing.internal.simulation;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Watches that the turn does not stand still. A thread of a history that blocks outside of the simulation would block
 * all of it; the thread that runs the history, which only waits, notices that and says where the other one stands.
 */
final class Watchdog {
    private static final long LOOK_NANOS = Duration.ofMillis(200).toNanos();

    private final Task driver;
    private final AtomicLong handOvers = new AtomicLong();
    private volatile Task holder;
    private Duration patience = Duration.ofSeconds(10);

    Watchdog(Task driver) {
        this.driver = driver;
        this.holder = driver;
    }

    /** How long a thread may have the turn, in real time. */
    void patience(Duration most) {
        patience = most;
    }

    /** The turn is passed on. */
    void passed() {
        handOvers.incrementAndGet();
    }

    /** This task has the turn, and uses it. */
    void holds(Task task) {
        holder = task;
    }

    /** Waits in the driver's thread until it has the turn. */
    void awaitDriver() {
        long seen = handOvers.get();
        long since = System.nanoTime();
        while (!driver.hasTurn()) {
            LockSupport.parkNanos(driver, LOOK_NANOS);
            if (handOvers.get() != seen) {
                seen = handOvers.get();
                since = System.nanoTime();
            } else if (System.nanoTime() - since > patience.toNanos() && !driver.hasTurn()) {
                throw blocked();
            }
        }
        driver.begin();
        holds(driver);
    }

    private IllegalStateException blocked() {
        Task task = holder;
        IllegalStateException refused = new IllegalStateException(
                "The thread '%s' has had the turn for %s and neither waits in the simulation nor ends (%s). Code in a simulation must not block outside of it: use Simulation.pause instead of Thread.sleep, and no locks, queues or futures that another thread of the history holds. Its stack is the cause of this error."
                        .formatted(task, patience, task.thread().getState()));
        Throwable where = new Throwable("where the thread stands");
        where.setStackTrace(task.thread().getStackTrace());
        refused.initCause(where);
        return refused;
    }
}
