package dev.perdure.postgres.setup;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.jdbc.Causes;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The checks before a store opens. Each failure says what to do about it. */
public final class Preflight {
    private static final int OLDEST = 14;
    private static final String SERVER = """
            SELECT current_setting('server_version_num')::int / 10000 AS version,
                   current_setting('server_version') AS full_version,
                   current_setting('synchronous_commit') AS synchronous_commit
            """;
    /** What roles.sql grants to a worker and this role lacks. A list of rights in one question would ask for any of them. */
    private static final String RIGHTS = """
            SELECT current_user AS role, string_agg(lacking.privilege || ' on ' || lacking.name, ', ' ORDER BY lacking.name) AS missing
            FROM (
                SELECT p.privilege, t.name
                FROM (VALUES
                    ('SELECT', 'secret closed_partition'),
                    ('SELECT UPDATE', 'retention inbox_lock'),
                    ('SELECT INSERT', 'shard'),
                    ('INSERT', 'partition_change'),
                    ('SELECT INSERT UPDATE', 'queue limiter'),
                    ('SELECT INSERT DELETE', 'outgoing parent_elsewhere event awakeable audit attribute log_line inbox_task drain'),
                    ('SELECT INSERT UPDATE DELETE', 'run worker journal mail publication report subscription lane takeover held ready timer'),
                    ('SELECT INSERT UPDATE DELETE', 'start_limit start_key inbox object object_call object_state reaction lateness'),
                    ('SELECT INSERT UPDATE DELETE', 'slot queue_turn queue_rate permit limiter_rate share payload payload_chunk removal')
                ) AS g (privileges, names)
                CROSS JOIN LATERAL string_to_table(g.privileges, ' ') AS p (privilege)
                CROSS JOIN LATERAL string_to_table(g.names, ' ') AS t (name)
                WHERE NOT has_table_privilege('${schema}.' || t.name, p.privilege)
                UNION ALL
                SELECT 'USAGE', 'key_block' WHERE NOT has_sequence_privilege('${schema}.key_block', 'USAGE')
            ) AS lacking
            """;

    /** The catalogs of Citus that exist. Its extension creates them in a schema without other tables. */
    private static final String CITUS = """
            SELECT COALESCE(has_table_privilege(to_regclass('pg_catalog.pg_dist_partition'), 'SELECT'), false) AS tables,
                   COALESCE(has_table_privilege(to_regclass('pg_catalog.pg_dist_schema'), 'SELECT'), false) AS schemas
            """;

    private static final String CITUS_TABLES = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_dist_partition p
                JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = ?) AS managed
            """;

    private static final String CITUS_SCHEMAS = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_dist_schema s
                JOIN pg_catalog.pg_namespace n ON n.oid = s.schemaid
                WHERE n.nspname = ?) AS managed
            """;

    private Preflight() {}

    /** Opens the first connection, and finds out whether it comes from a pool. */
    public static Connections connect(DataSource source, int most) {
        try {
            return Connections.from(source, most);
        } catch (SQLException problem) {
            throw refused(problem);
        }
    }

    static StoreException refused(SQLException problem) {
        return switch (SqlState.of(problem)) {
            case GIVE_UP ->
                new StoreException(
                        Kind.UNUSABLE,
                        "The database refused the connection: %s. %s"
                                .formatted(cause(problem), SqlState.remedy(state(problem))),
                        problem);
            case RECONNECT, RERUN, PAUSE, LOCKED, CAPPED, UNFORESEEN, DATA -> unreachable(problem);
        };
    }

    private static StoreException unreachable(SQLException problem) {
        for (Throwable cause : Causes.of(problem)) {
            // A pool wraps the server's message into a timeout of its own.
            if (cause instanceof SQLException said
                    && said.getSQLState() != null
                    && SqlState.of(said) == SqlState.GIVE_UP) {
                return refused(said);
            }
        }
        return new StoreException(
                Kind.UNAVAILABLE,
                "The database cannot be reached: %s. Check that PostgreSQL runs, and host, port and limits of the DataSource."
                        .formatted(cause(problem)),
                problem);
    }

    /** The message of the driver: a pool only reports that it got no connection in time. */
    private static String cause(SQLException problem) {
        SQLException said = problem;
        for (Throwable cause : Causes.of(problem)) {
            said = cause instanceof SQLException deeper ? deeper : said;
        }
        String message = String.valueOf(said.getMessage()).strip();
        return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
    }

    private static String state(SQLException problem) {
        return String.valueOf(problem.getSQLState());
    }

    /**
     * Takes as many connections at once as the engine needs.
     *
     * @param most how many the engine takes if it can get them
     */
    public static void requireConnections(DataSource source, int needed, int most) {
        List<Connection> taken = new ArrayList<>();
        try {
            for (int i = 0; i < needed; i++) {
                taken.add(source.getConnection());
            }
            requireOwnStatements(taken);
        } catch (SQLException problem) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The DataSource provided %s connections at once; Perdure needs %s and takes up to %s. Raise the size of the pool or the limits of the server."
                            .formatted(taken.size(), needed, most),
                    problem);
        } finally {
            taken.forEach(Preflight::close);
        }
    }

    /**
     * Prepares a different statement on each connection and uses it again. Behind a pooler in transaction mode that
     * does not support prepared statements, one of them already exists or is gone. This is detected here, because later
     * a connection might execute what another one has prepared under the same name.
     */
    private static void requireOwnStatements(List<Connection> connections) {
        try {
            for (int use = 0; use < 2; use++) {
                for (int i = 0; i < connections.size(); i++) {
                    try (PreparedStatement statement =
                            Database.prepare(connections.get(i), "SELECT %s AS connection".formatted(i))) {
                        statement.execute();
                    }
                }
            }
        } catch (SQLException problem) {
            throw Database.translated(problem, SqlState.of(problem));
        }
    }

    private static void close(Connection connection) {
        try {
            if (!connection.getAutoCommit()) {
                connection.rollback(); // not every pool does
            }
            connection.close();
        } catch (SQLException e) {
            // It was only to be counted.
        }
    }

    public static void requireServer(Database database, boolean unsafeCommitAllowed) {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(SERVER);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                requireVersion(row.getInt("version"), row.getString("full_version"));
                requireSafeCommit(row.getString("synchronous_commit"), unsafeCommitAllowed);
            }
            return null;
        });
    }

    /**
     * Refuses Citus: its planner refuses some statements of Perdure, and moving a schema loses acknowledged changes.
     */
    public static void requireNoCitus(Database database, Schema schema) {
        boolean managed = database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(CITUS);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                return (row.getBoolean("tables") && isManaged(connection, CITUS_TABLES, schema))
                        || (row.getBoolean("schemas") && isManaged(connection, CITUS_SCHEMAS, schema));
            }
        });
        if (managed) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "Citus manages tables of the schema '%s', and its planner cannot run the statements of Perdure. Use a schema that Citus does not manage, or a PostgreSQL without Citus."
                            .formatted(schema.name()),
                    null);
        }
    }

    private static boolean isManaged(Connection connection, String sql, Schema schema) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            new Parameters(statement).text(schema.name());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean("managed");
            }
        }
    }

    public static void requireVersion(int version, String fullVersion) {
        if (version < OLDEST) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The server is PostgreSQL %s; Perdure needs %s or newer. Upgrade the server."
                            .formatted(fullVersion, OLDEST),
                    null);
        }
    }

    private static void requireSafeCommit(String synchronousCommit, boolean unsafeCommitAllowed) {
        if (synchronousCommit.equals("off") && !unsafeCommitAllowed) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "synchronous_commit is off, so a crash of the server would lose acknowledged runs. Turn it on for this role or database, or call allowUnsafeCommit() if you accept that loss.",
                    null);
        }
    }

    public static void requireRights(Database database, Schema schema) {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(schema.sql(RIGHTS));
                    ResultSet row = statement.executeQuery()) {
                row.next();
                String missing = row.getString("missing");
                if (missing != null) {
                    throw new StoreException(
                            Kind.UNUSABLE,
                            "The role '%s' lacks rights on the schema '%s': %s. Let its owner grant them: PostgresStore.grants(…) prints the statements."
                                    .formatted(row.getString("role"), schema.name(), missing),
                            null);
                }
            }
            return null;
        });
    }
}
