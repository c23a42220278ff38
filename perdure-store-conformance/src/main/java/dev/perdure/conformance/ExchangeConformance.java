package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which of several shards a store is. */
public abstract class ExchangeConformance extends StoreConformance {
    /** For subclasses. */
    protected ExchangeConformance() {}

    private Exchange exchange() {
        return store().exchange().orElseThrow();
    }

    @Test
    void a_membership_that_was_stored_is_not_replaced() {
        assertThat(exchange().membership()).isEmpty();
        Membership first = new Membership("b", ShardMap.first(List.of("a", "b", "c")));
        assertThat(exchange().join(first)).isEqualTo(first);
        Membership second = new Membership("x", ShardMap.first(List.of("x")));
        assertThat(exchange().join(second)).isEqualTo(first);
        assertThat(exchange().membership()).contains(first);
    }

    @Test
    void the_low_byte_of_a_key_is_the_partition_of_the_id_whatever_started_the_run() {
        WorkerId worker = join();
        RunRef root = startOwned(worker, "root");
        apply(
                worker,
                new Change.Advance(
                        root,
                        1,
                        List.of(step(1, "1")),
                        List.of(
                                new Effect.Start(child("root/1-abc", root, 1, true)),
                                new Effect.Start(child("chosen", root, 2, true)),
                                new Effect.Start(child("spawned", root, 3, false))),
                        STAY));
        for (String id : List.of("root", "root/1-abc", "chosen", "spawned")) {
            assertThat(Partitions.ofKey(refOf(id).key())).isEqualTo(Partitions.of(RunId.of(id)));
        }
        assertThat(Partitions.of(RunId.of("root/1-abc"))).isEqualTo(Partitions.of(RunId.of("root")));
    }
}
