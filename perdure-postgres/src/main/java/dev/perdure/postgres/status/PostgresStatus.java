package dev.perdure.postgres.status;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.removal.PostgresRemovals;
import dev.perdure.postgres.setup.Migrations;
import dev.perdure.postgres.version.PostgresVersions;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.status.Finding;
import dev.perdure.status.Finding.Kind;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import dev.perdure.status.StoreStatus.InState;
import dev.perdure.status.StoreStatus.Removal;
import dev.perdure.status.StoreStatus.Table;
import dev.perdure.status.StoreStatus.Transaction;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads how the database is, and says what is wrong with it. */
public final class PostgresStatus {
    /** A claim beside a transaction that is open for longer begins to walk over the rows that vacuum may not remove. */
    private static final Duration LONG = Duration.ofMinutes(10);

    /** Autovacuum removes dead rows long before there are that many, or has removed them a minute later. */
    private static final long MANY_DEAD_ROWS = 50_000;

    private static final int MOST_FINDINGS = 10;
    private static final double MOST = 0.5;
    private static final long MUCH_FREE_SPACE = 64L * 1024 * 1024;
    private static final long MUCH_LOG = 256L * 1024 * 1024;
    private static final long MEGABYTE = 1024 * 1024;

    private final Database database;
    private final Schema schema;
    private final PostgresRemovals removals;
    private final PostgresVersions versions;
    private final StatusSql sql;

    public PostgresStatus(Database database, Schema schema, PostgresRemovals removals, PostgresVersions versions) {
        this.database = database;
        this.schema = schema;
        this.removals = removals;
        this.versions = versions;
        this.sql = new StatusSql(schema);
    }

    private record General(Instant at, int workers, int version, boolean autovacuum) {}

    private record Measured(Table table, boolean unattended, long mainBytes) {}

    public StoreStatus read() {
        General general = new Query(database)
                .all(
                        sql.general,
                        parameters -> parameters.time(database.time()),
                        row -> new General(
                                Results.time(row, "at"),
                                row.getInt("workers"),
                                row.getInt("version"),
                                row.getBoolean("autovacuum")))
                .getFirst();
        List<Measured> tables = all(sql.tables, PostgresStatus::table);
        Optional<Transaction> oldest =
                all(sql.transaction, PostgresStatus::transaction).stream().findFirst();
        List<InState> runs = all(sql.live, PostgresStatus::inState);
        List<Finding> findings = new ArrayList<>();
        runs.stream()
                .filter(ready -> ready.state() == RunState.READY && general.workers() == 0)
                .map(Finding::noWorker)
                .forEach(findings::add);
        if (general.workers() > 0) {
            late(sql.unregistered, general.at(), PostgresStatus::unregistered).stream()
                    .map(Finding::notRegistered)
                    .forEach(findings::add);
            late(sql.allDrain, general.at(), PostgresStatus::unregistered).stream()
                    .map(Finding::allDrain)
                    .forEach(findings::add);
            versions.list().stream()
                    .flatMap(version -> Finding.noVersion(version).stream())
                    .limit(MOST_FINDINGS)
                    .forEach(findings::add);
        }
        late(sql.pausedCalls, general.at(), PostgresStatus::pausedCall).stream()
                .map(Finding::pausedCall)
                .forEach(findings::add);
        oldest.filter(transaction -> isLong(transaction.since(), general.at()))
                .map(transaction -> longTransaction(transaction, general.at()))
                .ifPresent(findings::add);
        findings.addAll(all(sql.prepared, row -> prepared(row, general.at())).stream()
                .flatMap(Optional::stream)
                .toList());
        if (!general.autovacuum()) {
            findings.add(new Finding(
                    Kind.AUTOVACUUM_OFF,
                    "Autovacuum is off on this server: tables grow, and queries get slow.",
                    "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();"));
        }
        tables.forEach(table -> findings.addAll(findings(table)));
        findings.addAll(all(sql.slots, PostgresStatus::slot).stream()
                .flatMap(Optional::stream)
                .toList());
        newerSchema(general.version()).ifPresent(findings::add);
        findings.addAll(all(sql.hidden, PostgresStatus::hidden).stream()
                .flatMap(Optional::stream)
                .toList());
        return new StoreStatus(
                general.at(),
                general.workers(),
                runs,
                removal(general.at()),
                tables.stream().map(Measured::table).toList(),
                oldest,
                findings);
    }

    public StoreHealth health() {
        return all(
                        sql.health,
                        row -> new StoreHealth(
                                row.getInt("workers"),
                                row.getLong("ready"),
                                Optional.ofNullable(Results.timeOrNull(row, "oldest_ready"))))
                .getFirst();
    }

    private static InState inState(ResultSet row) throws SQLException {
        return new InState(
                Codes.state(row.getInt("state")),
                row.getLong("runs"),
                RunId.of(row.getString("oldest")),
                Results.time(row, "created_at"));
    }

    private Removal removal(Instant now) {
        RetentionInfo retention = removals.info();
        Duration shortest = retention.effective().shortest();
        if (shortest.equals(Retention.FOREVER)) {
            return new Removal(0, false, Optional.empty(), retention.nextPass());
        }
        Instant latest = now.minus(shortest);
        return new Query(database)
                .all(
                        sql.due,
                        parameters -> parameters.time(latest).time(latest).integer(Removal.BOUND + 1),
                        row -> new Removal(
                                Math.min(row.getInt("runs"), Removal.BOUND),
                                row.getInt("looked") > Removal.BOUND,
                                Optional.ofNullable(row.getString("first")).map(RunId::of),
                                retention.nextPass()))
                .getFirst();
    }

    /** Asks about runs that have been in their state for longer than the patience of findings. */
    private <T> List<T> late(String statement, Instant now, Query.Reader<T> reader) {
        return new Query(database)
                .readable(statement, parameters -> parameters.time(now.minus(Finding.PATIENCE)), reader);
    }

    private static Finding.Unregistered unregistered(ResultSet row) throws SQLException {
        return new Finding.Unregistered(
                row.getString("definition"),
                Optional.ofNullable(row.getString("version")),
                row.getLong("runs"),
                RunId.of(row.getString("oldest")),
                Results.time(row, "created_at"));
    }

    private static Finding.PausedCall pausedCall(ResultSet row) throws SQLException {
        return new Finding.PausedCall(
                RunId.of(row.getString("id")),
                row.getString("type"),
                row.getString("object_key"),
                Results.time(row, "changed_at"),
                row.getString("reason"));
    }

    private <T> List<T> all(String statement, Query.Reader<T> reader) {
        return new Query(database).readable(statement, parameters -> {}, reader);
    }

    private static Measured table(ResultSet row) throws SQLException {
        long free = row.getLong("free_bytes");
        Optional<Long> freeBytes = row.wasNull() ? Optional.empty() : Optional.of(free);
        return new Measured(
                new Table(
                        row.getString("name"),
                        row.getLong("rows"),
                        row.getLong("dead_rows"),
                        row.getLong("bytes"),
                        row.getLong("index_bytes"),
                        freeBytes,
                        Optional.ofNullable(Results.timeOrNull(row, "vacuumed_at"))),
                row.getBoolean("unattended"),
                row.getLong("main_bytes"));
    }

    private static Transaction transaction(ResultSet row) throws SQLException {
        return new Transaction(
                Results.time(row, "xact_start"),
                "process %s of user %s, application '%s'"
                        .formatted(row.getInt("pid"), row.getString("owner"), row.getString("application_name")),
                row.getString("state"));
    }

    private static boolean isLong(Instant since, Instant now) {
        return Duration.between(since, now).compareTo(LONG) > 0;
    }

    private static Finding longTransaction(Transaction transaction, Instant now) {
        return new Finding(
                Kind.LONG_TRANSACTION,
                "A transaction of %s has been open for %s minutes (%s). Vacuum cannot remove what was deleted since."
                        .formatted(
                                transaction.session(),
                                Duration.between(transaction.since(), now).toMinutes(),
                                transaction.state()),
                "Let the application end it, or end its session: SELECT pg_terminate_backend(process). Set idle_in_transaction_session_timeout.");
    }

    private static Optional<Finding> prepared(ResultSet row, Instant now) throws SQLException {
        Instant since = Results.time(row, "prepared");
        return isLong(since, now)
                ? Optional.of(new Finding(
                        Kind.PREPARED_TRANSACTION,
                        "The transaction '%s' of user %s was prepared at %s and has not ended. Vacuum cannot remove what was deleted since."
                                .formatted(row.getString("gid"), row.getString("owner"), since),
                        "End it as its transaction manager would: COMMIT PREPARED '%1$s' or ROLLBACK PREPARED '%1$s'."
                                .formatted(row.getString("gid"))))
                : Optional.empty();
    }

    private List<Finding> findings(Measured measured) {
        Table table = measured.table();
        String name = schema.name() + "." + table.name();
        List<Finding> findings = new ArrayList<>();
        if (measured.unattended()) {
            findings.add(new Finding(
                    Kind.AUTOVACUUM_OFF,
                    "Autovacuum is off for the table %s.".formatted(name),
                    "ALTER TABLE %s RESET (autovacuum_enabled);".formatted(name)));
        }
        if (table.deadRows() > MANY_DEAD_ROWS && table.deadRows() > MOST * (table.rows() + table.deadRows())) {
            findings.add(new Finding(
                    Kind.DEAD_ROWS,
                    "The table %s has %s dead rows and %s others: vacuum does not keep up."
                            .formatted(name, table.deadRows(), table.rows()),
                    "End transactions that have been open for long, then VACUUM %s. If this comes back, give autovacuum more: raise autovacuum_vacuum_cost_limit."
                            .formatted(name)));
        }
        table.freeBytes()
                .filter(free -> free > MUCH_FREE_SPACE && free > MOST * measured.mainBytes())
                .ifPresent(free -> findings.add(new Finding(
                        Kind.BLOAT,
                        "About %s MB of the %s MB of the table %s are free space."
                                .formatted(free / MEGABYTE, measured.mainBytes() / MEGABYTE, name),
                        "New rows use it. To give it back, stop the workers and VACUUM FULL %s, or use pg_repack."
                                .formatted(name))));
        return findings;
    }

    private static Optional<Finding> slot(ResultSet row) throws SQLException {
        long kept = row.getLong("kept");
        return kept > MUCH_LOG
                ? Optional.of(new Finding(
                        Kind.REPLICATION_SLOT,
                        "Nobody reads the replication slot '%s', and it keeps %s MB of the write-ahead log."
                                .formatted(row.getString("name"), kept / MEGABYTE),
                        "Start its reader; or, if it is not needed any more: SELECT pg_drop_replication_slot('%s'). Set max_slot_wal_keep_size."
                                .formatted(row.getString("name"))))
                : Optional.empty();
    }

    private Optional<Finding> newerSchema(int version) {
        return version > Migrations.newest()
                ? Optional.of(new Finding(
                        Kind.NEWER_SCHEMA,
                        "The schema %s has version %s, and this process knows it up to %s. It cannot be started again."
                                .formatted(schema.name(), version, Migrations.newest()),
                        "Deploy the newer version of the library to all processes."))
                : Optional.empty();
    }

    private static Optional<Finding> hidden(ResultSet row) throws SQLException {
        long sessions = row.getLong("sessions");
        return sessions > 0
                ? Optional.of(new Finding(
                        Kind.HIDDEN_SESSIONS,
                        "The role %s cannot see the transactions of %s sessions of other roles."
                                .formatted(row.getString("role"), sessions),
                        "GRANT pg_read_all_stats TO %s, or ask with another role.".formatted(row.getString("role"))))
                : Optional.empty();
    }
}
