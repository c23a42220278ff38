package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.torture.CrashPointWorker.Point;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Transfers;
import dev.perdure.torture.work.Transfers.Transfer;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A process that dies at each point of a transaction step, by name: the transfer is made once. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CrashPointIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** One transfer, with something to happen in its body after its SQL. */
    static Definition<Transfer, Integer> definition(TransactionSource<Connection> accounts, Runnable inBody) {
        return Definition.of("transfer", Transfer.class, Integer.class, (ctx, transfer) -> {
            String run = ctx.runId().value();
            return ctx.transaction("transfer", accounts, connection -> {
                int left = Transfers.transfer(connection, run, transfer);
                inBody.run();
                return left;
            });
        });
    }

    @Test
    void the_transfer_is_made_once_although_the_worker_died_right_after_its_commit() throws Exception {
        makesTheTransferOnce(Point.AFTER_COMMIT_BEFORE_ACKNOWLEDGEMENT);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AFTER_COMMIT_BEFORE_ACKNOWLEDGEMENT")
    @Tag("thorough")
    void the_transfer_is_made_once_although_the_worker_died_before_its_end(Point point) throws Exception {
        makesTheTransferOnce(point);
    }

    private static void makesTheTransferOnce(Point point) throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        try (SharedPostgres.Fresh database = SharedPostgres.database("crash_point");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password(), 8);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            try (Connection connection = pool.getConnection()) {
                Transfers.create(connection);
            }
            Definition<Transfer, Integer> transfer =
                    definition(PostgresTransactions.on(store), bodies::incrementAndGet);
            Run<Integer> run;
            try (WorkerProcess worker = WorkerProcess.start(CrashPointWorker.class, database, point.name())) {
                worker.ready();
                run = client.start(Invocation.of(transfer, new Transfer(1, 2, 100)), StartOptions.id("run"));
                assertThat(worker.exitCode()).as("it died at the point").isEqualTo(CrashPointWorker.EXIT);
            }
            try (Perdure other = Perdure.on(store)
                    .register(transfer)
                    .lease(CrashPointWorker.LEASE)
                    .start()) {
                assertThat(other.run(run.id(), new TypeRef<Integer>() {}).result(PATIENCE))
                        .isEqualTo(Transfers.BALANCE - 100);
            }
            assertThat(Transfers.violations(pool, 1)).isEmpty();
            assertThat(bodies)
                    .as("bodies of the worker that took over")
                    .hasValue(point == Point.AFTER_COMMIT_BEFORE_ACKNOWLEDGEMENT ? 0 : 1);
        }
    }
}
