package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which shards a store is opened with, and what is refused before anything is written. */
final class MembershipTest {
    private final MemoryStore a = new MemoryStore();
    private final MemoryStore b = new MemoryStore();

    @Test
    void a_first_map_gives_each_shard_its_share_of_the_partitions() {
        ShardMap map = ShardMap.first(List.of("c", "a", "b"));
        assertThat(map.shards()).containsExactly("a", "b", "c");
        assertThat(map.shards()).extracting(map::partitionsOf).containsExactly(86L, 85L, 85L);
    }

    @Test
    void the_map_is_stored_in_every_shard_and_the_order_of_the_shards_does_not_matter() {
        ShardedStore.over(shard("a", a), shard("b", b));
        ShardedStore.over(shard("b", b), shard("a", a));
        ShardMap map = ShardMap.first(List.of("a", "b"));
        assertThat(a.exchange().orElseThrow().membership()).contains(new Membership("a", map));
        assertThat(b.exchange().orElseThrow().membership()).contains(new Membership("b", map));
    }

    @Test
    void a_process_that_stopped_while_it_stored_the_map_is_followed_by_one_that_finishes() {
        ShardMap map = ShardMap.first(List.of("a", "b"));
        a.exchange().orElseThrow().join(new Membership("a", map));
        ShardedStore.over(shard("a", a), shard("b", b));
        assertThat(b.exchange().orElseThrow().membership()).contains(new Membership("b", map));
    }

    @Test
    void shards_under_other_names_or_with_others_are_refused() {
        ShardedStore.over(shard("a", a), shard("b", b));
        assertThatThrownBy(() -> ShardedStore.over(shard("a", b), shard("b", a)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "The store of shard 'a' is shard 'b' by its own record. Give each shard the name that it had when it was first used.");
        MemoryStore fresh = new MemoryStore();
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a), shard("c", fresh)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "Shard 'a' belongs to the shards [a, b] by the map of version 1, and this process has [a, c]. Open all of them.");
        assertThat(fresh.exchange().orElseThrow().membership()).isEmpty();
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("this process has [a]");
    }

    @Test
    void the_newest_map_holds() {
        ShardMap map = ShardMap.first(List.of("a", "b"));
        RunId run = RunId.of("run-1");
        int partition = Partitions.of(run);
        String other = map.owners().get(partition).equals("a") ? "b" : "a";
        a.exchange().orElseThrow().join(new Membership("a", map));
        b.exchange().orElseThrow().join(new Membership("b", map.with(partition, other)));
        ShardedStore store = ShardedStore.over(shard("a", a), shard("b", b));
        assertThat(store.parts().of(run)).isEqualTo(other.equals("a") ? 0 : 1);
    }

    @Test
    void different_maps_of_one_version_are_refused() {
        ShardMap map = ShardMap.first(List.of("a", "b"));
        a.exchange().orElseThrow().join(new Membership("a", map.with(0, "b")));
        b.exchange().orElseThrow().join(new Membership("b", map.with(2, "b")));
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a), shard("b", b)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "Shard 'b' and another shard have different maps of version 2. One of them belongs to other shards: look at the table 'shard' of each.");
    }

    @Test
    void a_shard_that_was_not_added_is_refused_and_one_without_partitions_is_not() {
        ShardedStore.over(shard("a", a), shard("b", b));
        MemoryStore fresh = new MemoryStore();
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a), shard("b", b), shard("c", fresh)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "Shard 'c' is none of the shards [a, b] of the map of version 1. Add it with './perdure shards add' first.");
        fresh.exchange().orElseThrow().join(new Membership("c", ShardMap.first(List.of("a", "b"))));
        ShardedStore.over(shard("a", a), shard("b", b), shard("c", fresh));
    }

    @Test
    void a_store_that_has_runs_does_not_become_one_of_several_shards() {
        a.ledger().apply(Lane.client(0), List.of(new Change.Start(run("order-1"), null)));
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a), shard("b", b)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("The store of shard 'a' has runs from before it was one of several shards.");
        assertThat(b.exchange().orElseThrow().membership()).isEmpty();
        ShardedStore.over(shard("a", a)); // alone it has all partitions
    }

    @Test
    void wrong_names_are_refused() {
        assertThatThrownBy(() -> shard("A", a))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The name of a shard is 'A'.");
        assertThatThrownBy(() -> ShardedStore.over(shard("a", a), shard("a", b)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("Two of the shards [a, a] have the same name. Give each a name of its own.");
        assertThatThrownBy(ShardedStore::over)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("A store has from 1 to 256 shards, not 0. Name them with shard(…).");
        assertThatThrownBy(() -> shard("c", ShardedStore.over(shard("a", a))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The store of shard 'c' cannot be a shard.");
    }

    @Test
    void a_fork_stays_on_the_shard_of_its_original() {
        ShardedStore store = ShardedStore.over(shard("a", a), shard("b", b));
        RunId original = onShard(store, 0);
        RunId other = onShard(store, 1);
        store.ledger().apply(Lane.client(0), List.of(new Change.Start(run(original.value()), null)));
        assertThat(store.ledger().apply(Lane.client(0), List.of(new Change.Fork(original, 1, other, 7, null))))
                .containsExactly(new Outcome.Refused(
                        "The run '%1$s' is on shard 'a', and the id '%2$s' belongs to shard 'b'. A fork is on the shard of its original. Fork it under an id that begins with '%1$s/'."
                                .formatted(original, other)));
    }

    @Test
    void the_key_of_a_run_has_the_partition_of_its_id() {
        ShardedStore store = ShardedStore.over(shard("a", a), shard("b", b));
        Outcome outcome = store.ledger()
                .apply(Lane.client(0), List.of(new Change.Start(run("order-1"), null)))
                .getFirst();
        assertThat(Partitions.ofKey(((Outcome.Started) outcome).run().key()))
                .isEqualTo(Partitions.of(RunId.of("order-1")));
        assertThat(Partitions.of(RunId.of("reaction:alarm:order-1#%d.3".formatted(512 + 77))))
                .isEqualTo(77);
        assertThat(Collections.nCopies(2, Partitions.of(RunId.of("order-1/1-abc"))))
                .containsOnly(Partitions.of(RunId.of("order-1")));
    }

    static RunId onShard(ShardedStore store, int part) {
        for (int i = 0; ; i++) {
            RunId id = RunId.of("run-" + i);
            if (store.parts().of(id) == part) {
                return id;
            }
        }
    }

    static NewRun run(String id) {
        return new NewRun(RunId.of(id), "order", Payload.EMPTY, 1, "default", 0, null, null);
    }
}
