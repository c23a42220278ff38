package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.read.JournalSql;
import dev.perdure.postgres.read.PostgresJournals;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A long journal is read page by page, and each page costs the server its own rows, whatever it knows of the table. */
final class LongJournalIT {
    private static final int ENTRIES = 20_000;
    private static final int PAGE_BYTES = 16 * 1_024;
    private static final int SAMPLE = 16;

    @Test
    void a_page_costs_its_own_rows_also_when_the_server_has_no_statistics() throws Exception {
        Schema schema = new Schema(TestServer.newSchema());
        try (HikariDataSource pool = TestServer.pool(3);
                HikariDataSource one = TestServer.pool(1);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema.name())
                        .notifications(false)
                        .open()) {
            TestServer.execute("ALTER TABLE %s.journal SET (autovacuum_enabled = off)".formatted(schema.name()));
            RunRef run = runOf(store, ENTRIES);
            Journals journals = new PostgresJournals(
                    new Database(Connections.from(one, 1), () -> null),
                    new JournalSql(schema, new LedgerSql(schema).settings));
            long before = rowsFetched(one, schema);

            int read = 0;
            int pages = 0;
            boolean last = false;
            for (int after = 0; !last; pages++) {
                Page page = pages == 0
                        ? journals.readFirst(List.of(run), PAGE_BYTES).get(run)
                        : journals.read(run, after, PAGE_BYTES);
                read += page.entries().size();
                after = page.entries().getLast().entry().position();
                last = page.last();
            }

            assertThat(read).isEqualTo(ENTRIES);
            assertThat(pages).isGreaterThan(10);
            assertThat(rowsFetched(one, schema) - before).isBetween((long) read, read + (long) pages * (SAMPLE + 2));
        }
    }

    private static RunRef runOf(PostgresStore store, int entries) {
        StoreFixture fixture = new StoreFixture(store);
        Lane lane = new Lane(fixture.worker, 0);
        Change start = new Change.Start(StoreFixture.newRun("long"), fixture.worker);
        RunRef run =
                ((Outcome.Started) store.ledger().apply(lane, List.of(start)).getFirst()).run();
        List<Entry> all =
                IntStream.rangeClosed(1, entries).mapToObj(StoreFixture::step).toList();
        store.ledger().apply(lane, List.of(new Change.Advance(run, 1, all, StoreFixture.STAY)));
        return run;
    }

    private static long rowsFetched(HikariDataSource one, Schema schema) throws SQLException {
        try (Connection connection = one.getConnection();
                Statement statement = connection.createStatement()) {
            TestServer.reportStatistics(connection);
            try (ResultSet rows = statement.executeQuery("""
                    SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_user_tables
                    WHERE schemaname = '%s' AND relname = 'journal'""".formatted(schema.name()))) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }
}
