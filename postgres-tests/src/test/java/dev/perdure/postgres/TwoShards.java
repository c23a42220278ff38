package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.await;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.message;
import static dev.perdure.postgres.StoreFixture.newRun;

import dev.perdure.RunId;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.RunTables;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Two databases between which partitions move, without an engine. Each test has partitions of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class TwoShards {
    static final Schema SCHEMA = new Schema("perdure");

    final List<String> said = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();
    SharedPostgres.Fresh databaseA;
    SharedPostgres.Fresh databaseB;
    PostgresStore a;
    PostgresStore b;
    StoreFixture onA;
    PostgresShards shards;

    @BeforeAll
    void open() {
        databaseA = SharedPostgres.database("move_a");
        databaseB = SharedPostgres.database("move_b");
        a = PostgresStore.on(databaseA.dataSource()).notifications(false).open();
        b = PostgresStore.on(databaseB.dataSource()).notifications(false).open();
        ShardMap map = ShardMap.first(List.of("a", "b"));
        a.exchange().orElseThrow().join(new Membership("a", map));
        b.exchange().orElseThrow().join(new Membership("b", map));
        onA = new StoreFixture(a);
        shards = PostgresShards.of(
                Map.of("a", databaseA.dataSource(), "b", databaseB.dataSource()), SCHEMA.name(), Duration.ZERO);
    }

    @AfterAll
    void close() {
        shards.close();
        a.close();
        b.close();
        databaseA.close();
        databaseB.close();
    }

    /** A partition that is on shard a by the first map, and that no other test uses. */
    int unused() {
        return 2 * next.getAndIncrement();
    }

    static String id(int partition, String name) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> name + "-" + i)
                .filter(id -> Partitions.of(RunId.of(id)) == partition)
                .findFirst()
                .orElseThrow();
    }

    /** Runs in several states, with what belongs to them. */
    RunRef fill(int partition) {
        RunRef ended = onA.start(id(partition, "ended"));
        onA.apply(List.of(append(ended, 1)));
        onA.apply(complete(ended));
        RunRef waiting = onA.start(id(partition, "waiting"));
        onA.apply(await(waiting, Channel.message("news")));
        onA.apply(message(waiting, "other"));
        a.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun(id(partition, "ready")), null)));
        RunRef held = onA.start(id(partition, "held"));
        onA.apply(append(held, 1));
        return held;
    }

    RunRef started(NewRun run) {
        return ((Outcome.Started) onA.apply(new Change.Start(run, onA.worker))).run();
    }

    List<String> rows(DataSource database, int partition) throws SQLException {
        List<String> all = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (RunTables.Table table : RunTables.of(connection, SCHEMA)) {
                String of = switch (table.name()) {
                    case "start_key" -> "(run & 255)";
                    case "queue_rate" -> "perdure.key_partition(queue_key)";
                    default -> "partition";
                };
                try (ResultSet rows = statement.executeQuery(
                        "SELECT (to_jsonb(t) - 'owner')::text FROM perdure.%s t WHERE %s = %d ORDER BY 1"
                                .formatted(table.name(), of, partition))) {
                    while (rows.next()) {
                        all.add(table.name() + " " + rows.getString(1));
                    }
                }
            }
        }
        return all;
    }

    static List<String> without(List<String> rows, String... tables) {
        return rows.stream()
                .filter(row -> Set.of(tables).stream().noneMatch(table -> row.startsWith(table + " ")))
                .toList();
    }

    PartitionMove move(int partition, ShardServer from, ShardServer to) {
        return new PartitionMove(partition, from, to, said::add);
    }

    RunRef ended(int partition, String name) {
        RunRef run = onA.start(id(partition, name));
        onA.apply(List.of(append(run, 1)));
        onA.apply(complete(run));
        return run;
    }

    /** What a move uses while a partition is copied: triggers, and notes about its changes. */
    static long leftBehind(DataSource database, int partition) throws SQLException {
        return count(database, """
                SELECT (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'partition_change%%')
                     + (SELECT count(*) FROM perdure.partition_change WHERE of_partition = %d)
                """.formatted(partition));
    }

    static long count(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
