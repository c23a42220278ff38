package dev.perdure.shards;

import dev.perdure.RunState;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How the shards are, as one. */
final class ShardedStatus {
    private ShardedStatus() {}

    /** The sums. Tables are those of every shard, with its name. The workers are those of the shard that has the fewest. */
    static StoreStatus status(Shards shards) {
        List<StoreStatus> all = shards.ask(store -> store.status());
        Map<RunState, StoreStatus.InState> states = new EnumMap<>(RunState.class);
        List<StoreStatus.Table> tables = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            all.get(i).runs().forEach(ofState -> states.merge(ofState.state(), ofState, ShardedStatus::sum));
            String shard = shards.name(i);
            all.get(i).tables().forEach(table -> tables.add(named(shard, table)));
        }
        return new StoreStatus(
                all.stream().map(StoreStatus::at).max(Comparator.naturalOrder()).orElse(Instant.EPOCH),
                all.stream().mapToInt(StoreStatus::workers).min().orElse(0),
                List.copyOf(states.values()),
                all.stream()
                        .map(StoreStatus::removal)
                        .reduce(ShardedStatus::sum)
                        .orElseThrow(),
                tables,
                all.stream()
                        .flatMap(one -> one.oldestTransaction().stream())
                        .min(Comparator.comparing(StoreStatus.Transaction::since)),
                all.stream().flatMap(one -> one.findings().stream()).distinct().toList());
    }

    private static StoreStatus.InState sum(StoreStatus.InState one, StoreStatus.InState other) {
        StoreStatus.InState older = one.oldestCreatedAt().isAfter(other.oldestCreatedAt()) ? other : one;
        return new StoreStatus.InState(
                one.state(), one.count() + other.count(), older.oldest(), older.oldestCreatedAt());
    }

    private static StoreStatus.Removal sum(StoreStatus.Removal one, StoreStatus.Removal other) {
        return new StoreStatus.Removal(
                Math.min(one.due() + other.due(), StoreStatus.Removal.BOUND),
                one.more() || other.more() || one.due() + other.due() > StoreStatus.Removal.BOUND,
                one.first().or(other::first),
                ShardedQueues.earlier(one.nextPass(), other.nextPass()));
    }

    private static StoreStatus.Table named(String shard, StoreStatus.Table table) {
        return new StoreStatus.Table(
                shard + "." + table.name(),
                table.rows(),
                table.deadRows(),
                table.bytes(),
                table.indexBytes(),
                table.freeBytes(),
                table.vacuumedAt());
    }

    /** The workers are those of the shard that has the fewest. Fails if a shard does not answer. */
    static StoreHealth health(Shards shards) {
        List<StoreHealth> all = shards.ask(store -> store.health());
        return new StoreHealth(
                all.stream().mapToInt(StoreHealth::workers).min().orElse(0),
                Math.min(all.stream().mapToLong(StoreHealth::ready).sum(), StoreHealth.MOST_READY),
                all.stream().map(StoreHealth::oldestReady).reduce(Optional.empty(), ShardedQueues::earlier));
    }
}
