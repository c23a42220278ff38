package dev.perdure.postgres.work;

import dev.perdure.postgres.work.LimitedClaims.Waiting;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * With what a poll begins: with claims from the queues with limits in which runs waited recently, which saves a round
 * trip, or with the look for everything else.
 *
 * <p>How it works: if runs of other queues wait too, a poll begins with these claims every other time for half of the
 * room, and every fourth time not at all. So neither kind of queue waits while the other fills the worker, and queues
 * and keys that have begun to wait since are found.
 *
 * <p>If there was nothing else to do for a worker, it is quiet: its polls only claim, until a hint comes, and for as
 * long as a busy worker waits between polls without hints. Where places become free every millisecond, looking for
 * everything else each time would double the time until a free place is taken. After that time, a poll begins with the
 * look for everything else, and also finds queues that have begun to wait.
 */
final class PollOrder {
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /**
     * With what a poll begins.
     *
     * @param queues the queues with limits from which it claims first
     * @param room for how many runs at most
     * @param heard how many hints had come by then
     * @param quiet whether it ends with these claims, if they take runs
     * @param nextDue when the next timer is due, as a quiet worker knows
     */
    record Beginning(
            List<Waiting> queues,
            int room,
            long heard,
            boolean quiet,
            @Nullable Instant nextDue) {
        private static Beginning withLook(long heard) {
            return new Beginning(List.of(), 0, heard, false, null);
        }
    }

    /** When a quiet worker looked for everything, how many hints had come by then, and when the next timer is due. */
    private record Quiet(long since, long heard, @Nullable Instant nextDue) {}

    private final LongSupplier nanoTime;
    private final AtomicLong polls = new AtomicLong();
    private final AtomicLong hints = new AtomicLong();
    /** The queues with limits in which a worker has found waiting runs. */
    private final ConcurrentMap<Integer, List<Waiting>> waitingQueues = new ConcurrentHashMap<>();

    private final ConcurrentMap<Integer, Quiet> quietWorkers = new ConcurrentHashMap<>();

    PollOrder(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** A hint has come that lets workers poll. */
    void hear() {
        hints.incrementAndGet();
    }

    /** A worker polls for this many runs. */
    Beginning begin(int worker, int room) {
        long heard = hints.get();
        List<Waiting> waiting = waitingQueues.getOrDefault(worker, List.of());
        if (waiting.isEmpty() || room == 0) {
            return Beginning.withLook(heard);
        }
        Quiet quiet = quietWorkers.get(worker);
        if (quiet != null && quiet.heard() == heard) {
            return nanoTime.getAsLong() - quiet.since() < QUIET_NANOS
                    ? new Beginning(waiting, room, heard, true, quiet.nextDue())
                    : Beginning.withLook(heard);
        }
        long poll = polls.incrementAndGet();
        int share = poll % 2 == 1 ? room : room / 2;
        return poll % 4 == 0 || share == 0
                ? Beginning.withLook(heard)
                : new Beginning(waiting, share, heard, false, null);
    }

    /** A poll that began like this has looked in all queues, and has found runs in queues with limits at most. */
    void foundNothingElse(int worker, Beginning beginning, @Nullable Instant nextDue) {
        quietWorkers.put(worker, new Quiet(nanoTime.getAsLong(), beginning.heard(), nextDue));
    }

    /** A poll has found something else to do, or has not looked in all queues with limits. */
    void mayFindMore(int worker) {
        quietWorkers.remove(worker);
    }

    /** In which queues with limits runs wait. */
    void waiting(int worker, List<Waiting> queues) {
        waitingQueues.put(worker, queues);
    }

    /** The worker is dead. */
    void forget(int worker) {
        waitingQueues.remove(worker);
        quietWorkers.remove(worker);
    }
}
