package dev.perdure.internal.worker;

import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Polled;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps {@link Queue#perWorker} where an engine has several workers, one for each part of its store: all of them together hold
 * no more runs of a queue in memory than the limit. The store keeps it for each worker alone, and alone if there is only one.
 *
 * <p>How it works. Before a worker claims, it keeps places for the runs that the claim may bring ({@link Claimer#begin}). Until
 * the runs are in memory, or the claim has failed, the others find these places taken. A worker that got fewer places than it
 * wanted stands in line. Each free place is for the one in line that has the fewest, and among several of these for the one that
 * has waited longest; that one is called. A worker that has got places goes to the end of the line. So no worker starves
 * because another one is full of work.
 *
 * <p>A part of the store may not answer for long. After a second, the places of such a claim are free for the others; if it is
 * answered later, it is admitted as many runs as there are places then. A worker whose last claim was not answered keeps no
 * places for the next one, which shows whether its part answers again. A worker that was called and does not come within a
 * second is passed over.
 *
 * <p>Nothing is asked and nobody waits under the lock.
 */
public final class WorkerLimits {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final Function<String, Queue> known;
    private final LongSupplier nanoTime;
    private final List<Claimer> claimers = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    /** The workers that wait for places of a queue, under the lock. */
    private final Map<String, LinkedHashSet<Claimer>> lines = new TreeMap<>();

    private volatile boolean someWait;

    /**
     * @param known the limits of a queue, without asking the store
     * @param nanoTime the time that has passed
     */
    public WorkerLimits(Function<String, Queue> known, LongSupplier nanoTime) {
        this.known = known;
        this.nanoTime = nanoTime;
    }

    /**
     * A worker that claims from now on.
     *
     * @param held how many runs of a queue it has in memory
     * @param look lets it poll soon
     */
    Claimer claimer(ToIntFunction<String> held, Runnable look) {
        Claimer claimer = new Claimer(held, look);
        claimers.add(claimer);
        return claimer;
    }

    /** A run has left the memory of one of the workers: another one may have waited for its place. */
    void left() {
        if (someWait) {
            List<Claimer> called = locked(() -> called(lines.keySet().stream().flatMap(queue -> next(queue).stream())));
            called.forEach(claimer -> claimer.look.run());
        }
    }

    private <T> T locked(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            someWait = !lines.isEmpty();
            lock.unlock();
        }
    }

    /** The limits per worker among these queues; none if there is only one worker, whose store keeps them. */
    private Map<String, Integer> limits(Set<String> queues) {
        Map<String, Integer> limits = new TreeMap<>();
        if (claimers.size() > 1) {
            queues.forEach(queue -> known.apply(queue).perWorker().ifPresent(most -> limits.put(queue, most)));
        }
        return limits;
    }

    // ---- under the lock

    /** How many places of a queue are free. */
    private int free(String queue, int limit) {
        int taken = claimers.stream().mapToInt(claimer -> claimer.taken(queue)).sum();
        return Math.max(0, limit - taken);
    }

    /** How many of them a worker may have. */
    private int part(String queue, int limit, Claimer by) {
        List<Claimer> line = new ArrayList<>();
        for (Claimer each : lines.getOrDefault(queue, new LinkedHashSet<>())) {
            if (each == by || each.waits(queue)) {
                line.add(each);
            }
        }
        if (!line.contains(by)) {
            line.add(by);
        }
        int free = free(queue, limit);
        if (line.size() == 1) {
            return free;
        }
        int[] have = line.stream().mapToInt(each -> each.taken(queue)).toArray();
        int before = by.taken(queue);
        for (int i = 0; i < free; i++) {
            int next = 0;
            for (int j = 1; j < have.length; j++) {
                next = have[j] < have[next] ? j : next;
            }
            have[next]++;
        }
        return have[line.indexOf(by)] - before;
    }

    /** Who gets the next place that is free. */
    private Optional<Claimer> next(String queue) {
        return lines.getOrDefault(queue, new LinkedHashSet<>()).stream()
                .filter(each -> each.waits(queue))
                .min(Comparator.comparingInt(each -> each.taken(queue)));
    }

    private void join(String queue, Claimer claimer) {
        lines.computeIfAbsent(queue, unseen -> new LinkedHashSet<>()).add(claimer);
    }

    /** Returns whether it was in line. */
    private boolean leave(String queue, Claimer claimer) {
        LinkedHashSet<Claimer> line = lines.get(queue);
        boolean left = line != null && line.remove(claimer);
        if (line != null && line.isEmpty()) {
            lines.remove(queue);
        }
        return left;
    }

    /** Those of them that are called now and were not called before. */
    private List<Claimer> called(Stream<Claimer> some) {
        List<Claimer> called = some.distinct().filter(each -> !each.called).toList();
        called.forEach(each -> {
            each.called = true;
            each.calledAt = nanoTime.getAsLong();
        });
        return called;
    }

    private boolean isOver(long since) {
        return nanoTime.getAsLong() - since >= PATIENCE;
    }

    /** A worker that claims. */
    final class Claimer {
        private final ToIntFunction<String> held;
        private final Runnable look;
        private @Nullable Claim underWay;
        /** Whether its last claim was not answered. */
        private boolean silent;
        /** Whether it was called since its last claim began, and when. */
        private boolean called;

        private long calledAt;

        private Claimer(ToIntFunction<String> held, Runnable look) {
            this.held = held;
            this.look = look;
        }

        private int taken(String queue) {
            return held.applyAsInt(queue) + (underWay == null ? 0 : underWay.taken(queue));
        }

        /** Whether places are left to it. It gets some with a claim that is under way, and does not come if it hangs. */
        private boolean waits(String queue) {
            boolean gets = underWay != null && (underWay.places.getOrDefault(queue, 0) > 0 || underWay.isLate());
            return !gets && !(called && isOver(calledAt));
        }

        /**
         * Begins a claim, and keeps places for it.
         *
         * @param queues from which it claims
         * @param most how many runs at most
         */
        Claim begin(Set<String> queues, int most) {
            Map<String, Integer> limits = limits(queues);
            return locked(() -> {
                called = false;
                List.copyOf(lines.keySet()).stream()
                        .filter(queue -> !limits.containsKey(queue))
                        .forEach(queue -> leave(queue, this));
                Map<String, Integer> places = new TreeMap<>();
                limits.forEach((queue, limit) -> {
                    int part = silent ? 0 : Math.min(most, part(queue, limit, this));
                    places.put(queue, part);
                    if (part < most) {
                        join(queue, this);
                    } else {
                        leave(queue, this);
                    }
                });
                underWay = new Claim(this, limits, places);
                return underWay;
            });
        }
    }

    /** A claim that is under way, with the places that are kept for it. */
    final class Claim implements AutoCloseable {
        private final Claimer by;
        private final Map<String, Integer> limits;
        private final Map<String, Integer> places;
        private final long began = nanoTime.getAsLong();
        private final Map<String, Integer> claimed = new HashMap<>();
        private boolean answered;

        private Claim(Claimer by, Map<String, Integer> limits, Map<String, Integer> places) {
            this.by = by;
            this.limits = limits;
            this.places = Map.copyOf(places);
        }

        /** How many runs of some queues it may bring. */
        Map<String, Integer> places() {
            return places;
        }

        private boolean isLate() {
            return !answered && isOver(began);
        }

        private int taken(String queue) {
            return answered ? claimed.getOrDefault(queue, 0) : isLate() ? 0 : places.getOrDefault(queue, 0);
        }

        /** The claim is answered. Returns the runs that have places, which are kept until {@link #close}. */
        List<Claimed> admitted(Polled polled) {
            return limits.isEmpty() ? polled.claimed() : locked(() -> answered(polled));
        }

        private List<Claimed> answered(Polled polled) {
            boolean late = isLate();
            Map<String, Integer> free = new HashMap<>();
            limits.forEach((queue, limit) -> free.put(queue, late ? free(queue, limit) : Queue.UNLIMITED));
            answered = true;
            List<Claimed> admitted = new ArrayList<>();
            for (Claimed claim : polled.claimed()) {
                String queue = claim.origin().queue();
                if (claimed.merge(queue, 1, Integer::sum) <= free.getOrDefault(queue, Queue.UNLIMITED)) {
                    admitted.add(claim);
                }
            }
            limits.keySet().forEach(queue -> goOnWaiting(queue, polled.limited()));
            claimed.replaceAll((queue, count) -> Math.min(count, free.getOrDefault(queue, Queue.UNLIMITED)));
            return admitted;
        }

        /** A worker that has used all its places may wait for more; behind the others, if it has got any. */
        private void goOnWaiting(String queue, boolean limited) {
            int had = places.getOrDefault(queue, 0);
            boolean waits = limited && claimed.getOrDefault(queue, 0) >= had;
            if ((had > 0 || !waits) && leave(queue, by) && waits) {
                join(queue, by);
            }
        }

        /** The runs are in memory, or the claim has failed: keeps no places any more. */
        @Override
        public void close() {
            if (limits.isEmpty()) {
                return;
            }
            List<Claimer> called = locked(() -> {
                by.underWay = null;
                by.silent = !answered;
                if (!answered) {
                    limits.keySet().forEach(queue -> leave(queue, by));
                }
                return called(limits.keySet().stream()
                        .filter(queue -> free(queue, limits.getOrDefault(queue, 0)) > 0)
                        .flatMap(queue ->
                                next(queue).stream().filter(next -> next != by || places.getOrDefault(queue, 0) == 0)));
            });
            called.forEach(claimer -> claimer.look.run());
        }
    }
}
