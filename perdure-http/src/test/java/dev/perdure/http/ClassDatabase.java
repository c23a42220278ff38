package dev.perdure.http;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The database of a test class. It is migrated once and emptied between tests: to create, migrate and drop a database
 * for each takes the server a second.
 */
final class ClassDatabase implements AutoCloseable {
    private static final String DELETES = """
            SELECT string_agg(format('DELETE FROM %I.%I', schemaname, tablename), ';') FROM pg_tables
            WHERE schemaname = 'perdure' AND tablename NOT IN ('migration', 'inbox_lock', 'secret', 'retention')""";
    private static final String RETENTION =
            "DELETE FROM perdure.retention; INSERT INTO perdure.retention DEFAULT VALUES";

    private final SharedPostgres.Fresh database;

    ClassDatabase(String hint) {
        database = SharedPostgres.database(hint);
        PostgresStore.on(database.dataSource()).notifications(false).open().close();
    }

    /** A store without runs. */
    PostgresStore emptyStore() {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            String deletes;
            try (ResultSet row = statement.executeQuery(DELETES)) {
                row.next();
                deletes = row.getString(1);
            }
            statement.execute(deletes);
            statement.execute(RETENTION);
        } catch (SQLException e) {
            throw new IllegalStateException("The tables could not be emptied.", e);
        }
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    public void close() {
        database.close();
    }
}
