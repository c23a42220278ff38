package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Site;
import java.io.IOException;

/**
 * A worker process that executes bulk actions, to be killed. Ends with its standard input, so that it cannot outlive
 * the test.
 */
public final class BulkWorker {
    private BulkWorker() {}

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store).lease(Site.LEASE).start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
