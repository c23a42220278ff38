package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Steps;
import java.io.IOException;
import java.time.Duration;

/** A worker process to be killed. Ends with its standard input, so that it cannot outlive the test. */
public final class CrashWorker {
    static final Duration LEASE = Duration.ofSeconds(2);

    private CrashWorker() {}

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = pool(args[0], args[1], args[2]);
                HikariDataSource ledgerPool = pool(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(Steps.definition(new OutsideLedger(ledgerPool)))
                    .lease(LEASE)
                    .maxRuns(200)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }

    static HikariDataSource pool(String url, String user, String password) {
        return pool(url, user, password, 5);
    }

    static HikariDataSource pool(String url, String user, String password, int size) {
        return new Address(url, user, password).pool(size);
    }
}
