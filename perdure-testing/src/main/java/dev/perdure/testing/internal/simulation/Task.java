package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.Change;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread of a history. It runs only while it has the turn. */
final class Task {
    /** What a task does. */
    enum State {
        /** It has the turn, or may get it. */
        READY,
        /** It waits for a signal or a time. */
        WAITING,
        ENDED
    }

    final int number;
    final String name;
    final SimulatedProcess process;
    State state = State.READY;
    /** When a wait ends by the true monotonic time. */
    long due = Clockwork.NEVER;
    /** When a wait ends by the true wall time, as nanoseconds since the beginning. */
    long wallDue = Clockwork.NEVER;
    /** Whether an interrupt ends the wait. */
    boolean interruptible;
    /** Whether it does something that takes time, and does not only wait. */
    boolean busy;
    /** How often it has waited since its process died. */
    int deadWaits;
    /** An interrupt that the thread sees when it has the turn. */
    boolean interrupted;

    /** The changes that it is committing. */
    List<Change> commits = List.of();

    private final Thread thread;
    private boolean started;
    private volatile boolean turn;

    Task(int number, String name, SimulatedProcess process, @Nullable Thread existing, Runnable code) {
        this.number = number;
        this.name = name;
        this.process = process;
        this.thread = existing == null ? Thread.ofVirtual().name(name).unstarted(code) : existing;
        this.started = existing != null;
    }

    Thread thread() {
        return thread;
    }

    boolean started() {
        return started;
    }

    /** Gives it the turn. The caller no longer has it. */
    void grant() {
        turn = true;
        if (started) {
            LockSupport.unpark(thread);
        } else {
            started = true;
            thread.start();
        }
    }

    /** Waits in its own thread until it has the turn. */
    void awaitTurn() {
        boolean flag = Thread.interrupted();
        while (!turn) {
            LockSupport.park(this);
            flag |= Thread.interrupted();
        }
        if (flag || interrupted) {
            interrupted = false;
            thread.interrupt();
        }
    }

    boolean hasTurn() {
        return turn;
    }

    /** It has the turn, and uses it. */
    void begin() {
        turn = false;
    }

    @Override
    public String toString() {
        return process.name() + "/" + name;
    }
}
