package dev.perdure.testing;

import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time. It moves only when a test allows it, and only when nothing can run.
 *
 * <p>How it works. Every engine thread is either busy or waits for a {@link Clockwork.Signal}. A thread counts as busy
 * from the moment another thread wakes it. The thread of the test drives the time while it waits, for a result or in
 * {@link #advance}. A test may have several threads: one that is in a call of the engine counts as busy, unless it waits
 * there, and one of them drives at a time. When no thread is busy, it lets the engine do its housekeeping twice, to find what a lost hint
 * would delay. If that wakes no thread, it moves the wall time to the next timer of a workflow. Step bodies block in
 * real time; meanwhile the engine does its housekeeping in real time too. The monotonic time, by which the engine keeps
 * leases, does not move at all.
 */
public final class VirtualClockwork implements Clockwork {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration BLOCKED = Duration.ofMillis(50);
    private static final int QUIET_TICKS = 2;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<VirtualSignal> waiting = new LinkedHashSet<>();
    private final Set<Thread> engineThreads = ConcurrentHashMap.newKeySet();
    private final SplittableRandom random;
    private volatile Instant now = Instant.parse("2030-01-01T00:00:00Z");
    private final Set<Thread> callers = new HashSet<>();
    private int busy;
    private long activity;
    private Supplier<String> situation = () -> "";

    /** Starts at 2030-01-01T00:00:00Z, with random numbers from this seed. */
    public VirtualClockwork(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Adds a description of the runs to the message of a wait that can never end. */
    void situation(Supplier<String> description) {
        situation = description;
    }

    @Override
    public Instant now() {
        return now;
    }

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public long random() {
        return locked(random::nextLong);
    }

    @Override
    public Signal signal() {
        return new VirtualSignal();
    }

    @Override
    public void fork(String name, Runnable task) {
        locked(() -> {
            busy++;
            activity++;
            return true;
        });
        Thread.ofVirtual().name(name).start(() -> {
            engineThreads.add(Thread.currentThread());
            try {
                task.run();
            } finally {
                engineThreads.remove(Thread.currentThread());
                locked(this::becomeIdle);
            }
        });
    }

    @Override
    public void loop(String name, Runnable task) {
        fork(name, task);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        return SystemClockwork.realAlarm(delay, task);
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    private boolean becomeIdle() {
        busy--;
        changed.signalAll();
        return true;
    }

    /** A thread of the test is busy from now on. Returns false if it is so already, or is one of the engine. */
    boolean enterCall() {
        return !engineThreads.contains(Thread.currentThread()) && locked(this::enter);
    }

    /** @param outermost what {@link #enterCall()} has returned */
    void leaveCall(boolean outermost) {
        if (outermost) {
            locked(this::leave);
        }
    }

    private boolean enter() {
        boolean outermost = callers.add(Thread.currentThread());
        busy += outermost ? 1 : 0;
        return outermost;
    }

    /** Whether the thread was in a call. */
    private boolean leave() {
        return callers.remove(Thread.currentThread()) && becomeIdle();
    }

    // ---- driving

    /** Waits until nothing can run any more, without moving time. */
    public void settle() {
        lock.lock();
        try {
            settleLocked(() -> false);
        } finally {
            lock.unlock();
        }
    }

    /** Moves time forward, timer by timer, and lets everything run that becomes due on the way. */
    public void advance(Duration duration) {
        lock.lock();
        try {
            Instant target = now.plus(duration);
            settleLocked(() -> false);
            Optional<Instant> next = nextTimer();
            while (next.isPresent() && !next.get().isAfter(target)) {
                moveTo(next.get());
                settleLocked(() -> false);
                next = nextTimer();
            }
            moveTo(target);
            settleLocked(() -> false);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no thread is busy and housekeeping wakes none, or until the condition holds. */
    private void settleLocked(Supplier<Boolean> enough) {
        int quiet = 0;
        awaitIdle(enough);
        while (quiet < QUIET_TICKS && !enough.get()) {
            long before = activity;
            runHousekeeping();
            awaitIdle(enough);
            quiet = activity == before ? quiet + 1 : 0;
        }
    }

    private void runHousekeeping() {
        for (VirtualSignal signal : List.copyOf(waiting)) {
            if (signal.wantsHousekeeping) {
                signal.release(false);
            }
        }
    }

    private void awaitIdle(Supplier<Boolean> enough) {
        long left = TIMEOUT.toNanos();
        while (busy > 0 && !enough.get()) {
            if (left <= 0) {
                throw new IllegalStateException(
                        "An engine thread has been busy for %s of real time: a step body blocks, or workflow code loops. %s"
                                .formatted(TIMEOUT, situation.get()));
            }
            try {
                long slice = Math.min(left, BLOCKED.toNanos());
                long unused = changed.awaitNanos(slice);
                left -= slice - unused;
                if (unused <= 0) {
                    runHousekeeping(); // a step body blocks in real time
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("The test thread was interrupted.", interrupted);
            }
        }
    }

    private Optional<Instant> nextTimer() {
        return waiting.stream()
                .filter(signal -> signal.timer != null)
                .map(signal -> signal.timer)
                .min(Comparator.naturalOrder());
    }

    private void moveTo(Instant time) {
        if (time.isAfter(now)) {
            now = time;
        }
        for (VirtualSignal signal : List.copyOf(waiting)) {
            if (signal.timer != null && !signal.timer.isAfter(now)) {
                signal.release(false);
                activity++;
            }
        }
    }

    private final class VirtualSignal implements Signal {
        private final Condition released = lock.newCondition();
        private boolean raised;
        private boolean free = true;
        private boolean wantsHousekeeping;
        private @Nullable Instant timer;

        @Override
        public void raise() {
            lock.lock();
            try {
                activity += raised ? 0 : 1;
                raised = true;
                release(true);
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Releases the waiting thread, which counts as busy from now on. */
        private void release(boolean byRaise) {
            if (!free) {
                free = true;
                busy++;
                waiting.remove(this);
                raised = byRaise;
                released.signal();
            }
        }

        @Override
        public boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException {
            lock.lockInterruptibly();
            try {
                timer = timerNanos == NEVER ? null : now.plusNanos(timerNanos);
                wantsHousekeeping = housekeepingNanos != NEVER;
                if (!raised) {
                    if (engineThreads.contains(Thread.currentThread())) {
                        block();
                    } else {
                        driveBesideOthers();
                    }
                }
                boolean was = raised;
                raised = false;
                return was;
            } finally {
                lock.unlock();
            }
        }

        private void block() throws InterruptedException {
            free = false;
            waiting.add(this);
            becomeIdle();
            try {
                while (!free) {
                    released.await();
                }
            } catch (InterruptedException interrupted) {
                release(false);
                throw interrupted;
            }
        }

        /** A thread of the test that waits is not busy, so that another one may drive. */
        private void driveBesideOthers() {
            boolean calls = leave();
            try {
                drive();
            } finally {
                if (calls) {
                    enter();
                }
            }
        }

        /**
         * Called while the test's thread waits: moves time forward until the signal is raised or its own timer ends. A
         * wait for housekeeping, such as that before a commit is sent again, also ends when nothing else can happen.
         */
        private void drive() {
            while (!raised && (timer == null || timer.isAfter(now))) {
                settleLocked(() -> raised);
                if (!raised) {
                    Instant next = earliest(nextTimer().orElse(null), timer);
                    if (next == null && wantsHousekeeping) {
                        return;
                    }
                    if (next == null) {
                        throw new IllegalStateException(
                                "Nothing can run and no timer is set, so this wait would never end. "
                                        + situation.get());
                    }
                    moveTo(next);
                }
            }
        }
    }

    private static @Nullable Instant earliest(@Nullable Instant one, @Nullable Instant other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.isBefore(other) ? one : other;
    }

    /** The number of engine threads, busy or waiting. Lets a test check that all have ended. */
    public int threads() {
        return engineThreads.size();
    }

    /** Waits in real time until all engine threads have ended. Returns whether they have. */
    boolean awaitNoThreads() {
        lock.lock();
        try {
            for (long left = TIMEOUT.toMillis(); !engineThreads.isEmpty() && left > 0; left--) {
                runHousekeeping();
                var unused = changed.await(1, TimeUnit.MILLISECONDS);
            }
            return engineThreads.isEmpty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
