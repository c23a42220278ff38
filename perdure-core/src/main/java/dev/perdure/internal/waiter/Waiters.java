package dev.perdure.internal.waiter;

import dev.perdure.RunId;
import dev.perdure.internal.commit.Outage;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this process that wait for results, published values or promises of runs.
 *
 * <p>How it works. Threads of this process announce what happens here. For everything else, one loop asks the store,
 * with one query for all callers. It asks at once about runs for which a hint arrived or a wait has just begun, and
 * about all of them from time to time, because hints may be lost. While no caller waits, the loop sleeps.
 *
 * @param <K> what callers wait for
 * @param <V> what they get
 */
public final class Waiters<K, V> {
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(500);

    /** After this time a caller has waited for so long that a person may want to know why. */
    static final Duration LATE = Duration.ofSeconds(30);

    private final String name;
    private final Clockwork clockwork;
    private final Questions<K, V> questions;
    private final Clockwork.Signal look;
    private final Outage outage; // used only by the loop's thread
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<RunId, List<Waiter<K, V>>> waiters = new HashMap<>();
    private final Set<K> hinted = new HashSet<>();
    private volatile boolean closed;

    public Waiters(String name, Clockwork clockwork, Questions<K, V> questions) {
        this.name = name;
        this.clockwork = clockwork;
        this.questions = questions;
        this.look = clockwork.signal();
        this.outage = new Outage("look for " + name + " that callers wait for");
    }

    /** What the waiters of one kind ask the store. */
    interface Questions<K, V> {
        /** The run that this belongs to. */
        RunId run(K key);

        /** Whether a thread of this process will announce it, so that the loop need not ask. */
        boolean isHere(K key);

        /** Asks the store about these. Leaves out those for which there is nothing yet. */
        Map<K, V> ask(Collection<K> keys);

        /**
         * Callers have waited for longer than {@link Waiters#LATE}, each of which is told once.
         *
         * @param first what one of them waits for
         * @param callers how many they are
         */
        default void late(K first, int callers) {}
    }

    /** One caller that waits. */
    private static final class Waiter<K, V> {
        private final K key;
        private final Clockwork.Signal signal;
        private final long since;
        private volatile @Nullable V answer;
        private boolean isLate; // under the lock

        Waiter(K key, Clockwork.Signal signal, long since) {
            this.key = key;
            this.signal = signal;
            this.since = since;
        }
    }

    public void start() {
        clockwork.loop("perdure-" + name, this::loop);
    }

    public void close() {
        closed = true;
        look.raise();
        locked(() -> waiters.values().forEach(list -> list.forEach(waiter -> waiter.signal.raise())));
    }

    private void locked(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for it.
     *
     * @param timerNanos the limit in nanoseconds; {@link Clockwork#NEVER} for none
     * @return the value, or null if the time is over or the waiters are closed
     */
    public @Nullable V await(K key, long timerNanos) throws InterruptedException {
        RunId run = questions.run(key);
        Waiter<K, V> waiter = new Waiter<>(key, clockwork.signal(), clockwork.nanoTime());
        locked(() -> waiters.computeIfAbsent(run, unseen -> new ArrayList<>()).add(waiter));
        try {
            hint(run);
            boolean raised = true;
            while (raised && waiter.answer == null && !closed) {
                raised = waiter.signal.await(timerNanos, Clockwork.NEVER);
            }
            return waiter.answer;
        } finally {
            locked(() -> waiters.computeIfPresent(run, (same, list) -> {
                list.remove(waiter);
                return list.isEmpty() ? null : list;
            }));
        }
    }

    /**
     * Gives waiting callers their answer. From then on they no longer count as waiting, even before their threads have
     * noticed, so the loop does not ask for them again.
     */
    public void announce(K key, V answer) {
        locked(() -> waiters.computeIfPresent(questions.run(key), (same, list) -> {
            list.removeIf(waiter -> {
                boolean told = waiter.key.equals(key);
                if (told) {
                    waiter.answer = answer;
                    waiter.signal.raise();
                }
                return told;
            });
            return list.isEmpty() ? null : list;
        }));
    }

    /**
     * Something may have happened to a run, or the run may have left this process. A run that is in this process
     * announces when it leaves.
     */
    public void hint(RunId run) {
        locked(() -> waiters.getOrDefault(run, List.of()).stream()
                .map(waiter -> waiter.key)
                .filter(key -> !questions.isHere(key))
                .forEach(key -> {
                    hinted.add(key);
                    look.raise();
                }));
    }

    private void loop() {
        long interval = SHORTEST;
        long nextRound = clockwork.nanoTime();
        boolean raised = false;
        while (!closed) {
            boolean round = !raised || clockwork.nanoTime() - nextRound >= 0;
            boolean found = lookUp(round);
            if (round || found) {
                interval = found ? SHORTEST : Math.min(LONGEST, interval * 2);
                nextRound = clockwork.nanoTime() + interval;
            }
            raised = Waiting.housekeeping(look, nobodyWaits() ? Clockwork.NEVER : interval);
        }
    }

    private boolean lookUp(boolean all) {
        try {
            List<K> wanted = all ? takeAll() : takeHinted();
            if (wanted.isEmpty()) {
                return false;
            }
            Map<K, V> answers = questions.ask(wanted);
            outage.over();
            answers.forEach(this::announce);
            if (all) {
                tellLate();
            }
            return !answers.isEmpty();
        } catch (Throwable thrown) { // Any error: without this loop, callers would wait for ever.
            outage.noticed(thrown);
            return false;
        }
    }

    private void tellLate() {
        List<K> late = takeLate();
        if (!late.isEmpty()) {
            questions.late(late.getFirst(), late.size());
        }
    }

    private List<K> takeLate() {
        long now = clockwork.nanoTime();
        lock.lock();
        try {
            List<Waiter<K, V>> late = waiters.values().stream()
                    .flatMap(List::stream)
                    .filter(waiter ->
                            !waiter.isLate && now - waiter.since > LATE.toNanos() && !questions.isHere(waiter.key))
                    .toList();
            late.forEach(waiter -> waiter.isLate = true);
            return late.stream().map(waiter -> waiter.key).toList();
        } finally {
            lock.unlock();
        }
    }

    private boolean nobodyWaits() {
        lock.lock();
        try {
            return waiters.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** How many callers wait. */
    int callers() {
        lock.lock();
        try {
            return waiters.values().stream().mapToInt(List::size).sum();
        } finally {
            lock.unlock();
        }
    }

    private List<K> takeAll() {
        lock.lock();
        try {
            hinted.clear();
            return waiters.values().stream()
                    .flatMap(List::stream)
                    .map(waiter -> waiter.key)
                    .distinct()
                    .filter(key -> !questions.isHere(key))
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    private List<K> takeHinted() {
        lock.lock();
        try {
            List<K> taken =
                    hinted.stream().filter(key -> !questions.isHere(key)).toList();
            hinted.clear();
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
