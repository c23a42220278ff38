package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.torture.Bank.Transfer;
import dev.perdure.torture.CuttingProxy.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Transfers as transaction steps, by worker processes that are killed, over connections that are cut after the server
 * is done, the commit included. Short inside {@code verify}; the long form is {@code ./mvnw verify -pl perdure-postgres
 * -am -Dit.test=MoneyIT -Dmoney.transfers=5000 -Dmoney.kills=20 …}, see {@code docs/internals/crash-tests.md}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class MoneyIT {
    private static final int TRANSFERS = Integer.getInteger("money.transfers", 300);
    private static final int KILLS = Integer.getInteger("money.kills", 2);
    private static final int ONE_IN = Integer.getInteger("money.onein", 40);
    private static final long SEED = Long.getLong("money.seed", 42L);
    private static final int WORKERS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    @Test
    void sums_are_exact_and_every_transfer_is_made_once() throws Exception {
        Random chance = new Random(SEED);
        try (SharedPostgres.Fresh database = SharedPostgres.database("money");
                CuttingProxy proxy = new CuttingProxy(SharedPostgres.server().port(), ONE_IN, SEED);
                HikariDataSource pool = CrashWorker.pool(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            Bank.create(pool);
            proxy.cutting(true);
            String bankUrl = "jdbc:postgresql://127.0.0.1:%d/%s?sslmode=disable&gssEncMode=disable"
                    .formatted(proxy.port(), database.name());
            List<WorkerProcess> workers = new ArrayList<>();
            try {
                for (int i = 0; i < WORKERS; i++) {
                    workers.add(WorkerProcess.start(MoneyWorker.class, database, bankUrl));
                }
                for (WorkerProcess worker : workers) {
                    worker.ready();
                }
                List<Transfer> transfers = IntStream.range(0, TRANSFERS)
                        .mapToObj(i -> transfer(chance))
                        .toList();
                List<Run<Integer>> runs = client.startAll(
                        transfers,
                        input -> Invocation.of(Bank.definition(PostgresTransactions.on(store)), input),
                        input -> StartOptions.defaults());
                for (int kill = 0; kill < KILLS; kill++) {
                    LockSupport.parkNanos(
                            Duration.ofMillis(300 + chance.nextInt(700)).toNanos());
                    int victim = chance.nextInt(WORKERS);
                    workers.get(victim).kill();
                    workers.set(victim, WorkerProcess.start(MoneyWorker.class, database, bankUrl));
                }
                runs.forEach(run -> run.result(PATIENCE));
                System.out.printf(
                        "money: %d transfers, %d kills, %d answers lost, of them %d of a commit%n",
                        TRANSFERS, KILLS, proxy.cuts(), proxy.hits().getOrDefault(Kind.TRANSACTION, 0));
                assertThat(client.runs(RunFilter.all().state(RunState.COMPLETED).limit(10_000))
                                .list())
                        .as("runs that have completed")
                        .hasSize(TRANSFERS);
                Bank.isRight(pool, TRANSFERS);
                assertThat(proxy.hits()).as("lost answers").containsKey(Kind.TRANSACTION);
            } finally {
                workers.forEach(WorkerProcess::close);
            }
        }
    }

    private static Transfer transfer(Random chance) {
        int source = chance.nextInt(Bank.ACCOUNTS);
        int target = (source + 1 + chance.nextInt(Bank.ACCOUNTS - 1)) % Bank.ACCOUNTS;
        return new Transfer(source, target, 1 + chance.nextInt(20));
    }
}
