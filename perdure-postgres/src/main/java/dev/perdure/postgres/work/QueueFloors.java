package dev.perdure.postgres.work;

import dev.perdure.spi.Dispatch.Poll;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Where claims begin to look in queues with limits.
 *
 * <p>How it works: such a queue is claimed from in small portions, as places become free, so each claim would walk again
 * over the index entries of all runs that were claimed before and are not vacuumed yet. While more runs wait than have
 * places, a claim therefore begins behind the last run that was taken, and also looks for runs with a higher priority. A
 * run before it, whose commit took long or which another transaction had locked, waits for the next look from the
 * beginning: a quarter of a second, or longer if these looks take long. A claim that did not fill the free places has left
 * nothing behind; the next one begins at the beginning.
 */
final class QueueFloors {
    /** A run in the order of claims, behind which to look: its inverted priority, when it became ready, and its key. */
    record Floor(int rank, Instant since, long key) {
        static final Floor BEGINNING =
                new Floor(Integer.MIN_VALUE, Instant.parse("-4000-01-01T00:00:00Z"), Long.MIN_VALUE);

        private static final Comparator<Floor> ORDER =
                Comparator.comparingInt(Floor::rank).thenComparing(Floor::since).thenComparingLong(Floor::key);

        Floor orLater(Floor other) {
            return ORDER.compare(this, other) < 0 ? other : this;
        }
    }

    /** How long claims go on from where the last one stopped. */
    private static final long FULL_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    /** How much longer than a look from the beginning to wait for the next. */
    private static final int SHARE = 20;
    /** Claims that look at the same part of a queue. */
    private record Kind(String queue, Set<String> definitions, List<String> versions, Set<String> drained) {
        static Kind of(String queue, Poll poll, List<String> versions) {
            return new Kind(queue, poll.definitions(), versions, poll.version().drained());
        }
    }

    private record Reached(Floor floor, long nextFullLook) {}

    private final LongSupplier nanoTime;
    private final ConcurrentMap<Kind, Reached> reached = new ConcurrentHashMap<>();

    QueueFloors(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Where a claim begins to look.
     *
     * @param versions what the runs that it may take have as their version
     */
    Floor floor(String queue, Poll poll, List<String> versions) {
        Reached last = reached.get(Kind.of(queue, poll, versions));
        return last == null || nanoTime.getAsLong() - last.nextFullLook() >= 0 ? Floor.BEGINNING : last.floor();
    }

    /** A claim that began at this floor has filled all free places, and this is the last run that it took. */
    void filled(String queue, Poll poll, List<String> versions, Floor from, Floor last, long tookNanos) {
        Kind kind = Kind.of(queue, poll, versions);
        if (from.equals(Floor.BEGINNING)) {
            long pause = Math.max(FULL_LOOK_NANOS, SHARE * tookNanos);
            reached.put(kind, new Reached(last, nanoTime.getAsLong() + pause));
        } else {
            // Never moves back: earlier runs are looked for in any case, or by the next look from the beginning.
            reached.computeIfPresent(
                    kind, (k, before) -> new Reached(last.orLater(before.floor()), before.nextFullLook()));
        }
    }

    /** A claim has not filled all free places, so the next one begins at the beginning. */
    void ranDry(String queue, Poll poll, List<String> versions) {
        reached.remove(Kind.of(queue, poll, versions));
    }
}
