package dev.perdure.postgres.shard;

import dev.perdure.postgres.shard.ShardServer.Closed;
import dev.perdure.postgres.shard.ShardServer.Phase;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** The rows of partitions that have left a shard. They stay until no process can still read them by an old map. */
public final class LeftRows {
    private static final Duration PAUSE = Duration.ofMillis(500);

    private LeftRows() {}

    /**
     * Removes them, when it is time.
     *
     * @param grace how much longer than a lease to wait; zero: not at all
     */
    public static void remove(ShardServer source, Duration grace, Consumer<String> progress) {
        Map<Integer, Closed> left = new TreeMap<>();
        source.state().ifPresent(state -> left.putAll(state.closed()));
        left.values().removeIf(closed -> closed.phase() != Phase.LEFT);
        if (left.isEmpty()) {
            return;
        }
        if (!grace.isZero()) {
            Duration youngest = left.values().stream()
                    .map(Closed::age)
                    .min(Comparator.naturalOrder())
                    .orElseThrow();
            awaitLeases(source, grace, System.nanoTime() - youngest.toNanos(), progress);
        }
        left.keySet().forEach(partition -> PartitionMove.remove(source, partition, progress));
    }

    /** Looks again and again: processes that end meanwhile need not be waited for. */
    private static void awaitLeases(ShardServer source, Duration grace, long since, Consumer<String> progress) {
        for (boolean told = false; ; told = true) {
            Duration age = Duration.ofNanos(System.nanoTime() - since);
            Duration wait = grace.plus(NewShard.longestLease(source)).minus(age);
            if (!wait.isPositive()) {
                return;
            }
            if (!told) {
                progress.accept("Waiting at most %s until no process can work by the old map of shard '%s'."
                        .formatted(wait, source.name()));
            }
            LockSupport.parkNanos(Math.min(wait.toNanos(), PAUSE.toNanos()));
        }
    }
}
