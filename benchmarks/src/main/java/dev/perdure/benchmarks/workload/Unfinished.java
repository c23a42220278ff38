package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Site;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Asks the database how many runs are unfinished, on a connection that is there before it matters. */
final class Unfinished implements AutoCloseable {
    private final Connection connection;
    private final PreparedStatement question;

    Unfinished(Site site, String query) throws SQLException {
        this.connection = site.connect();
        this.question = connection.prepareStatement(query);
        count();
    }

    private long count() throws SQLException {
        try (ResultSet row = question.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    void awaitNone() throws Exception {
        while (count() > 0) {
            Thread.sleep(Duration.ofMillis(2));
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
