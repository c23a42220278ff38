package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import java.io.IOException;

/** A worker process that moves money until it is killed. Ends with its standard input. */
public final class MoneyWorker {
    private static final int BODIES = 4;

    private MoneyWorker() {}

    /** Arguments: the JDBC URL, the user, the password, and the JDBC URL for the application's own transactions. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = CrashWorker.pool(args[0], args[1], args[2]);
                HikariDataSource bankPool = CrashWorker.pool(args[3], args[1], args[2], BODIES);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(Bank.definition(PostgresTransactions.on(store, bankPool)))
                    .lease(CrashWorker.LEASE)
                    .maxRuns(50)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
