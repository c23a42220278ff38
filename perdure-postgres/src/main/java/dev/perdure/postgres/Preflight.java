package dev.perdure.postgres;

import dev.perdure.StoreException;
import dev.perdure.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** What is checked before a store opens. Each failure says what to do about it. */
final class Preflight {
    private static final int OLDEST = 14;
    private static final String SERVER = """
            SELECT current_setting('server_version_num')::int / 10000 AS version,
                   current_setting('server_version') AS full_version,
                   current_setting('synchronous_commit') AS synchronous_commit
            """;
    private static final String RIGHTS = """
            SELECT has_table_privilege('${schema}.run', 'SELECT, INSERT, UPDATE')
               AND has_table_privilege('${schema}.journal', 'DELETE')
               AND has_table_privilege('${schema}.event', 'SELECT, INSERT')
               AND has_table_privilege('${schema}.worker', 'DELETE')
               AND has_table_privilege('${schema}.lane', 'DELETE')
               AND has_table_privilege('${schema}.takeover', 'SELECT, INSERT, UPDATE, DELETE')
               AND has_table_privilege('${schema}.held', 'DELETE')
               AND has_table_privilege('${schema}.ready', 'DELETE')
               AND has_table_privilege('${schema}.timer', 'DELETE')
               AND has_table_privilege('${schema}.mail', 'UPDATE')
               AND has_table_privilege('${schema}.awakeable', 'INSERT')
               AND has_table_privilege('${schema}.subscription', 'DELETE')
               AND has_table_privilege('${schema}.publication', 'INSERT')
               AND has_table_privilege('${schema}.inbox', 'DELETE')
               AND has_table_privilege('${schema}.inbox_task', 'DELETE')
               AND has_table_privilege('${schema}.inbox_lock', 'UPDATE')
               AND has_sequence_privilege('${schema}.key_block', 'USAGE') AS enough,
                   current_user AS role
            """;

    private Preflight() {}

    /** Opens the first connection, and knows whether there is a pool behind it. */
    static Connections connect(DataSource source, int most) {
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
        for (Throwable cause = problem.getCause(); cause != null; cause = cause.getCause()) {
            // A pool wraps what the server said into a time-out of its own.
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

    /** What the driver said: a pool only says that it waited in vain. */
    private static String cause(SQLException problem) {
        SQLException said = problem;
        for (Throwable cause = problem.getCause(); cause != null; cause = cause.getCause()) {
            said = cause instanceof SQLException deeper ? deeper : said;
        }
        String message = String.valueOf(said.getMessage()).strip();
        return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
    }

    private static String state(SQLException problem) {
        return String.valueOf(problem.getSQLState());
    }

    /** Takes as many connections at once as the engine cannot do without. */
    static void requireConnections(DataSource source, int needed) {
        List<Connection> taken = new ArrayList<>();
        try {
            for (int i = 0; i < needed; i++) {
                taken.add(source.getConnection());
            }
            requireOwnStatements(taken);
        } catch (SQLException problem) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The DataSource gave %d connections at once; Perdure needs %d and works best with 9. Raise the size of the pool or the limits of the server."
                            .formatted(taken.size(), needed),
                    problem);
        } finally {
            taken.forEach(Preflight::close);
        }
    }

    /**
     * Prepares another statement on each connection, and uses it again. Behind a pooler in transaction mode that knows
     * no prepared statements, one of them is there already, or is gone: found out here, because later a connection might
     * execute what another one has prepared under the same name.
     */
    private static void requireOwnStatements(List<Connection> connections) {
        try {
            for (int use = 0; use < 2; use++) {
                for (int i = 0; i < connections.size(); i++) {
                    try (PreparedStatement statement =
                            Database.prepare(connections.get(i), "SELECT %d AS connection".formatted(i))) {
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
            connection.close();
        } catch (SQLException e) {
            // It was only to be counted.
        }
    }

    static void requireServer(Database database, boolean unsafeCommitAllowed) {
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

    static void requireVersion(int version, String fullVersion) {
        if (version < OLDEST) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The server is PostgreSQL %s; Perdure needs %d or newer. Upgrade the server."
                            .formatted(fullVersion, OLDEST),
                    null);
        }
    }

    private static void requireSafeCommit(String synchronousCommit, boolean unsafeCommitAllowed) {
        if (synchronousCommit.equals("off") && !unsafeCommitAllowed) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "synchronous_commit is off, so a crash of the server would lose acknowledged runs. Turn it on for this role or database, or call allowUnsafeCommit() if losing them is fine.",
                    null);
        }
    }

    static void requireRights(Database database, Schema schema) {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(schema.sql(RIGHTS));
                    ResultSet row = statement.executeQuery()) {
                row.next();
                if (!row.getBoolean("enough")) {
                    throw new StoreException(
                            Kind.UNUSABLE,
                            "The role '%s' lacks rights on the schema '%s'. Let its owner grant them: PostgresStore.grants(…) prints the statements."
                                    .formatted(row.getString("role"), schema.name()),
                            null);
                }
            }
            return null;
        });
    }
}
