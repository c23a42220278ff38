package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Observer;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Counts the unfinished runs in the database, on a connection that is opened before the measurement and whose cost does
 * not count.
 */
final class Unfinished implements AutoCloseable {
    private final Observer observer;
    private final String query;

    Unfinished(BenchDatabase database, String query) throws SQLException {
        this.observer = new Observer(database);
        this.query = query;
        observer.number(query);
    }

    void awaitNone() throws Exception {
        while (observer.number(query) > 0) {
            Thread.sleep(Duration.ofMillis(2));
        }
    }

    @Override
    public void close() throws SQLException {
        observer.close();
    }
}
