package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.schedule.Fire;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.Site;
import dev.perdure.transaction.TransactionSource;
import java.io.IOException;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * A worker process that fires schedules, to be killed. Ends with its standard input, so that it cannot outlive the
 * test.
 */
public final class ScheduleWorker {
    /** Every run has a transaction step: with fewer connections, runs wait for one rather than for their fire times. */
    private static final int POOL = 12;

    /** What falls due while a process is away waits in the database, not in the small heap of these processes. */
    private static final int MAX_RUNS = 500;

    private ScheduleWorker() {}

    /**
     * Notes its fire time and how late it was started, in a transaction step: so there is one line for each run, or
     * none.
     */
    static Definition<String, @Nullable Void> definition(TransactionSource<Connection> ledger) {
        return Definition.of("fired", String.class, (ctx, in) -> {
            Fire fire = Fire.of(ctx).orElseThrow();
            String lateness = Long.toString(fire.lateness().toMillis());
            ctx.transact(
                    "note",
                    ledger,
                    connection -> OutsideLedger.write(connection, ctx.runId().value(), in, lateness));
        });
    }

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2], POOL);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(definition(PostgresTransactions.on(store)))
                    .lease(Site.LEASE)
                    .maxRuns(MAX_RUNS)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
