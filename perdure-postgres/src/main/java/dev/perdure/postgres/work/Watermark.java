package dev.perdure.postgres.work;

import dev.perdure.spi.Dispatch.Poll;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Where claims begin to look.
 *
 * <p>How it works: normally at the beginning of the queue, so that priority and age are exact. After several slow looks
 * in a row, claims begin where the last one stopped, and look from the beginning only so rarely that it takes a small
 * share of the time. Slow looks happen after a burst until the queue is vacuumed, and beside a transaction that was
 * left open. A claim still looks for runs with a higher priority than the floor, unless that is the slow part. An older
 * run, whose commit took long or which another transaction had locked, waits for the next full look.
 */
public final class Watermark {
    /**
     * A place in the order of claims.
     *
     * @param rank the inverted priority
     * @param since when the run became ready
     * @param urgentToo whether to look for runs with a higher priority too
     */
    public record Floor(int rank, Instant since, boolean urgentToo) {
        public static final Floor BEGINNING =
                new Floor(Integer.MIN_VALUE, Instant.parse("-4000-01-01T00:00:00Z"), false);

        boolean isBefore(Floor other) {
            return rank < other.rank || (rank == other.rank && since.isBefore(other.since));
        }
    }

    /** Polls that look at the same part of the queue. */
    private record Kind(Set<String> queues, Set<String> definitions, List<String> versions, Set<String> drained) {
        static Kind of(Poll poll, List<String> versions) {
            return new Kind(
                    poll.queues(), poll.definitions(), versions, poll.version().drained());
        }
    }

    /**
     * What is known of one kind of poll: the number of slow full looks in a row and, if they are many, where to begin
     * and until when.
     */
    private record Seen(int slowLooks, Floor reached, long nextFullLook) {
        /** Never moves back: earlier runs are looked for in any case, or by the next full look. */
        Seen onTo(Floor further) {
            return further.isBefore(reached) ? this : new Seen(slowLooks, further, nextFullLook);
        }

        /** Runs with a higher priority also wait for the next full look, because looking for them is the slow part. */
        Seen withoutUrgent() {
            return new Seen(slowLooks, new Floor(reached.rank(), reached.since(), false), nextFullLook);
        }
    }

    /** How long a look may take, and how much each run that it claims may add. */
    private static final long QUICK_MICROS = 2_000;

    private static final long QUICK_MICROS_PER_RUN = 100;
    private static final int SLOW_LOOKS = 3;
    /** How much longer than a slow look to wait for the next. */
    private static final int SHARE = 20;
    /** Commits do not become visible in the order of their times. Nearly always, this is the largest difference. */
    private static final Duration MARGIN = Duration.ofMillis(500);

    private final ConcurrentMap<Kind, Seen> seen = new ConcurrentHashMap<>();

    /**
     * Where a claim begins to look.
     *
     * @param versions what the runs that it may take have as their version
     */
    public Floor floor(Poll poll, List<String> versions) {
        Seen last = seen.get(Kind.of(poll, versions));
        if (last == null || last.slowLooks() < SLOW_LOOKS || System.nanoTime() - last.nextFullLook() >= 0) {
            return Floor.BEGINNING;
        }
        return last.reached();
    }

    public void saw(
            Poll poll, List<String> versions, Floor from, @Nullable Floor reached, int claimed, long tookMicros) {
        Kind kind = Kind.of(poll, versions);
        boolean quick = tookMicros <= QUICK_MICROS + claimed * QUICK_MICROS_PER_RUN;
        if (!from.equals(Floor.BEGINNING)) {
            if (reached != null) {
                seen.computeIfPresent(kind, (k, last) -> {
                    Seen now = last.onTo(before(reached, last.reached().urgentToo()));
                    return quick ? now : now.withoutUrgent();
                });
            }
        } else if (reached == null || quick) {
            seen.remove(kind);
        } else {
            long next = System.nanoTime() + tookMicros * 1_000 * SHARE;
            seen.merge(
                    kind,
                    new Seen(1, before(reached, true), next),
                    (last, now) -> new Seen(last.slowLooks() + 1, now.reached(), now.nextFullLook()));
        }
    }

    private static Floor before(Floor reached, boolean urgentToo) {
        return new Floor(reached.rank(), reached.since().minus(MARGIN), urgentToo);
    }
}
