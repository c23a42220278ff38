package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.setup.Migrations;
import dev.perdure.retention.Retention;
import dev.perdure.status.Finding;
import dev.perdure.status.Finding.Kind;
import dev.perdure.status.StoreStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Brings about what a status finds, on a server of its own, because some of it concerns the whole server. */
class StatusIT {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);
    private static final Duration HOUR = Duration.ofHours(1);

    private static EmbeddedPostgres server;

    private PostgresStore store;

    @BeforeAll
    static void start() {
        server = EmbeddedPostgres.start(EmbeddedPostgres.options().setting("max_prepared_transactions", "5"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws SQLException {
        execute("DROP SCHEMA IF EXISTS perdure CASCADE");
        store = PostgresStore.on(server.dataSource()).notifications(false).open();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void execute(String... statements) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static StoreStatus status(PostgresStore opened) {
        try (Perdure client = Perdure.on(opened).client()) {
            return client.status();
        }
    }

    private List<Kind> kinds() {
        return status(store).findings().stream().map(Finding::kind).toList();
    }

    private Finding only(Kind kind) {
        return status(store).findings().stream()
                .filter(finding -> finding.kind() == kind)
                .findFirst()
                .orElseThrow(() -> new AssertionError("not found: " + kind));
    }

    /** The same database an hour later, by the clock that it writes. */
    private static PostgresStore anHourLater() {
        return PostgresStore.on(server.dataSource())
                .notifications(false)
                .time(() -> Instant.now().plus(HOUR))
                .open();
    }

    @Test
    void a_healthy_store_has_tables_and_no_findings() {
        try (Perdure worker = Perdure.on(store).register(ECHO).start()) {
            worker.start(Invocation.of(ECHO, "x")).result();
            StoreStatus status = worker.status();
            assertThat(status.findings()).isEmpty();
            assertThat(status.workers()).isEqualTo(1);
            assertThat(status.tables())
                    .extracting(StoreStatus.Table::name)
                    .contains("run", "journal", "event", "ready", "held", "timer", "mail")
                    .doesNotContain("runs");
            assertThat(status.tables())
                    .allMatch(table -> table.indexBytes() >= 0 && table.bytes() >= 0)
                    .anyMatch(table -> table.name().equals("run") && table.bytes() > 0 && table.indexBytes() > 0);
            assertThat(Duration.between(status.at(), Instant.now()).abs()).isLessThan(Duration.ofMinutes(1));
        }
    }

    @Test
    void runs_are_due_when_the_shortest_period_is_over() {
        try (Perdure worker = Perdure.on(store).register(ECHO).start();
                PostgresStore later = anHourLater()) {
            worker.start(Invocation.of(ECHO, "x"), StartOptions.id("first")).result();
            worker.start(Invocation.of(ECHO, "x")).result();
            worker.retention().change(Retention.of(Duration.ofMinutes(30)));
            assertThat(worker.status().removal().due()).isZero();
            StoreStatus.Removal due = status(later).removal();
            assertThat(due.due()).isEqualTo(2);
            assertThat(due.more()).isFalse();
            assertThat(due.first()).contains(RunId.of("first"));
            worker.retention().change(Retention.of(Retention.FOREVER));
            assertThat(status(later).removal().due()).isZero();
        }
    }

    @Test
    void ready_runs_without_a_worker_are_found() {
        try (Perdure client = Perdure.on(store).client()) {
            client.start(Invocation.of(ECHO, "x"), StartOptions.id("first"));
            assertThat(client.status().findings())
                    .extracting(Finding::kind, Finding::what)
                    .singleElement()
                    .asString()
                    .contains("NO_WORKER", "Ready runs wait: 1, the oldest, 'first', since");
        }
    }

    @Test
    void a_transaction_that_has_been_open_for_an_hour_is_found() throws SQLException {
        try (Connection left = server.dataSource().getConnection();
                Statement statement = left.createStatement();
                PostgresStore later = anHourLater()) {
            left.setAutoCommit(false);
            statement.execute("SET application_name = 'report'");
            statement.execute("SELECT count(*) FROM perdure.run");
            StoreStatus now = status(store);
            assertThat(now.findings()).isEmpty();
            assertThat(now.oldestTransaction().orElseThrow().session()).contains("application 'report'");
            Finding found = status(later).findings().getFirst();
            assertThat(found.kind()).isEqualTo(Kind.LONG_TRANSACTION);
            assertThat(found.what())
                    .contains("application 'report' has been open for 60 minutes (idle in transaction)")
                    .contains("Vacuum cannot remove");
            assertThat(found.remedy()).contains("pg_terminate_backend", "idle_in_transaction_session_timeout");
            left.rollback();
            assertThat(status(later).findings()).isEmpty();
        }
    }

    @Test
    void a_prepared_transaction_that_was_left_behind_is_found() throws SQLException {
        execute(
                "BEGIN",
                "INSERT INTO perdure.inbox_lock SELECT * FROM perdure.inbox_lock WHERE false",
                "PREPARE TRANSACTION 'left'");
        try (PostgresStore later = anHourLater()) {
            assertThat(status(store).findings()).isEmpty();
            Finding found = status(later).findings().getFirst();
            assertThat(found.kind()).isEqualTo(Kind.PREPARED_TRANSACTION);
            assertThat(found.what()).contains("'left'");
            assertThat(found.remedy()).contains("ROLLBACK PREPARED 'left'");
        } finally {
            execute("ROLLBACK PREPARED 'left'");
        }
    }

    @Test
    void autovacuum_that_is_off_is_found_for_the_server_and_for_a_table() throws SQLException {
        execute("ALTER TABLE perdure.mail SET (autovacuum_enabled = false)");
        assertThat(only(Kind.AUTOVACUUM_OFF).what()).isEqualTo("Autovacuum is off for the table perdure.mail.");
        assertThat(only(Kind.AUTOVACUUM_OFF).remedy())
                .isEqualTo("ALTER TABLE perdure.mail RESET (autovacuum_enabled);");
        execute("ALTER TABLE perdure.mail RESET (autovacuum_enabled)");
        assertThat(kinds()).isEmpty();
        execute("ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()");
        try {
            await().until(() -> kinds().contains(Kind.AUTOVACUUM_OFF));
            assertThat(only(Kind.AUTOVACUUM_OFF).what()).startsWith("Autovacuum is off on this server");
        } finally {
            execute("ALTER SYSTEM RESET autovacuum", "SELECT pg_reload_conf()");
            await().until(() -> !kinds().contains(Kind.AUTOVACUUM_OFF));
        }
    }

    @Test
    void dead_rows_and_free_space_are_found_before_and_after_vacuum() throws SQLException {
        execute(
                "CREATE TABLE perdure.wide (number int, text text) WITH (autovacuum_enabled = false)",
                "ALTER TABLE perdure.wide ALTER text SET STORAGE PLAIN",
                "INSERT INTO perdure.wide SELECT number, repeat('x', 1500) FROM generate_series(1, 60000) number",
                "DELETE FROM perdure.wide WHERE number < 59990",
                "ANALYZE perdure.wide");
        await().until(() -> kinds().contains(Kind.DEAD_ROWS));
        assertThat(only(Kind.DEAD_ROWS).what()).contains("perdure.wide", "59989 dead rows");
        assertThat(only(Kind.DEAD_ROWS).remedy()).contains("VACUUM perdure.wide");
        execute("VACUUM (ANALYZE) perdure.wide");
        await().until(() -> !kinds().contains(Kind.DEAD_ROWS));
        assertThat(only(Kind.BLOAT).what()).containsPattern("About \\d+ MB of the \\d+ MB of the table perdure.wide");
        StoreStatus.Table wide = status(store).tables().stream()
                .filter(table -> table.name().equals("wide"))
                .findFirst()
                .orElseThrow();
        assertThat(wide.freeBytes().orElseThrow()).isBetween(wide.bytes() * 9 / 10, wide.bytes());
        assertThat(wide.vacuumedAt()).isPresent();
        execute("VACUUM (FULL, ANALYZE) perdure.wide");
        assertThat(kinds()).doesNotContain(Kind.BLOAT);
    }

    @Test
    void the_free_space_of_a_table_without_any_is_estimated_as_little() throws SQLException {
        execute(
                "INSERT INTO perdure.event SELECT number, 0, 0, 1, now(), repeat('x', number % 80) FROM generate_series(1, 20000) number",
                "VACUUM (ANALYZE) perdure.event");
        StoreStatus.Table event = status(store).tables().stream()
                .filter(table -> table.name().equals("event"))
                .findFirst()
                .orElseThrow();
        assertThat(event.freeBytes().orElseThrow()).isLessThan(event.bytes() / 5);
    }

    @Test
    void a_replication_slot_that_nobody_reads_is_found() throws SQLException {
        execute("SELECT pg_create_physical_replication_slot('forgotten', true)");
        try {
            assertThat(kinds()).isEmpty();
            for (int i = 0; i < 18; i++) { // 16 MB each
                execute("SELECT pg_logical_emit_message(false, 'x', 'x')", "SELECT pg_switch_wal()");
            }
            assertThat(only(Kind.REPLICATION_SLOT).what()).contains("'forgotten'", "MB of the write-ahead log");
            assertThat(only(Kind.REPLICATION_SLOT).remedy()).contains("pg_drop_replication_slot('forgotten')");
        } finally {
            execute("SELECT pg_drop_replication_slot('forgotten')");
        }
    }

    @Test
    void a_schema_that_is_newer_than_the_process_is_found_and_an_older_one_is_refused_with_what_to_do()
            throws SQLException {
        execute("INSERT INTO perdure.migration (version, name, checksum) VALUES (9999, 'V9999__later.sql', 'x')");
        assertThat(only(Kind.NEWER_SCHEMA).what())
                .isEqualTo(
                        "The schema perdure has version 9999, and this process knows it up to %d. It cannot be started again."
                                .formatted(Migrations.newest()));
        execute("DELETE FROM perdure.migration WHERE version >= " + Migrations.newest());
        assertThatThrownBy(() ->
                        PostgresStore.on(server.dataSource()).migrate(false).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("has not been migrated");
    }

    @Test
    void a_worker_may_ask_and_is_told_what_it_cannot_see() throws SQLException {
        execute(
                "DROP ROLE IF EXISTS status_worker",
                "CREATE ROLE status_worker LOGIN PASSWORD 'x'",
                "DROP ROLE IF EXISTS status_viewer",
                "CREATE ROLE status_viewer",
                PostgresStore.grants("perdure", "status_worker", "status_viewer"));
        try (Connection left = server.dataSource().getConnection();
                Statement statement = left.createStatement();
                PostgresStore limited = PostgresStore.on(as("status_worker", "x"))
                        .notifications(false)
                        .open()) {
            left.setAutoCommit(false);
            statement.execute("SELECT 1");
            StoreStatus status = status(limited);
            assertThat(status.oldestTransaction()).isEmpty();
            assertThat(status.findings()).singleElement().satisfies(finding -> {
                assertThat(finding.kind()).isEqualTo(Kind.HIDDEN_SESSIONS);
                assertThat(finding.what()).startsWith("The role status_worker cannot see the transactions of ");
                assertThat(finding.remedy()).startsWith("GRANT pg_read_all_stats TO status_worker");
            });
            assertThat(status.tables()).extracting(StoreStatus.Table::name).contains("run");
            execute("GRANT pg_read_all_stats TO status_worker");
            assertThat(status(limited).findings()).isEmpty();
            assertThat(status(limited).oldestTransaction()).isPresent();
        }
    }

    private static DataSource as(String user, String password) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(server.jdbcUrl());
        source.setUser(user);
        source.setPassword(password);
        return source;
    }
}
