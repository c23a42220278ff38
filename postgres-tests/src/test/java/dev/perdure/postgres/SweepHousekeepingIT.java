package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.ShardMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What sweeps do from time to time, whether or not calls of virtual objects wait. */
final class SweepHousekeepingIT {
    @Test
    void a_sweep_forgets_the_parents_of_removed_runs() {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(6);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .open()) {
            store.exchange().orElseThrow().join(new Membership("a", ShardMap.first(List.of("a", "b"))));
            StoreFixture fixture = new StoreFixture(store);
            RunRef parent = new RunRef(RunId.of("caller"), 77 * 256 + 5);
            fixture.apply(new Change.Start(
                    StoreFixture.newRun("child").withParent(new Parent(parent, 4, true, 3)), fixture.worker));
            String links = "SELECT count(*) FROM %s.parent_elsewhere".formatted(schema);
            assertThat(TestServer.query(links)).isEqualTo("1");
            TestServer.execute("DELETE FROM %s.run".formatted(schema));
            store.leases().sweep(10);
            assertThat(TestServer.query(links)).isEqualTo("0");
        }
    }
}
