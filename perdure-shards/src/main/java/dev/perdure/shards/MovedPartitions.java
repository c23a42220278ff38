package dev.perdure.shards;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.shard.Partitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Applies changes to a shard from which partitions may have moved since this process has read the map.
 *
 * <p>How it works. A shard refuses changes of partitions that it does not have. Then this process reads the shard's map. If
 * that is newer, callers send everything again, by the new map. If it is not, the partition is on its way: a worker has lost
 * the runs of that partition, as if its lease had ended, and everything else of that partition waits. So does a transition of
 * another run of the same shard that sends something there: its worker keeps the run. What is about other partitions is
 * applied.
 *
 * <p>A partition that has left a shard also leaves its rows there for a while, and the shard refuses only what would change
 * them. So an answer for which it has written nothing may be about such a row, whose run has gone on elsewhere: it is not
 * known there, or has ended. The shard has the new map before its run goes on, so this process reads the map then, too.
 */
final class MovedPartitions {
    private final Shards shards;

    MovedPartitions(Shards shards) {
        this.shards = shards;
    }

    /**
     * Applies changes.
     *
     * @param version the version of the map by which this shard was chosen, or an earlier one
     */
    List<Outcome> apply(int shard, Lane lane, List<Change> changes, int version) {
        List<Outcome> outcomes;
        try {
            outcomes = shards.store(shard).ledger().apply(lane, changes);
        } catch (StoreException trouble) {
            if (trouble.kind() != StoreException.Kind.MOVING || hasMoved(shard, version)) {
                throw trouble;
            }
            return withoutClosed(shard, lane, changes, version, trouble);
        }
        if (mayBeOfOldRow(changes, outcomes) && hasMoved(shard, version)) {
            throw new StoreException(
                    StoreException.Kind.MOVING, "A partition has moved to another shard; sending again.", null);
        }
        return outcomes;
    }

    private static boolean mayBeOfOldRow(List<Change> changes, List<Outcome> outcomes) {
        return changes.stream().anyMatch(Change.Retell.class::isInstance)
                || outcomes.stream().anyMatch(outcome -> switch (outcome) {
                    case Outcome.UnknownRun unknown -> true;
                    case Outcome.Undelivered undelivered -> true;
                    case Outcome.Commanded commanded -> !commanded.accepted();
                    default -> false;
                });
    }

    /** Whether the map of the shard is newer than the one by which something was sent there. */
    private boolean hasMoved(int shard, int version) {
        shards.follow(shard);
        return shards.version() > version;
    }

    private List<Outcome> withoutClosed(
            int shard, Lane lane, List<Change> changes, int version, StoreException trouble) {
        Set<Integer> closed = shards.exchange(shard).closed();
        List<Change> others =
                changes.stream().filter(change -> !concerns(closed, change)).toList();
        if (others.size() == changes.size()) {
            throw trouble;
        }
        List<Outcome> applied = others.isEmpty() ? List.of() : apply(shard, lane, others, version);
        List<Outcome> outcomes = new ArrayList<>();
        int next = 0;
        for (Change change : changes) {
            outcomes.add(
                    concerns(closed, change) ? withheld(lane, change, isAbout(closed, change)) : applied.get(next++));
        }
        return outcomes;
    }

    private static boolean concerns(Set<Integer> closed, Change change) {
        return isAbout(closed, change)
                || (change instanceof Change.Advance advance
                        && advance.effects().stream()
                                .map(Crossing::addressee)
                                .anyMatch(run -> run != null && closed.contains(Partitions.of(run))));
    }

    private static boolean isAbout(Set<Integer> closed, Change change) {
        return closed.contains(Partitions.of(change.about()));
    }

    /**
     * The outcome of a change that has to wait.
     *
     * @param away whether the run that the change is about is away: then a worker has lost a run of its own
     */
    static Outcome withheld(Lane lane, Change change, boolean away) {
        boolean own =
                change instanceof Change.Advance || change instanceof Change.Start || change instanceof Change.Command;
        return away && own && lane.worker() != null ? new Outcome.Fenced() : new Outcome.Moving();
    }
}
