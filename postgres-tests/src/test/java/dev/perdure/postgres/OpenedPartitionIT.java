package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Partitions that have arrived at a shard and are open there. */
@Timeout(60)
final class OpenedPartitionIT extends TwoShards {
    private static final String CONSTRAINED =
            "SELECT count(*) FROM pg_constraint WHERE conname = 'partition_is_here' AND pg_get_constraintdef(oid) LIKE '%has_arrived('";

    /** Has copied a partition to a shard, which is about to open it. */
    private PartitionMove copied(int partition, ShardServer from, ShardServer to) {
        ShardMap map = shards.map();
        ShardMap next = map.with(partition, to.name());
        PartitionMove move = move(partition, from, to);
        move.expect();
        move.copyEnded();
        move.close();
        move.copy(map, next);
        move.leave(next);
        return move;
    }

    private static Connection begin(DataSource database, String sql) throws SQLException {
        Connection connection = database.getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
        return connection;
    }

    private Outcome startOnB(int partition, String name) {
        return b.ledger()
                .apply(Lane.client(0), List.of(new Change.Start(newRun(id(partition, name)), null)))
                .getFirst();
    }

    private void refusedByB(int partition) {
        assertThatThrownBy(() -> startOnB(partition, "refused"))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING));
    }

    @Test
    void a_partition_opens_while_others_write_and_vacuum() throws SQLException {
        int partition = unused();
        fill(partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = copied(partition, from, to);
            try (Connection writer = begin(
                            databaseB.dataSource(),
                            "DELETE FROM perdure.run WHERE key = 0; DELETE FROM perdure.ready WHERE key = 0");
                    Connection vacuum = begin(
                            databaseB.dataSource(),
                            "LOCK TABLE perdure.run, perdure.journal, perdure.ready, perdure.held IN SHARE UPDATE EXCLUSIVE MODE")) {
                refusedByB(partition);
                move.open();
                assertThat(startOnB(partition, "new")).isInstanceOf(Outcome.Started.class);
                StoreFixture onB = new StoreFixture(b);
                assertThat(b.dispatch().poll(onB.poll(1_000)).claimed())
                        .extracting(claimed -> claimed.run().id().value())
                        .contains(id(partition, "ready"), id(partition, "new"));
                vacuum.rollback();
                writer.rollback();
            }
        }
        assertThat(said).contains("Partition %d is open on shard 'b'.".formatted(partition));
    }

    /** What it puts back last is locked, so it waits with all locks that it takes. */
    @Test
    void the_opening_only_takes_locks_of_transactions_that_write_rows() throws Exception {
        int partition = unused();
        fill(partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = copied(partition, from, to);
            List<String> modes = new ArrayList<>();
            try (Connection holder = begin(
                    databaseB.dataSource(),
                    "SELECT FROM perdure.set_aside WHERE of_partition = %d FOR UPDATE".formatted(partition))) {
                Thread opening = Thread.ofPlatform().start(move::open);
                while (modes.isEmpty() && opening.isAlive()) {
                    modes.addAll(modesOfWhoWaits());
                }
                holder.rollback();
                opening.join();
            }
            assertThat(modes).isNotEmpty().isSubsetOf("AccessShareLock", "RowShareLock", "RowExclusiveLock");
        }
        assertThat(startOnB(partition, "new")).isInstanceOf(Outcome.Started.class);
    }

    private List<String> modesOfWhoWaits() throws SQLException {
        List<String> modes = new ArrayList<>();
        try (Connection connection = databaseB.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("""
                        SELECT DISTINCT l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                        JOIN pg_locks w ON w.pid = l.pid AND NOT w.granted AND w.locktype IN ('transactionid', 'tuple')
                        WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                          AND c.relnamespace = 'perdure'::regnamespace
                        """)) {
            while (rows.next()) {
                modes.add(rows.getString("mode"));
            }
        }
        return modes;
    }

    @Test
    void the_opening_tells_those_that_wait_for_work() throws Exception {
        int partition = unused();
        fill(partition);
        CountDownLatch woken = new CountDownLatch(1);
        try (PostgresStore worker =
                        PostgresStore.on(databaseB.dataSource()).migrate(false).open();
                ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = copied(partition, from, to);
            worker.awaitListening();
            worker.hints().subscribe(hint -> {
                if (hint instanceof Hints.WorkReady) {
                    woken.countDown();
                }
            });
            move.open();
            assertThat(woken.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void a_transaction_with_an_old_snapshot_does_not_reopen_a_partition_that_has_left_again() throws SQLException {
        int partition = unused();
        fill(partition);
        try (ShardServer serverA = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer serverB = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove there = copied(partition, serverA, serverB);
            there.open();
            there.remove();
            try (Connection old = begin(databaseB.dataSource(), """
                    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM perdure.arrived_partition
                    """)) {
                PartitionMove back = copied(partition, serverB, serverA);
                back.open();
                back.remove();
                move(partition, serverA, serverB).expect(); // the constraint on b asks again whether it has arrived
                assertThatThrownBy(() -> {
                            try (Statement statement = old.createStatement()) {
                                statement.execute(
                                        "INSERT INTO perdure.ready (key, partition, queue, rank, since, alone, definition, version) VALUES (%d, %1$d, 'default', 0, now(), false, 'order', '')"
                                                .formatted(partition));
                            }
                        })
                        .hasMessageContaining("partition_is_here");
                old.rollback();
            }
        }
        shards.move(List.of(), "a", said::add);
    }

    @Test
    void a_partition_stays_open_when_the_constraint_is_made_anew_and_costs_nothing_then() throws SQLException {
        int partition = unused();
        int other = unused();
        fill(partition);
        fill(other);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            copied(partition, from, to).open();
            copied(other, from, to); // which is not open yet
            assertThat(startOnB(partition, "new")).isInstanceOf(Outcome.Started.class);
            refusedByB(other);
        }
        shards.move(List.of(), "a", said::add); // which opens the other one
        assertThat(startOnB(partition, "newer")).isInstanceOf(Outcome.Started.class);
        assertThat(startOnB(other, "new")).isInstanceOf(Outcome.Started.class);
        assertNothingIsAsked();
    }

    private void assertNothingIsAsked() throws SQLException {
        assertThat(count(databaseB.dataSource(), "SELECT count(*) FROM perdure.arrived_partition"))
                .isZero();
        assertThat(count(databaseB.dataSource(), CONSTRAINED)).isZero();
    }

    @Test
    void the_constraint_asks_no_more_when_the_rows_of_the_move_are_removed() throws SQLException {
        int partition = unused();
        fill(partition);
        shards.move(List.of(partition), "b", said::add);
        assertThat(count(databaseB.dataSource(), "SELECT count(*) FROM perdure.arrived_partition"))
                .isPositive();
        shards.clean(said::add);
        assertNothingIsAsked();
        assertThat(startOnB(partition, "new")).isInstanceOf(Outcome.Started.class);
    }

    /** A command of an older version has made a constraint that knows nothing of arrivals, and has stopped. */
    @Test
    void a_partition_that_an_older_version_has_copied_opens() throws SQLException {
        int partition = unused();
        fill(partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            copied(partition, from, to);
        }
        execute(databaseB.dataSource(), """
                ALTER TABLE perdure.run DROP CONSTRAINT partition_is_here,
                    ADD CONSTRAINT partition_is_here CHECK (partition <> ALL ('{%d}'::smallint[])) NOT VALID
                """.formatted(partition));
        shards.move(List.of(), "a", said::add);
        assertThat(startOnB(partition, "new")).isInstanceOf(Outcome.Started.class);
    }
}
