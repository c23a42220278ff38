package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.FaultyProxy;
import dev.perdure.torture.setup.FaultyProxy.Kind;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Steps;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that end at the worst moment. See {@code docs/internals/crash-tests.md}. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class LostAnswerIT {
    private static final Duration CUTTING = Duration.ofSeconds(Integer.getInteger("crash.seconds", 4));
    private static final int ONE_IN = Integer.getInteger("crash.onein", 15);
    private static final long SEED = Long.getLong("crash.seed", 42L);
    /** Longer than the test: no worker is taken for dead, so no body has a reason to run twice. */
    private static final Duration LONG_LEASE = Duration.ofMinutes(5);

    private static final String TERMINATE = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ? AND pid <> pg_backend_pid()
            """;

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Set<Kind> KINDS =
            Set.of(Kind.START, Kind.CLAIM, Kind.APPEND, Kind.WAIT_OR_GIVE_BACK, Kind.END);

    @Test
    void an_answer_lost_after_its_commit_repeats_nothing_and_loses_nothing() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("lost_answer");
                FaultyProxy proxy = new FaultyProxy(SharedPostgres.server().port(), ONE_IN, SEED);
                UnderFire fire = new UnderFire(through(proxy, database), LONG_LEASE, 1)) {
            fire.load();
            fire.during(0.5, () -> {
                proxy.cutting(true);
                UnderFire.pause(CUTTING);
                // By progress as well, because a busy machine may not get to an end meanwhile.
                await().atMost(PATIENCE).until(() -> proxy.hits().keySet().containsAll(KINDS));
                proxy.cutting(false);
            });
            Invariants invariants = fire.settle();
            System.out.printf(
                    "lost answers: %d, of them %s; %d runs, %d bodies for %d steps%n",
                    proxy.cuts(),
                    proxy.hits(),
                    fire.acknowledged(),
                    invariants.bodies(),
                    fire.acknowledged() * Steps.STEPS);
            assertThat(invariants.bodies())
                    .as("bodies, each run once because no lease was lost")
                    .isEqualTo(fire.acknowledged() * Steps.STEPS);
        }
    }

    @Test
    @Tag("thorough")
    void connections_that_are_terminated_every_second_fail_no_run() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("terminated");
                UnderFire fire = new UnderFire(
                        new Address(database.jdbcUrl(), database.user(), database.password()), Site.LEASE, 2)) {
            fire.load();
            AtomicInteger terminated = new AtomicInteger();
            fire.during(0.9, () -> {
                for (int second = 0; second < CUTTING.toSeconds(); second++) {
                    UnderFire.pause(Duration.ofSeconds(1));
                    terminated.addAndGet(terminateAll(database.name()));
                }
            });
            Invariants invariants = fire.settle();
            assertThat(terminated).hasPositiveValue();
            System.out.printf(
                    "terminated: %d connections, %d runs, %d bodies for %d steps%n",
                    terminated.get(), fire.acknowledged(), invariants.bodies(), fire.acknowledged() * Steps.STEPS);
        }
    }

    private static Address through(FaultyProxy proxy, SharedPostgres.Fresh database) {
        String url = "jdbc:postgresql://127.0.0.1:%d/%s?sslmode=disable&gssEncMode=disable"
                .formatted(proxy.port(), database.name());
        return new Address(url, database.user(), database.password());
    }

    private static int terminateAll(String database) throws SQLException {
        try (Connection connection = SharedPostgres.server().dataSource().getConnection();
                PreparedStatement terminate = connection.prepareStatement(TERMINATE)) {
            terminate.setString(1, database);
            int count = 0;
            try (var rows = terminate.executeQuery()) {
                while (rows.next()) {
                    count++;
                }
            }
            return count;
        }
    }
}
