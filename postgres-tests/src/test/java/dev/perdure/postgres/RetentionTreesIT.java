package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.removal.PostgresRemovals;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals.Removed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What it costs to remove runs with many others below them. */
final class RetentionTreesIT {
    private static final Duration DAY = Duration.ofDays(1);

    private final String schema = TestServer.schemaOf(RetentionTreesIT.class);
    private final HikariDataSource pool = TestServer.pool(4);
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final PostgresStore store = PostgresStore.on(pool)
            .schema(schema)
            .notifications(false)
            .time(now::get)
            .open();
    private final StoreFixture fixture = new StoreFixture(store);

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    @Test
    void each_child_of_a_wide_run_costs_the_same_however_many_there_are() throws Exception {
        TestServer.withoutAutovacuum(schema);
        double few = rowsReadForEach("few", 250, false);
        double many = rowsReadForEach("many", 1_000, false);

        assertThat(many)
                .as("rows of runs that are read for each, against %.1f", few)
                .isLessThan(few * 2);
    }

    @Test
    void each_run_of_a_long_line_costs_the_same_however_long_it_is() throws Exception {
        TestServer.withoutAutovacuum(schema);
        double few = rowsReadForEach("short", 60, true);
        double many = rowsReadForEach("long", 240, true);

        assertThat(many)
                .as("rows of runs that are read for each, against %.1f", few)
                .isLessThan(few * 2);
    }

    @Test
    void runs_behind_a_wide_one_are_removed_while_it_goes() {
        store.removals().declare(Retention.of(DAY));
        tree("wide", 200, false);
        now.updateAndGet(time -> time.plusMillis(1));
        List<RunRef> others = fixture.startAll(
                IntStream.range(0, 20).mapToObj(i -> "other-" + i).toList());
        fixture.apply(others.stream().<Change>map(StoreFixture::complete).toList());
        now.updateAndGet(time -> time.plus(DAY));

        while (others.stream().anyMatch(run -> store.runs().find(run.id()).isPresent())) {
            assertThat(store.removals().remove(40).again()).isZero();
            assertThat(store.runs().find(RunId.of("wide"))).isPresent();
        }
    }

    /** A run with others below it, each below the first or below the last one. All have ended. */
    private int tree(String name, int runs, boolean line) {
        List<RunRef> tree = new ArrayList<>(List.of(fixture.start(name)));
        for (int from = 0; from < runs; from += line ? 1 : 50) {
            RunRef parent = line ? tree.getLast() : tree.getFirst();
            List<Change> children = IntStream.range(from, from + (line ? 1 : 50))
                    .<Change>mapToObj(i -> new Change.Start(
                            StoreFixture.child(parent, name + "/" + i, line ? 1 : i + 1), fixture.worker))
                    .toList();
            now.updateAndGet(time -> time.plusMillis(1));
            fixture.apply(children).forEach(outcome -> tree.add(((Outcome.Started) outcome).run()));
        }
        fixture.apply(
                tree.reversed().stream().<Change>map(StoreFixture::complete).toList());
        return tree.size();
    }

    /** Another transaction may still see what was removed, so entries of indexes stay. */
    private double rowsReadForEach(String name, int runs, boolean line) throws SQLException {
        store.removals().declare(Retention.of(DAY));
        int size = tree(name, runs, line);
        now.updateAndGet(time -> time.plus(DAY));
        try (HikariDataSource one = TestServer.pool(1);
                Database database = new Database(Connections.from(one, 1), now::get);
                Connection reader = pool.getConnection();
                Statement reading = reader.createStatement()) {
            PostgresRemovals removals =
                    new PostgresRemovals(database, new Schema(schema), new LedgerSql(new Schema(schema)));
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            reading.execute("SELECT count(*) FROM %s.retention".formatted(schema));
            long before = rowsRead(one, schema);
            int removed = 0;
            Removed batch;
            do {
                batch = removals.remove(20);
                removed += batch.runs();
            } while (batch.again().isZero());
            reader.rollback();
            assertThat(removed).isEqualTo(size);
            return (double) (rowsRead(one, schema) - before) / removed;
        }
    }

    private static long rowsRead(HikariDataSource one, String schema) throws SQLException {
        try (Connection connection = one.getConnection();
                Statement statement = connection.createStatement()) {
            TestServer.reportStatistics(connection);
            try (ResultSet row = statement.executeQuery(
                    "SELECT sum(idx_tup_read) + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = '%1$s' AND relname = 'run') FROM pg_stat_user_indexes WHERE schemaname = '%1$s' AND relname = 'run'"
                            .formatted(schema))) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
