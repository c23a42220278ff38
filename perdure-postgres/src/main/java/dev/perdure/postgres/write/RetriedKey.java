package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The deduplication key of a run that is about to continue or to begin anew. The run gets it back, unless another run that has not ended
 * has it now. The transaction locks the key before it locks any run, as starts under keys do.
 */
final class RetriedKey {
    private final Connection connection;
    private final StartKeySql sql;
    private final RunId run;
    private final String definition;
    private final StartKey.Deduplication key;

    private RetriedKey(Connection connection, StartKeySql sql, RunId run, String definition, String key) {
        this.connection = connection;
        this.sql = sql;
        this.run = run;
        this.definition = definition;
        this.key = StartKey.deduplicate(key);
    }

    /** The key of this run, locked; or null if it has none. */
    static @Nullable RetriedKey lock(Connection connection, StartKeySql sql, RunId run, Database database)
            throws SQLException {
        RetriedKey own;
        try (PreparedStatement statement = Database.prepare(connection, sql.own)) {
            new Parameters(statement).text(run.value());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                own = new RetriedKey(connection, sql, run, row.getString("definition"), row.getString("start_key"));
            }
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
            own.named(new Parameters(statement)).integer(Codes.of(own.key)).time(database.time());
            statement.execute();
        }
        return own;
    }

    private Parameters named(Parameters parameters) throws SQLException {
        return parameters.text(definition).text(key.key());
    }

    /** The key as the caller gave it. */
    String text() {
        return key.key();
    }

    /** The id of the run that has it now, so that this run cannot have it back; or null. */
    @Nullable
    String rival() throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.rival)) {
            named(new Parameters(statement)).text(run.value());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getString("id") : null;
            }
        }
    }

    void takeBack() throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.takeBack)) {
            named(new Parameters(statement).text(run.value()));
            statement.execute();
        }
    }
}
