package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the threads of one history, one at a time.
 *
 * <p>How it works. There is one turn. The task that has it runs until it waits or ends, then chooses the next task
 * among those that can run, by the seed, and passes the turn on. When none can run, time moves to the end of the first
 * wait. There are two times. The monotonic time moves by waits of every kind. When nothing but housekeeping has
 * happened for a while, the wall time skips to the next timer of a workflow and the monotonic time stays: a workflow
 * may sleep for a month, and no history has to renew leases for a month.
 *
 * <p>Because only the holder of the turn touches anything, no field needs a lock. The turn itself publishes them.
 */
public final class Scheduler {
    /** The duration of one turn, so that a loop that only yields moves time too. */
    private static final long TURN_NANOS = 10_000;

    /** How long housekeeping may take to repair everything: a lease, a restart, a sweep, a look for forgotten runs. */
    private static final long REPAIR_NANOS = World.leases(4.5);

    private static final int QUIET_WAITS = 6;

    private final Choices choices;
    private final Timeline timeline;
    private final List<Task> tasks = new ArrayList<>();
    private final List<Task> ready = new ArrayList<>();
    private final SimulatedProcess outside;
    private final Task driver;
    private final Watchdog watchdog;
    private Task closer;
    private Task current;
    private long now;
    private long skipped;
    private long lastActivity;
    private long troubleUntil;
    private long turns;
    private int numbers;
    private long mostTurns = 400_000;
    private long idleNanos = Duration.ofSeconds(10).toNanos();
    private Supplier<String> situation = () -> "";
    private @Nullable Task urgent;
    private @Nullable Task unwinder;
    private @Nullable Throwable failure;
    private volatile boolean over;
    /** A thread from outside used the engine. The history fails, also if that thread ignores it. */
    private volatile @Nullable IllegalStateException intruder;

    /** For one history, to be run by the thread that calls this. */
    public Scheduler(Choices choices, Timeline timeline) {
        this.choices = choices;
        this.timeline = timeline;
        this.outside = new SimulatedProcess("outside", this, choices, false);
        this.driver = new Task(0, "driver", outside, Thread.currentThread(), () -> {});
        this.current = driver;
        this.closer = driver;
        this.watchdog = new Watchdog(driver);
    }

    /** Describes the situation in the message of a history that does not end. */
    void situation(Supplier<String> description) {
        situation = description;
    }

    /** The wall time may skip when only housekeeping has happened for this long. */
    void idle(long nanos) {
        idleNanos = nanos;
    }

    /** How long a thread may have the turn, in real time. */
    void patience(Duration most) {
        watchdog.patience(most);
    }

    /** The most turns that a history may take. */
    void mostTurns(long most) {
        mostTurns = most;
    }

    Choices choices() {
        return choices;
    }

    Timeline timeline() {
        return timeline;
    }

    /** The true monotonic time. */
    long now() {
        return now;
    }

    /** The true wall time, as nanoseconds since the beginning. */
    long wall() {
        return now + skipped;
    }

    /** Whether the history has ended, and only its threads still have to. */
    boolean isOver() {
        return over;
    }

    /** How many turns there were. */
    public long turns() {
        return turns;
    }

    /** A fault has happened, and housekeeping has to repair it before the next timer of a workflow. */
    void trouble() {
        troubleUntil = now + REPAIR_NANOS;
    }

    /** Something happened that is not housekeeping. */
    void active() {
        lastActivity = now;
    }

    SimulatedProcess outside() {
        return outside;
    }

    /** The process whose code runs now. */
    SimulatedProcess process() {
        return current().process;
    }

    private Task current() {
        Task task = current;
        if (!Thread.currentThread().equals(task.thread())) {
            IllegalStateException refused = new IllegalStateException(
                    "The thread '%s' is not part of the simulation, and used the engine. In a simulated test, start threads with Simulation.run, and await runs where they were started."
                            .formatted(Thread.currentThread().getName()));
            intruder = refused;
            throw refused;
        }
        return task;
    }

    // ---- what tasks do

    /** A new task, which can run from now on. */
    Task fork(SimulatedProcess process, String name, Runnable code) {
        Task caller = current();
        if (process.isDead()) {
            if (caller.process.isDead()) {
                throw new Killed();
            }
            return driver;
        }
        Task[] self = new Task[1];
        Task task = new Task(++numbers, name, process, null, () -> run(self[0], code));
        self[0] = task;
        tasks.add(task);
        active();
        return task;
    }

    private void run(Task task, Runnable code) {
        task.awaitTurn();
        task.begin();
        watchdog.holds(task);
        try {
            if (!task.process.isDead()) {
                code.run();
            }
        } catch (Killed end) {
            // as intended: the process has died
        } catch (Throwable thrown) {
            if (!task.process.isDead()) {
                fail(new IllegalStateException("A thread of the engine failed: " + task, thrown));
            }
        }
        task.state = Task.State.ENDED;
        tasks.remove(task);
        pass(unwinder == null ? choose() : unwinder);
    }

    /**
     * Waits in the current task until the signal is raised or a time comes. Returns when the task has the turn again.
     * It also returns when the process has died: then the engine's loops notice that and end without logging anything.
     */
    void await(long due, long wallDue, boolean interruptible) {
        Task me = current();
        if (!endsQuietly(me)) {
            me.state = Task.State.WAITING;
            me.due = due;
            me.wallDue = wallDue;
            me.interruptible = interruptible;
            passOn(me);
            endsQuietly(me);
        }
    }

    /**
     * Whether the process of the task has died, and the task should notice that by itself. It has a few chances to do
     * so.
     */
    private boolean endsQuietly(Task me) {
        if (!me.process.isDead()) {
            return false;
        }
        me.deadWaits++;
        if (me.deadWaits > QUIET_WAITS || me.busy) {
            throw new Killed();
        }
        return true;
    }

    /** Whether the current task has a chance left to notice by itself that its process has died. */
    boolean mayEndQuietly() {
        Task me = current();
        me.deadWaits++;
        return me.deadWaits <= QUIET_WAITS;
    }

    /** Lets others run first. */
    void giveWay() {
        Task me = current();
        requireAlive(me);
        yieldTurn(me);
    }

    /** Waits in the current task, whatever happens meanwhile. */
    void pause(long nanos) {
        long until = now + nanos;
        Task me = current();
        me.busy = true;
        try {
            do {
                await(until, Clockwork.NEVER, false);
            } while (now < until);
        } finally {
            me.busy = false;
        }
    }

    /** Waits for a signal. The wait counts as work that takes time. */
    boolean busily(Clockwork.Signal signal, long nanos) throws InterruptedException {
        Task me = current();
        me.busy = true;
        try {
            return signal.await(Clockwork.NEVER, nanos);
        } finally {
            me.busy = false;
        }
    }

    Task waiter() {
        return current();
    }

    /** Ends the wait of a task. */
    void wake(Task task) {
        if (task.state == Task.State.WAITING) {
            task.state = Task.State.READY;
            active();
        }
    }

    /** Ends the wait of a task at this time at the latest. */
    void wakeBy(Task task, long due) {
        task.due = Math.min(task.due, due);
        active();
    }

    void interrupt(Thread thread) {
        if (thread.equals(Thread.currentThread())) {
            thread.interrupt();
            return;
        }
        for (Task task : tasks) {
            if (thread.equals(task.thread())) {
                task.interrupted = true;
                if (task.interruptible) {
                    wake(task);
                }
            }
        }
    }

    private static void requireAlive(Task me) {
        if (me.process.isDead()) {
            throw new Killed();
        }
    }

    private void yieldTurn(Task me) {
        passOn(me);
        requireAlive(me);
    }

    private void passOn(Task me) {
        Task next = choose();
        if (next != me) {
            pass(next);
            me.awaitTurn();
            me.begin();
            watchdog.holds(me);
        } else if (me.interrupted) {
            me.interrupted = false;
            me.thread().interrupt();
        }
    }

    private void pass(Task next) {
        current = next;
        watchdog.passed();
        next.grant();
    }

    // ---- choosing

    private Task choose() {
        if (failure != null || over) {
            return closer;
        }
        if (++turns > mostTurns) {
            fail(new SimulationFailure.Stuck("The history did not end within %s turns, %s of virtual time. %s"
                    .formatted(mostTurns, Duration.ofNanos(wall()), situation.get())));
            return closer;
        }
        now += TURN_NANOS;
        if (urgent != null) {
            Task first = urgent;
            urgent = null;
            return first;
        }
        while (true) {
            long next = collect();
            if (!ready.isEmpty()) {
                Task chosen = ready.get(choices.pick(ready.size()));
                chosen.state = Task.State.READY;
                chosen.due = Clockwork.NEVER;
                chosen.wallDue = Clockwork.NEVER;
                return chosen;
            }
            if (next == Clockwork.NEVER) {
                fail(new SimulationFailure.Stuck(
                        "Nothing can run and no timer is set, so this history never ends. " + situation.get()));
                return closer;
            }
            now = Math.max(now, next);
        }
    }

    /** Collects the tasks that can run. If there are none, returns the time when one can. */
    private long collect() {
        ready.clear();
        long next = Clockwork.NEVER;
        long nextWall = Clockwork.NEVER;
        long wall = wall();
        boolean busy = now < troubleUntil;
        for (int i = 0; i < tasks.size(); i++) { // without an iterator, because this is done at each turn
            Task task = tasks.get(i);
            long frozenUntil = task.process.frozenUntil();
            busy |= task.busy;
            if (frozenUntil > now) {
                busy = true;
                next = Math.min(next, frozenUntil);
            } else if (task.state == Task.State.READY || task.due <= now || task.wallDue <= wall) {
                ready.add(task);
            } else {
                next = Math.min(next, task.due);
                nextWall = Math.min(nextWall, task.wallDue);
            }
        }
        if (!ready.isEmpty() || nextWall == Clockwork.NEVER) {
            return next;
        }
        long inWall = nextWall - skipped;
        if (inWall > next && !busy && now - lastActivity > idleNanos) {
            skipped += inWall - next;
            lastActivity = now;
            return next;
        }
        return Math.min(next, inWall);
    }

    // ---- the end of a process, and of the history

    /** Ends a process at once, with all its threads. If it is the caller's own, the caller does not return. */
    void kill(SimulatedProcess process) {
        Task me = current();
        requireAlive(me);
        if (me.process != process) {
            killNow(process);
            return;
        }
        Task[] self = new Task[1];
        Task reaper = new Task(++numbers, "reaper", outside, null, () -> run(self[0], () -> killNow(process)));
        self[0] = reaper;
        tasks.add(reaper);
        urgent = reaper;
        me.state = Task.State.WAITING;
        me.due = Clockwork.NEVER;
        me.wallDue = Clockwork.NEVER;
        me.interruptible = false;
        yieldTurn(me);
    }

    private void killNow(SimulatedProcess process) {
        if (process.die()) {
            unwind(task -> task.process == process);
        }
    }

    /** Lets the threads of dead processes end, one after another. */
    private void unwind(Predicate<Task> dead) {
        Task me = current;
        Task before = unwinder;
        for (Task task : List.copyOf(tasks)) {
            if (task == me || !dead.test(task) || task.state == Task.State.ENDED) {
                continue;
            }
            if (!task.started()) {
                task.state = Task.State.ENDED;
                tasks.remove(task);
                continue;
            }
            unwinder = me;
            pass(task);
            me.awaitTurn();
            me.begin();
            watchdog.holds(me);
        }
        unwinder = before;
    }

    /** The history has failed, and ends at the next turn. */
    void fail(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        }
    }

    /**
     * Runs a history: this code, and everything that it starts.
     *
     * @param processes all processes, to end them
     * @throws Throwable what the code or the history failed with
     */
    void run(SimulatedProcess home, Runnable code, Supplier<List<SimulatedProcess>> processes) throws Throwable {
        Task main = fork(home, "test", () -> {
            try {
                code.run();
            } catch (Killed end) {
                throw end;
            } catch (Throwable thrown) {
                fail(thrown);
            }
            over = true;
        });
        Task[] last = new Task[1];
        closer = new Task(++numbers, "end", outside, null, () -> close(last[0], processes));
        last[0] = closer;
        watchdog.holds(main);
        pass(main);
        watchdog.awaitDriver();
        if (failure != null) {
            throw failure;
        }
        if (intruder != null) {
            throw intruder;
        }
    }

    /** Ends all processes with their threads, in a virtual thread too: the driver is slow to wake. */
    private void close(Task me, Supplier<List<SimulatedProcess>> processes) {
        me.awaitTurn();
        me.begin();
        watchdog.holds(me);
        over = true;
        try {
            for (SimulatedProcess process : processes.get()) {
                process.die();
            }
            outside.die();
            unwindAll(me);
        } catch (RuntimeException | Error atTheEnd) {
            fail(atTheEnd);
        }
        pass(driver);
    }

    private void unwindAll(Task me) {
        unwinder = me;
        while (!tasks.isEmpty()) {
            Task task = tasks.getFirst();
            if (!task.started()) {
                tasks.remove(task);
                continue;
            }
            pass(task);
            me.awaitTurn();
            me.begin();
            watchdog.holds(me);
            if (tasks.contains(task)) {
                throw new IllegalStateException("A thread did not end with its process: " + task);
            }
        }
    }
}
