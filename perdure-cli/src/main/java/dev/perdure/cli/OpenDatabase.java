package dev.perdure.cli;

import dev.perdure.Perdure;
import dev.perdure.cli.output.Page;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import javax.sql.DataSource;

/**
 * The database of a command, while it is open.
 *
 * @param store its store
 * @param perdure an engine without a worker
 * @param clock the clock of the server, which wrote the times that the command prints
 */
record OpenDatabase(PostgresStore store, Perdure perdure, Clock clock) {
    /** An empty page, with ages by the clock of the server. */
    Page page() {
        return new Page(clock.instant());
    }

    /** The clock of the server, by this machine's clock and the difference between the two. */
    static Clock clockOf(DataSource database) {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
            row.next();
            Instant there = row.getObject(1, OffsetDateTime.class).toInstant();
            return Clock.offset(Clock.systemUTC(), Duration.between(Instant.now(), there));
        } catch (SQLException trouble) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The server's time cannot be read: %s".formatted(trouble.getMessage()),
                    trouble);
        }
    }
}
