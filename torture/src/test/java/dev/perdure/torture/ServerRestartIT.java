package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.StopMode;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.work.Steps;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * PostgreSQL itself stopped as in a crash, and started again, under load. See {@code docs/internals/crash-tests.md}.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("thorough")
class ServerRestartIT {
    private static final int RESTARTS = Integer.getInteger("crash.restarts", 2);
    private static final int BURST = 100;
    private static final long SEED = Long.getLong("crash.seed", 42L);
    private static final Duration ORPHANED_AT_MOST = Duration.ofSeconds(15);
    private static final String ORPHANS = """
            SELECT (SELECT count(*) FROM perdure.run r
                    WHERE r.owner IS NOT NULL AND NOT EXISTS (SELECT FROM alive WHERE alive.number = r.owner))
                 + (SELECT count(*) FROM perdure.held h
                    WHERE NOT EXISTS (SELECT FROM alive WHERE alive.number = h.worker))
            """;
    private static final String WITH_ALIVE =
            "WITH alive AS (SELECT number FROM perdure.worker WHERE NOT dead AND expires_at > clock_timestamp()) ";

    @Test
    void a_server_that_crashes_and_comes_back_fails_no_run(@TempDir Path folder) throws Exception {
        Random chance = new Random(SEED);
        try (EmbeddedPostgres server =
                        EmbeddedPostgres.start(EmbeddedPostgres.options().dataFolder(folder.resolve("server")));
                UnderFire fire = new UnderFire(
                        new Address(server.jdbcUrl(), server.user(), server.password()), CrashWorker.LEASE, 2)) {
            fire.load();
            for (int i = 0; i < RESTARTS; i++) {
                awaitProgress(fire);
                UnderFire.pause(Duration.ofMillis(chance.nextInt(1_500)));
                fire.burst(BURST);
                UnderFire.pause(Duration.ofMillis(chance.nextInt(150)));
                server.stop(StopMode.IMMEDIATE);
                // Every third time for longer than a lease, so that the workers come back as others.
                UnderFire.pause(i % 3 == 0 ? CrashWorker.LEASE : Duration.ofMillis(chance.nextInt(500)));
                server.restart();
            }
            long back = System.nanoTime();
            awaitNoOrphans(server, back);
            Duration orphaned = Duration.ofNanos(System.nanoTime() - back);
            Invariants invariants = fire.settle();
            System.out.printf(
                    "restarts: %d of them, %d runs, %d bodies for %d steps, nothing with a dead owner after %d ms%n",
                    RESTARTS,
                    fire.acknowledged(),
                    invariants.bodies(),
                    fire.acknowledged() * Steps.STEPS,
                    orphaned.toMillis());
        }
    }

    /** The next crash shall find something to destroy. */
    private static void awaitProgress(UnderFire fire) {
        int before = fire.acknowledged();
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (fire.acknowledged() < before + 10) {
            assertThat(System.nanoTime())
                    .as("starts are acknowledged again within 30 s")
                    .isLessThan(limit);
            UnderFire.pause(Duration.ofMillis(5));
        }
    }

    private static void awaitNoOrphans(EmbeddedPostgres server, long back) throws SQLException {
        while (orphans(server) > 0) {
            assertThat(Duration.ofNanos(System.nanoTime() - back))
                    .as("time until nothing has a dead owner")
                    .isLessThan(ORPHANED_AT_MOST);
            UnderFire.pause(Duration.ofMillis(50));
        }
    }

    private static int orphans(EmbeddedPostgres server) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                PreparedStatement count = connection.prepareStatement(WITH_ALIVE + ORPHANS);
                ResultSet row = count.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }
}
