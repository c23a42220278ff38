package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.StoreException;
import dev.perdure.internal.execution.Departure;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Runs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where callers wait for results.
 *
 * <p>How it works. A run that ends in this process is announced here by its execution. For the others one loop asks the
 * store, in one question for all waiters: at once about runs that somebody hinted at or just began to wait for, and about
 * all of them every now and then, because hints may be lost. While nobody waits it sleeps.
 */
final class Board {
    private static final Logger LOG = LoggerFactory.getLogger(Board.class);
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(500);

    private final Runs runs;
    private final Clockwork clockwork;
    private final Predicate<RunRef> isHere;
    private final Clockwork.Signal look;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<RunId, List<Waiter>> waiters = new HashMap<>();
    private final Set<RunRef> hinted = new HashSet<>();
    private volatile boolean closed;

    Board(Runs runs, Clockwork clockwork, Predicate<RunRef> isHere) {
        this.runs = runs;
        this.clockwork = clockwork;
        this.isHere = isHere;
        this.look = clockwork.signal();
    }

    /** One caller who waits. */
    private static final class Waiter {
        private final RunRef run;
        private final Clockwork.Signal signal;
        private volatile Runs.@Nullable Ended ended;

        Waiter(RunRef run, Clockwork.Signal signal) {
            this.run = run;
            this.signal = signal;
        }
    }

    void start() {
        clockwork.loop("perdure-results", this::loop);
    }

    void close() {
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
     * Waits for a run to end.
     *
     * @param timerNanos how long at most; {@link Clockwork#NEVER} for no limit
     * @return how it ended, or null when the time is over or the board is closed
     */
    Runs.@Nullable Ended await(RunRef run, long timerNanos) throws InterruptedException {
        Waiter waiter = new Waiter(run, clockwork.signal());
        locked(() ->
                waiters.computeIfAbsent(run.id(), unseen -> new ArrayList<>()).add(waiter));
        try {
            if (!isHere.test(run)) {
                hint(run.id());
            }
            boolean raised = true;
            while (raised && waiter.ended == null && !closed) {
                raised = waiter.signal.await(timerNanos, Clockwork.NEVER);
            }
            return waiter.ended;
        } finally {
            locked(() -> waiters.computeIfPresent(run.id(), (same, list) -> {
                list.remove(waiter);
                return list.isEmpty() ? null : list;
            }));
        }
    }

    /** A run ended in this process. */
    void ended(RunRef run, Departure.Ended ended) {
        announce(new Runs.Ended(run, ended.state(), ended.outcome(), ended.reason()));
    }

    /** Who has been told does not wait any more, also before his thread has come to notice: nobody asks for him again. */
    private void announce(Runs.Ended ended) {
        locked(() -> {
            List<Waiter> told = waiters.remove(ended.run().id());
            if (told != null) {
                told.forEach(waiter -> {
                    waiter.ended = ended;
                    waiter.signal.raise();
                });
            }
        });
    }

    /** A run may have ended elsewhere, or left this process. One that is here tells by itself when it leaves. */
    void hint(RunId run) {
        locked(() -> waiters.getOrDefault(run, List.of()).stream()
                .map(waiter -> waiter.run)
                .findFirst()
                .filter(isHere.negate())
                .ifPresent(waited -> {
                    hinted.add(waited);
                    look.raise();
                }));
    }

    private void loop() {
        long interval = SHORTEST;
        long nextRound = clockwork.nanoTime();
        boolean raised = false;
        while (!closed) {
            boolean round = !raised || clockwork.nanoTime() - nextRound >= 0;
            boolean found = lookUp(round ? takeAll() : takeHinted());
            if (round || found) {
                interval = found ? SHORTEST : Math.min(LONGEST, interval * 2);
                nextRound = clockwork.nanoTime() + interval;
            }
            raised = Waiting.housekeeping(look, nobodyWaits() ? Clockwork.NEVER : interval);
        }
    }

    private boolean lookUp(List<RunRef> wanted) {
        if (wanted.isEmpty()) {
            return false;
        }
        try {
            List<Runs.Ended> ended = runs.ended(wanted);
            ended.forEach(this::announce);
            return !ended.isEmpty();
        } catch (StoreException outOfReach) {
            LOG.debug("Could not look for results; will look again.", outOfReach);
            return false;
        } catch (RuntimeException unexpected) { // without this loop callers would wait for ever
            LOG.error("Could not look for results; will look again.", unexpected);
            return false;
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

    private List<RunRef> takeAll() {
        lock.lock();
        try {
            hinted.clear();
            return waiters.values().stream()
                    .map(list -> list.getFirst().run)
                    .filter(isHere.negate())
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    private List<RunRef> takeHinted() {
        lock.lock();
        try {
            List<RunRef> taken = hinted.stream().filter(isHere.negate()).toList();
            hinted.clear();
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
