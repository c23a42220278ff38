package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.UnknownRunException;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Starts in the transactions of an application whose database is one of the shards. */
@Tag("thorough")
@Timeout(120)
final class ShardedOutboxIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Definition<Integer, Integer> TWICE =
            Definition.of("twice", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));

    @Test
    void runs_of_any_shard_start_when_the_caller_commits_and_wait_for_a_shard_that_is_down() throws SQLException {
        try (SharedPostgres.Fresh a = SharedPostgres.database("outbox_a");
                SharedPostgres.Fresh b = SharedPostgres.database("outbox_b");
                PostgresStore first = PostgresStore.on(a.dataSource()).open();
                Store real = PostgresStore.on(b.dataSource()).open()) {
            BreakableStore second = new BreakableStore(real);
            try (ShardedStore store = ShardedStore.over(shard("a", first), shard("b", second.store()));
                    Perdure perdure = Perdure.on(store).register(TWICE).start();
                    Connection connection = a.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                PostgresOutbox outbox = PostgresOutbox.on(first);

                List<String> ids =
                        IntStream.range(0, 8).mapToObj(i -> "order-" + i).toList();
                ids.forEach(one -> perdure.outbox(outbox.in(connection)).start(Invocation.of(TWICE, 3), id(one)));
                connection.commit();
                assertThat(ids)
                        .allSatisfy(one ->
                                assertThat(started(perdure, one).result(SOON)).isEqualTo(6));
                assertThat(ids.stream().map(RunId::of)).allSatisfy(one -> {
                    assertThat(first.runs().find(one).isPresent())
                            .isEqualTo(store.parts().of(one) == 0);
                    assertThat(real.runs().find(one).isPresent())
                            .isEqualTo(store.parts().of(one) == 1);
                });

                second.down(true);
                String ofA = MembershipTest.onShard(store, 0).value();
                String ofB = MembershipTest.onShard(store, 1).value();
                perdure.outbox(outbox.in(connection)).start(Invocation.of(TWICE, 4), id(ofB));
                perdure.outbox(outbox.in(connection)).start(Invocation.of(TWICE, 5), id(ofA));
                connection.commit();
                assertThat(started(perdure, ofA).result(SOON)).isEqualTo(10);
                second.down(false);
                assertThat(started(perdure, ofB).result(SOON)).isEqualTo(8);
            }
        }
    }

    private static Run<Integer> started(Perdure perdure, String run) {
        while (true) {
            try {
                return perdure.run(RunId.of(run), TypeRef.of(Integer.class));
            } catch (UnknownRunException notYet) {
                Thread.onSpinWait();
            }
        }
    }
}
