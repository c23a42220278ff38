package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunState;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.Balance;
import dev.perdure.postgres.shard.RunTables;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Partitions that move between two databases, without an engine. */
final class PartitionMoveIT extends TwoShards {
    /** Tables without rows of runs: of workers, of what is declared, of the database itself. */
    private static final Set<String> NOT_OF_RUNS = Set.of(
            "arrived_partition",
            "closed_partition",
            "drain",
            "inbox",
            "inbox_lock",
            "inbox_task",
            "lane",
            "lateness",
            "limiter",
            "limiter_rate",
            "migration",
            "partition_change",
            "payload",
            "payload_chunk",
            "queue",
            "queue_turn",
            "reaction",
            "removal",
            "retention",
            "secret",
            "set_aside",
            "shard",
            "share",
            "worker");

    @Test
    void every_table_is_moved_or_has_no_rows_of_runs() throws SQLException {
        Set<String> tables = new TreeSet<>(NOT_OF_RUNS);
        try (Connection connection = databaseA.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            RunTables.of(connection, SCHEMA)
                    .forEach(table -> assertThat(tables.add(table.name()))
                            .as(table.name())
                            .isTrue());
            Set<String> existing = new TreeSet<>();
            try (ResultSet rows =
                    statement.executeQuery("SELECT tablename FROM pg_tables WHERE schemaname = 'perdure'")) {
                while (rows.next()) {
                    existing.add(rows.getString(1));
                }
            }
            assertThat(tables).isEqualTo(existing);
        }
    }

    @Test
    void everything_of_a_partition_goes_and_nothing_stays() throws SQLException {
        int partition = unused();
        RunRef held = fill(partition);
        int other = unused();
        fill(other);
        List<String> before = rows(databaseA.dataSource(), partition);
        List<String> untouched = rows(databaseA.dataSource(), other);
        shards.move(List.of(partition), "b", said::add);

        List<String> after = rows(databaseB.dataSource(), partition);
        // The sweep has made the run ready that a worker of the other server held.
        assertThat(without(after, "ready", "held", "run", "event"))
                .isEqualTo(without(before, "ready", "held", "run", "event"));
        assertThat(after.stream().filter(row -> row.startsWith("ready "))).hasSize(2);
        assertThat(b.runs().find(held.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        assertThat(b.journals().read(held, 0, 100).entries()).hasSize(1);
        assertThat(shards.map().owners().get(partition)).isEqualTo("b");
        assertThat(a.exchange().orElseThrow().membership().orElseThrow().map()).isEqualTo(shards.map());

        shards.clean(said::add);
        assertThat(rows(databaseA.dataSource(), partition)).isEmpty();
        assertThat(rows(databaseA.dataSource(), other)).isEqualTo(untouched);
        assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(after);
    }

    @Test
    @Tag("thorough")
    void a_partition_comes_back_and_keys_stay_unique() throws SQLException {
        int partition = unused();
        fill(partition);
        shards.move(List.of(partition), "b", said::add);
        RunRef there = ((Outcome.Started) b.ledger()
                        .apply(Lane.client(0), List.of(new Change.Start(newRun(id(partition, "there")), null)))
                        .getFirst())
                .run();
        assertThat(there.key() >>> 8).isGreaterThanOrEqualTo(1L << 43); // the blocks of shard 1
        shards.move(List.of(partition), "a", said::add);
        shards.clean(said::add);
        assertThat(a.runs().find(there.id())).isPresent();
        assertThat(rows(databaseB.dataSource(), partition)).isEmpty();
        assertThat(onA.start(id(partition, "again"))).isNotNull();
    }

    @Test
    @Tag("thorough")
    void links_between_partitions_are_kept() throws SQLException {
        int going = unused();
        int staying = unused();
        RunRef parent = onA.start(id(going, "parent"));
        RunRef child = started(StoreFixture.child(parent, id(staying, "child"), 1));
        shards.move(List.of(going), "b", said::add);
        onA.apply(complete(child));
        assertThat(a.exchange().orElseThrow().outgoing(List.of(going), 0, 10)).hasSize(1);
        assertThat(a.exchange().orElseThrow().parent(child.id())).isPresent();
        assertThat(parent.key() & 255).isEqualTo(going);
    }

    @Test
    @Tag("thorough")
    void a_number_of_a_shard_that_is_gone_is_not_given_again() throws SQLException {
        try (SharedPostgres.Fresh third = SharedPostgres.database("move_c")) {
            PostgresStore.on(third.dataSource()).notifications(false).open().close();
            int before = added("c", third.dataSource());
            execute(third.dataSource(), "DELETE FROM perdure.shard"); // as in another, empty database
            assertThat(added("d", third.dataSource())).isEqualTo(before + 1);
        }
    }

    private int added(String name, DataSource database) throws SQLException {
        try (PostgresShards three = PostgresShards.of(
                Map.of("a", databaseA.dataSource(), "b", databaseB.dataSource(), name, database),
                SCHEMA.name(),
                Duration.ZERO)) {
            three.add(name);
        }
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT number FROM perdure.shard")) {
            row.next();
            return row.getInt("number");
        }
    }

    @Test
    void what_cannot_be_moved_is_refused_before_anything_is_changed() {
        assertThatThrownBy(() -> shards.move(List.of(256), "b", said::add))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("There is no partition 256. Partitions have numbers from 0 to 255.");
        assertThatThrownBy(() -> shards.move(List.of(0), "c", said::add))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("'c' is none of the shards [a, b]. Add it first.");
        int partition = unused();
        ObjectKey object = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> new ObjectKey("cart", "k" + i))
                .filter(some -> Partitions.of(some) == 255) // of which no test moves anything
                .findFirst()
                .orElseThrow();
        RunRef call = started(newRun(id(partition, "call")).on(new ObjectCall(object, ObjectCall.Hold.EXCLUSIVE)));
        assertThatThrownBy(() -> shards.move(List.of(partition), "b", said::add))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(
                        "Partition %d cannot be moved: the run '%s' calls the object".formatted(partition, call.id()));
        assertThat(a.exchange().orElseThrow().closed()).doesNotContain(partition);
    }

    @Test
    void a_role_that_cannot_note_changes_keeps_a_partition_where_it_is() throws SQLException {
        int partition = unused();
        String role = "notes_" + databaseA.name().replaceAll("[^a-z0-9]", "_");
        execute(databaseA.dataSource(), "CREATE ROLE %s; GRANT INSERT ON perdure.run TO %1$s".formatted(role));
        try {
            assertThatThrownBy(() -> shards.move(List.of(partition), "b", said::add))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("the role %s writes runs of shard 'a'".formatted(role));
            execute(databaseA.dataSource(), "GRANT INSERT ON perdure.partition_change TO " + role);
            shards.move(List.of(partition), "b", said::add);
        } finally {
            execute(databaseA.dataSource(), "DROP OWNED BY %s; DROP ROLE %1$s".formatted(role));
        }
    }

    @Test
    void a_balance_moves_as_few_partitions_as_possible() {
        ShardMap map = ShardMap.first(List.of("a", "b"));
        assertThat(Balance.moves(map, List.of("a", "b"))).isEmpty();
        Map<String, List<Integer>> toThird = Balance.moves(map, List.of("a", "b", "c"));
        assertThat(toThird).containsOnlyKeys("c");
        assertThat(toThird.get("c")).hasSize(85);
        Map<String, List<Integer>> withoutB = Balance.moves(map, List.of("a"));
        assertThat(withoutB.get("a")).hasSize(128).allMatch(partition -> partition % 2 == 1);
    }
}
