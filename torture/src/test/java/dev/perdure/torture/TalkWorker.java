package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Rally;
import java.io.IOException;
import java.time.Duration;

/** A worker process that plays for one queue. Ends with its standard input, so that it cannot outlive the test. */
public final class TalkWorker {
    private TalkWorker() {}

    /** Arguments: the JDBC URL, the user, the password, the queue, the warm window. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(Rally.definition(), Waking.waiter(), Waking.errand())
                    .queues(args[3])
                    .warmWindow(Duration.parse(args[4]))
                    .lease(Site.LEASE)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
