package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Steps;
import dev.perdure.torture.work.Steps.Values;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * No notification ever arrives: the process that starts a run and the one that continues it meet in the tables only.
 */
class LostNotificationsIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration IDLE = Duration.ofSeconds(1);

    @Test
    void without_notifications_runs_of_another_process_are_found_by_polling() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("silent");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore here = silent(pool);
                PostgresStore there = silent(pool)) {
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            try (Perdure client = Perdure.on(here).client();
                    Perdure worker = Perdure.on(there)
                            .register(Steps.definition(ledger))
                            .closeTimeout(PATIENCE)
                            .start()) {
                // Until it has looked, found nothing and gone to sleep.
                UnderFire.pause(IDLE);
                List<Run<Values>> runs = client.startAll(
                        IntStream.range(0, 20).boxed().toList(),
                        number -> Invocation.of(Steps.definition(ledger), number),
                        number -> StartOptions.defaults());
                runs.forEach(run -> run.result(PATIENCE));
                new Invariants(ledger).hold(worker, runs);
            }
        }
    }

    private static PostgresStore silent(HikariDataSource pool) {
        return PostgresStore.on(pool).notifications(false).open();
    }
}
