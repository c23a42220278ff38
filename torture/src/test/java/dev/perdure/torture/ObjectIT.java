package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.object.ObjectHandle;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.work.Ledgers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many calls of virtual objects. Prints what it measured; it fails only if something was lost, doubled or out of order.
 * The long form: {@code -Dobjects.calls=20000 -Dobjects.waiting=10000}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ObjectIT {
    private static final int CALLS = Integer.getInteger("objects.calls", 300);
    private static final int WAITING = Integer.getInteger("objects.waiting", 300);
    private static final Duration PATIENCE = Duration.ofMinutes(20);

    @Test
    @Tag("thorough")
    void one_hot_key_and_many_keys_beside_the_raw_commit_rate() throws Exception {
        try (Place place = new Place();
                Perdure worker = Perdure.on(place.store).register(new Ledgers()).start()) {
            place.calls(worker, 1, CALLS);
            double hot = place.calls(worker, 1, CALLS);
            assertThat(worker.object(Ledgers.class, "key-0").state().get(Ledgers.COUNT))
                    .hasValue(2 * CALLS);
            double many = place.calls(worker, 1_000, CALLS);
            System.out.printf(
                    "objects: %.0f calls a second on one key, %.0f on 1,000 keys, beside %.0f raw commits a second of one client and %.0f of 32%n",
                    hot, many, place.rawCommits(1), place.rawCommits(32));
        }
    }

    @Test
    @Tag("thorough")
    void very_many_calls_wait_on_one_key_and_have_their_turns_in_order() {
        try (Place place = new Place()) {
            ObjectHandle<Ledgers> ledger = place.client.object(Ledgers.class, "key-0");
            List<Run<Integer>> calls = IntStream.range(0, WAITING)
                    .mapToObj(i -> ledger.send(Ledgers::count, StartOptions.defaults()))
                    .toList();
            try (Perdure worker =
                    Perdure.on(place.store).register(new Ledgers()).start()) {
                assertThat(calls.getLast().result(PATIENCE)).isEqualTo(WAITING);
                for (int i = 0; i < WAITING; i += 97) {
                    assertThat(calls.get(i).result(PATIENCE)).isEqualTo(i + 1);
                }
                assertThat(worker.object(Ledgers.class, "key-0").state().get(Ledgers.COUNT))
                        .hasValue(WAITING);
            }
        }
    }

    /** A database and a client. */
    private static final class Place implements AutoCloseable {
        private final SharedPostgres.Fresh database = SharedPostgres.database("objects");
        private final HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
        private final PostgresStore store = PostgresStore.on(pool).open();
        private final Perdure client = Perdure.on(store).client();

        /** Calls a second, made by one thread for each of 32 callers, and waited for. */
        double calls(Perdure perdure, int keys, int calls) throws InterruptedException {
            long begun = System.nanoTime();
            List<Thread> callers = IntStream.range(0, 32)
                    .mapToObj(caller -> Thread.ofVirtual().start(() -> {
                        List<Run<Integer>> made = new ArrayList<>();
                        for (int i = caller; i < calls; i += 32) {
                            ObjectHandle<Ledgers> ledger = perdure.object(Ledgers.class, "key-" + i % keys);
                            made.add(ledger.send(Ledgers::count, StartOptions.defaults()));
                        }
                        made.forEach(run -> run.result(PATIENCE));
                    }))
                    .toList();
            for (Thread caller : callers) {
                caller.join();
            }
            return calls * (double) TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - begun);
        }

        /** Single-row inserts, each its own commit, of so many clients with a connection each. */
        double rawCommits(int clients) throws Exception {
            int commits = 500;
            List<Connection> connections = new ArrayList<>();
            try {
                for (int i = 0; i < clients; i++) {
                    connections.add(
                            DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password()));
                }
                execute(connections.getFirst(), "CREATE TABLE IF NOT EXISTS raw_commit (number int)", 1);
                long begun = System.nanoTime();
                List<Thread> threads = connections.stream()
                        .map(connection -> Thread.ofVirtual()
                                .start(() -> execute(connection, "INSERT INTO raw_commit VALUES (1)", commits)))
                        .toList();
                for (Thread thread : threads) {
                    thread.join();
                }
                return (double) clients * commits * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - begun);
            } finally {
                for (Connection connection : connections) {
                    connection.close();
                }
            }
        }

        private static void execute(Connection connection, String sql, int times) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < times; i++) {
                    statement.execute();
                }
            } catch (SQLException thrown) {
                throw new IllegalStateException(thrown);
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
}
