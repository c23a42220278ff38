package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an idle worker with all 256 partitions on four servers, here four databases, asks of them. */
@Tag("thorough")
final class IdleShardsIT {
    private static final int SERVERS = 4;
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Connections that are not needed are closed, and everything periodic has become as rare as it gets. */
    private static final Duration CALMING_DOWN = Duration.ofSeconds(15);

    private static final int LOOKS = 20;
    private static final int MOST_A_SECOND = 10;
    /** One more of each of what is periodic may fall on the edge: poll, renewal, sweep, look, check of what it holds. */
    private static final int ON_THE_EDGE = 5;

    private static final int MOST_CONNECTIONS = 3;

    private static final Definition<Integer, Integer> TWICE =
            Definition.of("twice", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));

    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();

    @AfterEach
    void drop() {
        databases.forEach(SharedPostgres.Fresh::close);
    }

    @Test
    void it_makes_at_most_ten_queries_a_second_and_holds_three_connections_to_each() throws SQLException {
        List<CountedSource> sources = IntStream.range(0, SERVERS)
                .mapToObj(i -> {
                    databases.add(SharedPostgres.database("idle_" + i));
                    return new CountedSource(databases.getLast().dataSource());
                })
                .toList();
        Shard[] shards = IntStream.range(0, SERVERS)
                .mapToObj(i ->
                        shard("s" + i, PostgresStore.on(sources.get(i).source()).open()))
                .toArray(Shard[]::new);
        try (ShardedStore store = ShardedStore.over(shards);
                Perdure perdure = Perdure.on(store).register(TWICE).start()) {
            for (int shard = 0; shard < SERVERS; shard++) {
                String run = MembershipTest.onShard(store, shard).value();
                assertThat(perdure.start(Invocation.of(TWICE, 1), id(run)).result(SOON))
                        .isEqualTo(2);
            }
            LockSupport.parkNanos(CALMING_DOWN.toNanos());
            long before = executed(sources);
            long began = System.nanoTime();
            List<Integer> connections = new ArrayList<>();
            for (int look = 0; look < LOOKS; look++) {
                LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
                connections.add(mostConnections());
            }
            long sent = executed(sources) - before;
            double seconds =
                    (double) (System.nanoTime() - began) / Duration.ofSeconds(1).toNanos();
            System.out.printf(
                    "idle: %d queries to %d servers in %.1f s, connections %s%n", sent, SERVERS, seconds, connections);
            assertThat((double) sent).isPositive().isLessThanOrEqualTo(MOST_A_SECOND * seconds + ON_THE_EDGE * SERVERS);
            assertThat(connections.stream().sorted().toList().get(LOOKS / 2))
                    .as("at most times")
                    .isLessThanOrEqualTo(MOST_CONNECTIONS);
        }
    }

    private static long executed(List<CountedSource> sources) {
        return sources.stream().mapToLong(CountedSource::executed).sum();
    }

    /** How many connections the database has that has most. */
    private int mostConnections() throws SQLException {
        String sql =
                "SELECT max(n) FROM (SELECT count(*) AS n FROM pg_stat_activity WHERE datname = ANY (?) GROUP BY datname) c";
        try (Connection connection = SharedPostgres.server().dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            String[] names = databases.stream().map(SharedPostgres.Fresh::name).toArray(String[]::new);
            statement.setArray(1, connection.createArrayOf("text", names));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }
}
