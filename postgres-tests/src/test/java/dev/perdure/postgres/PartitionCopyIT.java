package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.Operator;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.RunTables;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is copied before a partition is closed, and what changes meanwhile. */
final class PartitionCopyIT extends TwoShards {
    private static final int MANY = 100_000;

    @Test
    void what_changes_after_the_first_copy_goes_with_the_second() throws SQLException {
        int partition = unused();
        RunRef ending = fill(partition);
        RunRef removed = ended(partition, "removed");
        RunRef again = ended(partition, "again");
        RunRef repaired = failed(partition, "repaired");
        ShardMap map = shards.map();
        List<String> before;
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
            assertThat(rows(databaseB.dataSource(), partition).stream().filter(row -> row.startsWith("run ")))
                    .hasSize(4);
            onA.apply(complete(ending));
            ended(partition, "new");
            assertThat(a.ledger().apply(Lane.client(0), List.of(repair(repaired))))
                    .hasOnlyElementsOfType(Outcome.Applied.class);
            execute(
                    databaseA.dataSource(),
                    "DELETE FROM perdure.journal WHERE key = %d; DELETE FROM perdure.run WHERE key = %1$d"
                            .formatted(removed.key()));
            execute(
                    databaseA.dataSource(),
                    "DELETE FROM perdure.journal WHERE key = %d; UPDATE perdure.run SET changes = changes + 1 WHERE key = %1$d"
                            .formatted(again.key()));
            before = without(rows(databaseA.dataSource(), partition), "ready", "held");
            move.close();
            move.copy(map, map.with(partition, "b"));
            move.leave(map.with(partition, "b"));
            move.open();
        }
        assertThat(without(rows(databaseB.dataSource(), partition), "ready", "held"))
                .isEqualTo(before);
    }

    @Test
    void what_belongs_to_ended_runs_and_objects_may_change_between_two_copies() throws SQLException {
        int partition = unused();
        RunRef run = ended(partition, "ended");
        multiply(partition, run.key(), 3);
        ShardMap map = shards.map();
        List<String> before;
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
            assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(rows(databaseA.dataSource(), partition));
            execute(databaseA.dataSource(), """
                    UPDATE perdure.log_line SET number = 2 WHERE key = %1$d;
                    DELETE FROM perdure.attribute WHERE key = %1$d + 256;
                    UPDATE perdure.journal SET payload = '2' WHERE key = %1$d + 512 AND position = 1;
                    UPDATE perdure.mail SET text = 'x' WHERE key = %1$d + 768;
                    UPDATE perdure.object_state SET payload = '[1]' WHERE object_key = 'c1' AND partition = %2$d;
                    DELETE FROM perdure.object_state WHERE object_key = 'c2' AND partition = %2$d;
                    DELETE FROM perdure.object WHERE key = 'c2' AND partition = %2$d;
                    INSERT INTO perdure.object_state (partition, object_type, object_key, name, payload)
                    VALUES (%2$d, 'cart', 'c4', 'items', '[4]')
                    """.formatted(run.key(), partition));
            before = rows(databaseA.dataSource(), partition);
            move.close();
            move.copy(map, map.with(partition, "b"));
            move.leave(map.with(partition, "b"));
            move.open();
        }
        assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(before);
        assertThat(leftBehind(databaseA.dataSource(), partition)).isZero();
    }

    @Test
    void links_are_written_whenever_a_child_ends() throws SQLException {
        int going = unused();
        int staying = unused();
        RunRef here = onA.start(id(staying, "here"));
        RunRef there = onA.start(id(going, "there"));
        RunRef endedThere = started(StoreFixture.child(here, id(going, "ended"), 1));
        onA.apply(complete(endedThere));
        RunRef endedHere = started(StoreFixture.child(there, id(staying, "ended"), 1));
        onA.apply(complete(endedHere));
        RunRef laterThere = started(StoreFixture.child(here, id(going, "later"), 2));
        RunRef aliveThere = started(StoreFixture.child(here, id(going, "alive"), 3));
        RunRef aliveHere = started(StoreFixture.child(there, id(staying, "alive"), 2));
        onA.apply(complete(there)); // before its child
        ShardMap map = shards.map();
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(going, from, to);
            move.expect();
            move.copyEnded();
            assertThat(linked(databaseA.dataSource(), endedThere, endedHere))
                    .as("before the partition is closed")
                    .isEqualTo(2);
            onA.apply(complete(laterThere));
            move.close();
            move.copy(map, map.with(going, "b"));
            move.leave(map.with(going, "b"));
            move.open();
        }
        assertThat(linked(databaseA.dataSource(), endedHere, aliveHere)).isEqualTo(2);
        assertThat(linked(databaseB.dataSource(), endedThere, laterThere, aliveThere))
                .isEqualTo(3);
        for (SharedPostgres.Fresh database : List.of(databaseA, databaseB)) {
            assertThat(count(database.dataSource(), """
                            SELECT count(*) FROM perdure.run c JOIN perdure.closed_partition p ON p.number = (c.parent & 255)
                            WHERE c.partition <> p.number AND p.phase = 'LEFT'
                            """)).isZero();
        }
    }

    private static long linked(DataSource database, RunRef... children) throws SQLException {
        return count(database, """
                SELECT count(*) FROM perdure.run r JOIN perdure.parent_elsewhere e ON e.key = r.key
                WHERE r.parent IS NULL AND r.key IN (%s)
                """.formatted(
                Stream.of(children).map(run -> String.valueOf(run.key())).collect(Collectors.joining(", "))));
    }

    private RunRef failed(int partition, String name) {
        RunRef run = onA.start(id(partition, name));
        onA.apply(List.of(append(run, 1)));
        onA.apply(new Change.Advance(run, 1, List.of(), new Move.End(RunState.FAILED, json("\"why\""), "")));
        return run;
    }

    private static Change repair(RunRef run) {
        Audit audit = new Audit(
                UUID.randomUUID(),
                Operator.named("anna"),
                AuditEntry.Action.REPAIR,
                AuditEntry.Subject.RUN,
                run.id().value(),
                1,
                "why");
        return new Change.Repair(run.id(), 1, Entry.Status.VALUE, json("[3]"), audit);
    }

    @Test
    void an_id_may_be_used_again_between_two_passes() throws SQLException {
        int partition = unused();
        RunRef removed = ended(partition, "again");
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
            execute(databaseA.dataSource(), "DELETE FROM perdure.journal WHERE key = " + removed.key());
            execute(databaseA.dataSource(), "DELETE FROM perdure.event WHERE key = " + removed.key());
            execute(databaseA.dataSource(), "DELETE FROM perdure.run WHERE key = " + removed.key());
            assertThat(ended(partition, "again").id()).isEqualTo(removed.id());
            move.copyEnded();
            assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(rows(databaseA.dataSource(), partition));
            move.reopen();
        }
    }

    /** With {@code -Dmove.runs=200000} it shows how long the runs of a large partition stand still. */
    @Test
    @Timeout(600)
    void what_has_ended_goes_in_batches_before_the_partition_is_closed() throws SQLException {
        int partition = unused();
        fill(partition);
        int copies = Integer.getInteger("move.runs", 6_000);
        multiply(partition, ended(partition, "many").key(), copies);
        List<String> before = counts(databaseA.dataSource(), partition);
        said.clear();
        shards.move(List.of(partition), "b", said::add);
        said.forEach(System.out::println);
        assertThat(said)
                .contains("Partition %d is open, and %d ended runs and %d objects are copied to shard 'b'."
                        .formatted(partition, copies + 2, copies));
        assertThat(counts(databaseB.dataSource(), partition)).isEqualTo(before);
        assertThat(said)
                .as("what is alive, and nothing else, is copied while the partition is closed")
                .anySatisfy(line -> assertThat(line)
                        .matches("Partition %d is copied to shard 'b': \\d{1,2} rows,.*".formatted(partition)));
        if (copies >= MANY) { // otherwise the time says more about the machine
            assertThat(said)
                    .anySatisfy(line -> assertThat(line)
                            .matches("The runs of partition %d stood still for 1?\\d{1,3} ms.*".formatted(partition)));
        }
    }

    /** Copies an ended run with what belongs to it under other keys and ids, and as many virtual objects. */
    private void multiply(int partition, long key, int copies) throws SQLException {
        execute(databaseA.dataSource(), """
                INSERT INTO perdure.mail (key, token, at, number, position, restarts, partition, channel, status, taken, name, text, payload)
                SELECT %1$d, gen_random_uuid(), now(), 1, 0, 0, %2$d, 0, 0, true, 'news', '', '';
                INSERT INTO perdure.attribute (key, created_at, partition, name, kind, value)
                SELECT %1$d, now(), %2$d, 'city', 'text', 'Bern';
                INSERT INTO perdure.log_line (key, number, ordinal, through, at, position, attempt, partition, level, step, logger, text)
                SELECT %1$d, 1, 1, 10, now(), 1, 1, %2$d, 20, 'pay', 'log', 'text';
                INSERT INTO perdure.object (partition, type, key) SELECT %2$d, 'cart', 'c' || n FROM generate_series(1, %3$d) n;
                INSERT INTO perdure.object_state (partition, object_type, object_key, name, payload)
                SELECT %2$d, 'cart', 'c' || n, 'items', '[]' FROM generate_series(1, %3$d) n
                """.formatted(key, partition, copies));
        try (Connection connection = databaseA.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (RunTables.Table table : RunTables.of(connection, SCHEMA)) {
                if (Set.of("run", "journal", "mail", "attribute", "log_line").contains(table.name())) {
                    statement.execute("""
                            INSERT INTO perdure.%1$s (%2$s)
                            SELECT %5$s
                            FROM perdure.%1$s t
                            CROSS JOIN generate_series(1, %3$d) AS n
                            CROSS JOIN LATERAL jsonb_populate_record(
                                t, jsonb_build_object('key', t.key + 256 * n, 'id', 'copy-%6$d-' || n)) AS copy
                            WHERE t.key = %4$d
                            """.formatted(
                                    table.name(),
                                    table.columns(),
                                    copies,
                                    key,
                                    "copy." + table.columns().replace(", ", ", copy."),
                                    partition));
                }
            }
            statement.execute("ANALYZE");
        }
    }

    private static List<String> counts(DataSource database, int partition) throws SQLException {
        List<String> counts = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (RunTables.Table table : RunTables.of(connection, SCHEMA)) {
                if (Set.of("run", "journal", "mail", "attribute", "log_line", "object", "object_state")
                        .contains(table.name())) {
                    try (ResultSet row = statement.executeQuery(
                            "SELECT count(*), sum(hashtext((to_jsonb(t) - 'owner')::text)) FROM perdure.%s t WHERE partition = %d%s"
                                    .formatted(
                                            table.name(),
                                            partition,
                                            // the sweep has changed those that a worker held
                                            table.name().equals("run") ? " AND state >= 6" : ""))) {
                        row.next();
                        counts.add("%s %d %d".formatted(table.name(), row.getLong(1), row.getLong(2)));
                    }
                }
            }
        }
        return counts;
    }
}
