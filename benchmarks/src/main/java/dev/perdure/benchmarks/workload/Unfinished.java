package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.server.Site;
import java.sql.SQLException;
import java.time.Duration;

/** Asks the database how many runs are unfinished, on a connection that is there before it matters and whose cost is not counted. */
final class Unfinished implements AutoCloseable {
    private final Observer observer;
    private final String query;

    Unfinished(Site site, String query) throws SQLException {
        this.observer = new Observer(site);
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
