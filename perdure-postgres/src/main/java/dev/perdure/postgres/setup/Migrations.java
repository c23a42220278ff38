package dev.perdure.postgres.setup;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Brings the schema to the version of this library.
 *
 * <p>How it works: a transaction for each migration, so that tables are locked no longer than one of them takes, and none is
 * done twice if the process dies. Each is under one lock that ends with it, so if several workers start at once, the
 * others find it done. It first checks whether there is anything to do, without a lock and without the right to change
 * anything, because workers normally lack that right.
 */
public final class Migrations {
    /**
     * A numbered file.
     *
     * @param version its number
     * @param name its name
     * @param text its published content
     */
    record Migration(int version, String name, String text) {
        static Migration of(String name) {
            int version = Integer.parseInt(name.substring(1, name.indexOf("__")));
            return new Migration(version, name, resource("migrations/" + name));
        }

        String checksum() {
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
                return HexFormat.of().formatHex(digest);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("Every JDK has SHA-256.", e);
            }
        }
    }

    private static final List<String> FILES = List.of(
            "V001__runs.sql",
            "V002__workers.sql",
            "V003__ready_runs_and_timers.sql",
            "V004__mail.sql",
            "V005__objects.sql",
            "V006__queues.sql",
            "V007__limiters.sql",
            "V008__start_keys.sql",
            "V009__inbox.sql",
            "V010__retention_and_audit.sql",
            "V011__why_runs_wait.sql",
            "V012__views.sql",
            "V083__definitions_by_creation.sql",
            "V100__what_pending_runs_wait_for.sql",
            "V101__versions.sql",
            "V105__reports.sql",
            "V106__log_lines.sql",
            "V110__reactions.sql",
            "V115__large_payloads.sql",
            "V116__payload_turn.sql",
            "V117__awaited_children.sql",
            "V118__children_by_creation.sql",
            "V130__headers.sql",
            "V134__backends_of_workers.sql",
            "V140__heap_of_workers.sql",
            "V141__headers_of_mail.sql",
            "V150__shards.sql",
            "V151__outgoing.sql",
            "V152__outgoing_by_partition.sql",
            "V155__moving_partitions.sql",
            "V156__encrypted_attributes.sql",
            "V157__numbers_of_shards.sql",
            "V158__children_elsewhere_by_creation.sql",
            "V159__changes_of_moving_partitions.sql",
            "V160__shares_of_limits.sql",
            "V161__children_elsewhere_by_name.sql",
            "V162__limits_of_keys.sql",
            "V163__runs_taken_by_key.sql",
            "V164__queues_that_are_not_declared.sql",
            "V165__why_runs_are_ready.sql",
            "V166__why_forks_wait.sql",
            "V167__bursts_beside_rates.sql",
            "V168__whole_limits_of_workers.sql",
            "V170__arrived_partitions.sql",
            "V171__backslashes_in_functions.sql",
            "V175__large_trees.sql",
            "V181__cancelled_runs_first.sql",
            "V183__reserved_names.sql",
            "V188__one_check_of_starts.sql",
            "V191__types_of_others.sql",
            "V192__replicas_and_parallel_plans.sql",
            "V193__weights_of_tasks.sql");

    /** Waits for another process that migrates at the same time; ends with the transaction. */
    private static final String ALONE = "SELECT pg_advisory_xact_lock(hashtextextended('perdure:' || ?, 0))";

    private static final String BEGUN = "SELECT to_regclass('${schema}.migration') IS NOT NULL";
    private static final String APPLIED = "SELECT version, name, checksum FROM ${schema}.migration ORDER BY version";
    private static final String NOTE = "INSERT INTO ${schema}.migration (version, name, checksum) VALUES (?, ?, ?)";
    private static final String NOTE_BY_HAND =
            "INSERT INTO ${schema}.migration (version, name, checksum) VALUES (%s, '%s', '%s');%n";

    /**
     * A migration of the schema.
     *
     * @param name its name
     * @param checksum of the text that was applied
     */
    private record Applied(String name, String checksum) {}

    private final Schema schema;
    private final List<Migration> known;

    public Migrations(Schema schema) {
        this(schema, FILES.stream().map(Migration::of).toList());
    }

    public Migrations(Schema schema, List<Migration> known) {
        this.schema = schema;
        this.known = known;
    }

    /** The number of the newest migration that this library has. */
    public static int newest() {
        return Migration.of(FILES.getLast()).version();
    }

    /** A file beside the public types, such as {@code roles.sql}. */
    public static String resource(String name) {
        try (InputStream in = Migrations.class.getResourceAsStream("/dev/perdure/postgres/" + name)) {
            if (in == null) {
                throw new IllegalStateException("The resource %s is missing from the jar.".formatted(name));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String sql(String text) {
        return text.replace("${schema}", schema.name());
    }

    /** All migrations as one script, which a DBA runs in one transaction. */
    public String script() {
        StringBuilder script = new StringBuilder(sql(resource("migrations/bookkeeping.sql")));
        for (Migration migration : known) {
            script.append('\n').append(sql(migration.text())).append('\n');
            script.append(sql(NOTE_BY_HAND).formatted(migration.version(), migration.name(), migration.checksum()));
        }
        return script.toString();
    }

    /** Whether all known migrations have been applied. Throws if the schema cannot be used. */
    public boolean isComplete(Database database) {
        return database.call(connection -> missing(connection).isEmpty());
    }

    /**
     * Applies what is missing, beside workers that go on with the older version. Waits as long as it takes, also for
     * another process that does the same.
     */
    public void migrate(Database database) {
        PatientTransactions transactions = new PatientTransactions(database);
        boolean more = true;
        while (more) {
            transactions.at("The migration of the schema '%s'".formatted(schema.name()));
            more = transactions.run(connection -> applyNext(connection, transactions));
        }
    }

    /** @return whether more is missing */
    private boolean applyNext(Connection connection, PatientTransactions transactions) throws SQLException {
        try (PreparedStatement alone = connection.prepareStatement(ALONE)) {
            alone.setString(1, schema.name());
            alone.execute();
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql(resource("migrations/bookkeeping.sql")));
            List<Migration> missing = missing(connection);
            boolean isNew = missing.size() == known.size(); // Nobody works with it, so one commit is enough.
            List<Migration> next = isNew ? missing : missing.stream().limit(1).toList();
            for (Migration migration : next) {
                transactions.at("Migration %s of the schema '%s' (%s of %s)"
                        .formatted(migration.name(), schema.name(), known.indexOf(migration) + 1, known.size()));
                statement.execute(sql(migration.text()));
                note(connection, migration);
            }
            return missing.size() > next.size();
        }
    }

    private void note(Connection connection, Migration migration) throws SQLException {
        try (PreparedStatement note = connection.prepareStatement(sql(NOTE))) {
            note.setInt(1, migration.version());
            note.setString(2, migration.name());
            note.setString(3, migration.checksum());
            note.execute();
        }
    }

    private List<Migration> missing(Connection connection) throws SQLException {
        SortedMap<Integer, Applied> applied = applied(connection);
        int newest = known.stream().mapToInt(Migration::version).max().orElse(0);
        refuseDevelopmentVersions(applied.headMap(newest + 1));
        applied.keySet().stream()
                .filter(version -> version > newest)
                .findFirst()
                .ifPresent(version -> {
                    throw new StoreException(
                            Kind.UNUSABLE,
                            "The schema '%s' has version %s, but this library knows only up to %s. Update the library, or point it at another schema."
                                    .formatted(schema.name(), version, newest),
                            null);
                });
        for (Migration migration : known) {
            Applied same = applied.get(migration.version());
            if (same != null && !same.checksum().equals(migration.checksum())) {
                throw new StoreException(
                        Kind.UNUSABLE,
                        "Migration %s of the schema '%s' was applied from another text than this library has. Was the file edited? Restore the published one."
                                .formatted(migration.name(), schema.name()),
                        null);
            }
        }
        return known.stream()
                .filter(migration -> !applied.containsKey(migration.version()))
                .toList();
    }

    /** Before 0.1 each change of the schema had a file, under numbers that others have now. */
    private void refuseDevelopmentVersions(Map<Integer, Applied> applied) {
        Map<Integer, String> names = known.stream().collect(Collectors.toMap(Migration::version, Migration::name));
        applied.forEach((version, migration) -> {
            if (!migration.name().equals(names.get(version))) {
                throw new StoreException(
                        Kind.UNUSABLE,
                        "A development version from before 0.1 made the schema '%1$s': this library does not have its migration %2$s, and no migration leads from there. Drop the schema with its runs (DROP SCHEMA %1$s CASCADE), or point the library at another schema."
                                .formatted(schema.name(), migration.name()),
                        null);
            }
        });
    }

    private SortedMap<Integer, Applied> applied(Connection connection) throws SQLException {
        SortedMap<Integer, Applied> applied = new TreeMap<>();
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(sql(BEGUN))) {
                row.next();
                if (!row.getBoolean(1)) {
                    return applied;
                }
            }
            try (ResultSet rows = statement.executeQuery(sql(APPLIED))) {
                while (rows.next()) {
                    applied.put(
                            rows.getInt("version"), new Applied(rows.getString("name"), rows.getString("checksum")));
                }
            }
        }
        return applied;
    }
}
