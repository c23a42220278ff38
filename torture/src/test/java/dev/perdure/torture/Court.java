package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Rally;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/** A database, a client, and what is played on it. */
final class Court implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int RAW_COMMITS = 500;
    private static final String TRANSACTIONS =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    private static final String LEASE = "SELECT extract(epoch FROM max(expires_at)) * 1000 FROM perdure.worker";

    private final SharedPostgres.Fresh database = SharedPostgres.database("talk");
    private final HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
    final PostgresStore store = PostgresStore.on(pool).open();
    final Perdure client = Perdure.on(store).client();

    WorkerProcess worker(String queue) throws Exception {
        return worker(queue, Duration.ofSeconds(1));
    }

    WorkerProcess worker(String queue, Duration warmWindow) throws Exception {
        return WorkerProcess.start(TalkWorker.class, database, queue, warmWindow.toString());
    }

    /** Plays a rally to its end; gives the messages a second. */
    double play(Perdure perdure, String name, int balls) {
        long begun = System.nanoTime();
        end(begin(perdure, name, balls), balls);
        return 2.0 * balls * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - begun);
    }

    List<Run<Rally.Received>> begin(Perdure perdure, String name, int balls) {
        String ping = name + "-ping";
        String pong = name + "-pong";
        return List.of(
                perdure.start(
                        Invocation.of(Rally.definition(), new Rally.Side(ping, false, balls, 0)),
                        StartOptions.id(pong).queue("pong")),
                perdure.start(
                        Invocation.of(Rally.definition(), new Rally.Side(pong, true, balls, 0)),
                        StartOptions.id(ping).queue("ping")));
    }

    void end(List<Run<Rally.Received>> sides, int balls) {
        List<Integer> all = IntStream.rangeClosed(1, balls).boxed().toList();
        for (Run<Rally.Received> side : sides) {
            assertThat(side.result(PATIENCE).balls())
                    .as("received by " + side.id())
                    .isEqualTo(all);
        }
    }

    /** Single-row inserts of one client, each its own commit: how many a second. */
    double rawCommits() throws SQLException {
        List<Long> micros = rawCommitMicros();
        return micros.size()
                * (double) TimeUnit.SECONDS.toMicros(1)
                / micros.stream().mapToLong(each -> each).sum();
    }

    /** How long each of them takes. */
    List<Long> rawCommitMicros() throws SQLException {
        List<Long> micros = new ArrayList<>();
        try (Connection connection = pool.getConnection();
                PreparedStatement create =
                        connection.prepareStatement("CREATE TABLE IF NOT EXISTS raw_commit (number int)");
                PreparedStatement insert = connection.prepareStatement("INSERT INTO raw_commit VALUES (1)")) {
            create.execute();
            for (int i = 0; i < RAW_COMMITS; i++) {
                long begun = System.nanoTime();
                insert.executeUpdate();
                micros.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begun));
            }
        }
        return micros;
    }

    /** How many transactions all clients of the database make until a worker has renewed its lease twice. */
    long transactionsUntilTheLeaseIsRenewed() throws SQLException {
        long before = count(TRANSACTIONS);
        for (int renewals = 0; renewals < 2; renewals++) {
            long lease = count(LEASE);
            Awaitility.await().atMost(PATIENCE).until(() -> count(LEASE) > lease);
        }
        return count(TRANSACTIONS) - before;
    }

    long count(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement query = connection.prepareStatement(sql);
                var row = query.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() {
        client.close();
        store.close();
        pool.close();
        database.close();
    }
}
