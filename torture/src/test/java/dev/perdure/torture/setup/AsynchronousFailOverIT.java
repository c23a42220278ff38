package dev.perdure.torture.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import dev.perdure.error.UnknownRunException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.torture.work.Transfers;
import dev.perdure.torture.work.Transfers.Transfer;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fail-over to a standby that lags behind: what it had not received is lost, and nothing else. */
@Tag("thorough")
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class AsynchronousFailOverIT {
    private static final int RUNS = 20;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final String LOG = "SELECT pg_current_wal_lsn()";
    private static final String HAS_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= '%s'";
    private static final String CUT_OFF = "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'";
    private static final String RECEIVES = "SELECT count(*) > 0 FROM pg_stat_wal_receiver WHERE status = 'streaming'";

    private final ConcurrentMap<String, AtomicInteger> bodies = new ConcurrentHashMap<>();

    private Definition<Transfer, Integer> definition(TransactionSource<Connection> accounts) {
        return Definition.of("transfer", Transfer.class, Integer.class, (ctx, transfer) -> {
            String run = ctx.runId().value();
            ctx.step("first", () -> count(run + " first"));
            ctx.sleep(PAUSE);
            ctx.transaction("transfer", accounts, connection -> Transfers.transfer(connection, run, transfer));
            return ctx.step("last", () -> count(run + " last"));
        });
    }

    private int count(String body) {
        return bodies.computeIfAbsent(body, unseen -> new AtomicInteger()).incrementAndGet();
    }

    @Test
    void loses_the_last_commits_and_nothing_else() throws Exception {
        Options options = EmbeddedPostgres.options().setting("wal_keep_size", "64MB");
        try (OwnServer primary = OwnServer.start(options, Optional.empty())) {
            Standby standby = Standby.behind(primary, options);
            try (OwnServer second = standby.server();
                    FaultyProxy proxy = new FaultyProxy(primary.postgres().port(), 1, 42);
                    HikariDataSource pool = address(primary).through(proxy).pool();
                    PostgresStore store = PostgresStore.on(pool).open()) {
                try (Connection connection = pool.getConnection()) {
                    Transfers.create(connection);
                }
                Definition<Transfer, Integer> transfer = definition(PostgresTransactions.on(store));
                try (Perdure perdure = Perdure.on(store)
                        .register(transfer)
                        .lease(Duration.ofSeconds(2))
                        .start()) {
                    List<Run<Integer>> kept = start(perdure, transfer, "kept-");
                    await().atMost(PATIENCE).until(() -> bodies.size() == RUNS);
                    cutOff(primary, second);
                    List<Run<Integer>> lost = start(perdure, transfer, "lost-");
                    assertThat(lost)
                            .allSatisfy(run -> assertThat(run.result(PATIENCE))
                                    .as("acknowledged before the fail-over")
                                    .isEqualTo(1));
                    assertThat(kept)
                            .allSatisfy(run -> assertThat(run.result(PATIENCE)).isEqualTo(1));

                    standby.promoted();
                    proxy.redirect(second.postgres().port());

                    await().atMost(PATIENCE)
                            .ignoreExceptions()
                            .untilAsserted(() -> assertThat(lost)
                                    .allSatisfy(run ->
                                            assertThatThrownBy(run::state).isInstanceOf(UnknownRunException.class)));
                    assertThat(kept)
                            .allSatisfy(run -> assertThat(perdure.run(run.id(), TypeRef.of(Integer.class))
                                            .result(PATIENCE))
                                    .as("how often the last body of '%s' ran: twice if its record is lost", run.id())
                                    .isBetween(1, 2));
                    assertThat(start(perdure, transfer, "lost-"))
                            .allSatisfy(run -> assertThat(run.result(PATIENCE))
                                    .as("started again, '%s' is another run", run.id())
                                    .isEqualTo(2));
                    assertThat(Transfers.violations(pool, 2 * RUNS)).isEmpty();
                }
            }
        }
    }

    private static Address address(OwnServer server) {
        return new Address(
                server.postgres().jdbcUrl(),
                server.postgres().user(),
                server.postgres().password());
    }

    private static List<Run<Integer>> start(Perdure client, Definition<Transfer, Integer> transfer, String prefix) {
        return IntStream.range(0, RUNS)
                .mapToObj(number -> client.start(
                        Invocation.of(transfer, new Transfer(number, number + RUNS, 1)),
                        StartOptions.id(prefix + number)))
                .toList();
    }

    /** Waits until the standby has all that is there, and lets it receive nothing more. */
    private static void cutOff(OwnServer primary, OwnServer standby) throws SQLException {
        String position = text(primary, LOG);
        await().atMost(PATIENCE)
                .until(() -> text(standby, HAS_REPLAYED.formatted(position)).equals("t"));
        try (Connection connection = standby.postgres().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CUT_OFF);
            statement.execute("SELECT pg_reload_conf()");
        }
        await().atMost(PATIENCE).until(() -> text(standby, RECEIVES).equals("f"));
    }

    private static String text(OwnServer server, String sql) throws SQLException {
        try (Connection connection = server.postgres().dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
