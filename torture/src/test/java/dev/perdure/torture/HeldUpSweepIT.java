package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Steps;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A batch of a dead worker that hangs in the server, with its lane locked, while others want to bury that worker. */
class HeldUpSweepIT {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final String DEAD_WORKER = """
        WITH joined AS (
            INSERT INTO perdure.worker (id, definitions, lease, expires_at)
            VALUES (gen_random_uuid(), '{}', interval '1 second', now() - interval '1 second')
            RETURNING number
        )
        INSERT INTO perdure.lane (worker, number) SELECT number, 0 FROM joined RETURNING worker
        """;

    @Test
    void a_worker_that_cannot_bury_another_keeps_its_own_lease() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("held_up");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                Connection batch = database.dataSource().getConnection();
                Statement hanging = batch.createStatement()) {
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            int dead = number(statement, DEAD_WORKER);
            batch.setAutoCommit(false);
            hanging.execute("SELECT FROM perdure.lane WHERE worker = %d FOR KEY SHARE".formatted(dead));
            try (Perdure engine = Perdure.on(store)
                    .register(Steps.definition(ledger))
                    .lease(LEASE)
                    .start()) {
                UnderFire.pause(LEASE.multipliedBy(2));

                Steps.Values result =
                        engine.start(Invocation.of(Steps.definition(ledger), 1)).result(Duration.ofSeconds(10));
                assertThat(result.values()).hasSize(Steps.STEPS);
                assertThat(number(statement, "SELECT max(number) FROM perdure.worker"))
                        .as("the worker has not had to join again")
                        .isEqualTo(dead + 1);
                batch.rollback();
                awaitBurial(statement, dead);
            }
        }
    }

    private static void awaitBurial(Statement statement, int dead) throws SQLException {
        long limit = System.nanoTime() + LEASE.multipliedBy(3).toNanos();
        while (number(statement, "SELECT count(*) FROM perdure.lane WHERE worker = " + dead) > 0) {
            assertThat(System.nanoTime()).as("buried once its batch is over").isLessThan(limit);
            UnderFire.pause(Duration.ofMillis(20));
        }
    }

    private static int number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }
}
