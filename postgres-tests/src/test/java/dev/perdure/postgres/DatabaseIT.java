package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.core.BaseConnection;

/** What calls make of the server's answers. */
final class DatabaseIT {
    private final String schema = TestServer.newSchema();
    private final AtomicInteger sent = new AtomicInteger();
    private HikariDataSource pool;
    private Database database;

    @BeforeEach
    void open() throws SQLException {
        pool = TestServer.pool(1);
        database = new Database(Connections.from(pool, 1), () -> null);
        TestServer.execute("CREATE SCHEMA %s; CREATE TABLE %s.t (a int)".formatted(schema, schema));
    }

    @AfterEach
    void close() {
        database.close();
        pool.close();
        TestServer.execute("DROP SCHEMA %s CASCADE".formatted(schema));
    }

    private boolean send(Connection connection, String sql) throws SQLException {
        sent.incrementAndGet();
        try (PreparedStatement statement = Database.prepare(connection, sql)) {
            return statement.execute();
        }
    }

    /** As a search for the run because of which a poll fails does: it tries, rolls back, and tries again. */
    @Test
    void the_settings_also_hold_in_the_transaction_after_a_rollback() {
        List<String> seen = database.inTransaction(connection -> {
            String first = jit(connection);
            connection.rollback();
            return List.of(first, jit(connection));
        });
        assertThat(seen).containsExactly("off", "off");
    }

    private static String jit(Connection connection) throws SQLException {
        try (PreparedStatement statement = Database.planAnew(connection, "SELECT current_setting('jit')");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void connections_without_a_pool_that_no_call_needs_are_closed() throws SQLException {
        AtomicLong now = new AtomicLong();
        try (Connections connections = Connections.from(TestServer.plain(), 3, now::get)) {
            List<BorrowedConnection> all = List.of(connections.take(), connections.take(), connections.take());
            List<Connection> real =
                    all.stream().map(BorrowedConnection::connection).toList();
            all.forEach(BorrowedConnection::giveBack);
            now.set(TimeUnit.SECONDS.toNanos(9));
            connections.take().giveBack();
            assertThat(closed(real)).isZero();
            now.set(TimeUnit.SECONDS.toNanos(11));
            connections.take().giveBack();
            assertThat(closed(real)).isEqualTo(1);
            connections.take().giveBack();
            connections.take().giveBack();
            assertThat(closed(real)).as("all but the one in use").isEqualTo(2);
            assertThat(real.getLast().isClosed()).isFalse();
        }
    }

    @Test
    void a_call_that_guards_a_lease_gets_the_next_connection_however_many_others_wait() throws Exception {
        try (Connections connections = Connections.from(pool, 1);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            BorrowedConnection only = connections.take();
            for (int i = 0; i < 5; i++) {
                beginToWait(threads, () -> order(order, "work", connections.take()));
            }
            beginToWait(threads, () -> order(order, "lease", connections.takeFirst()));
            beginToWait(threads, () -> order(order, "lease", connections.takeFirst()));
            only.giveBack();
            threads.shutdown();
            assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
            assertThat(order).containsExactly("lease", "lease", "work", "work", "work", "work", "work");
            connections.takeFirst().giveBack();
            connections.take().giveBack();
        }
    }

    @Test
    void a_question_that_guards_a_lease_is_asked_before_other_questions_that_wait() throws Exception {
        try (Connections connections = Connections.from(pool, 1);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            Query query = new Query(new Database(connections, () -> null));
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            BorrowedConnection only = connections.take();
            for (int i = 0; i < 3; i++) {
                beginToWait(threads, () -> query.all("SELECT 1", parameters -> {}, row -> order.add("work")));
            }
            beginToWait(threads, () -> query.allFirst("SELECT 1", parameters -> {}, row -> order.add("lease")));
            only.giveBack();
            threads.shutdown();
            assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
            assertThat(order).containsExactly("lease", "work", "work", "work");
        }
    }

    private static void order(List<String> order, String what, BorrowedConnection connection) {
        order.add(what);
        connection.giveBack();
    }

    private static void beginToWait(ExecutorService threads, Work work) throws InterruptedException {
        AtomicReference<Thread> thread = new AtomicReference<>();
        threads.submit(() -> {
            thread.set(Thread.currentThread());
            work.run();
            return true;
        });
        while (thread.get() == null || thread.get().getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private static int closed(List<Connection> connections) throws SQLException {
        int closed = 0;
        for (Connection connection : connections) {
            closed += connection.isClosed() ? 1 : 0;
        }
        return closed;
    }

    @Test
    void a_plan_that_a_migration_made_stale_is_prepared_anew_and_run_again() {
        String select = "SELECT * FROM %s.t".formatted(schema);
        database.inTransaction(connection -> send(connection, select));
        TestServer.execute("ALTER TABLE %s.t ADD COLUMN b int".formatted(schema));
        database.inTransaction(connection -> send(connection, select));
        assertThat(sent).as("once, stale, and anew").hasValue(3);
    }

    @Test
    void what_the_server_does_not_support_is_sent_once_and_said_to_be_unusable() {
        String unsupported = "SELECT count(*) FROM %s.t FOR UPDATE".formatted(schema);
        assertThatThrownBy(() -> database.call(connection -> send(connection, unsupported)))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNUSABLE))
                .hasMessageContaining("FOR UPDATE is not allowed with aggregate functions")
                .hasMessageContaining(
                        "Use a plain PostgreSQL: an extension or a compatible server may not support everything.");
        assertThat(sent).hasValue(1);
    }

    @Test
    void a_brief_call_of_a_virtual_thread_gives_up_without_an_answer_and_the_next_one_has_another_connection()
            throws Exception {
        try (Database impatient = new Database(Connections.from(pool, 1), () -> null, Duration.ofMillis(100))) {
            inVirtualThread(() -> {
                assertThatThrownBy(() -> impatient.callBriefly(connection -> send(connection, "SELECT pg_sleep(60)")))
                        .isInstanceOfSatisfying(
                                StoreException.class,
                                e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE));
                boolean answered = impatient.callBriefly(connection -> send(connection, "SELECT 1"));
                assertThat(answered).isTrue();
            });
        }
    }

    @Test
    void the_connection_of_a_brief_call_that_has_its_answer_is_left_to_the_calls_after_it() throws Exception {
        Connections withoutPool = Connections.from(TestServer.plain(), 1);
        try (Database impatient = new Database(withoutPool, () -> null, Duration.ofMillis(500))) {
            inVirtualThread(() -> {
                for (int i = 0; i < 12; i++) { // together longer than one call may take
                    impatient.callBriefly(connection -> send(connection, "SELECT pg_sleep(0.06)"));
                }
            });
        }
    }

    @Test
    void only_a_virtual_thread_waits_for_a_short_answer_without_a_timeout() throws Exception {
        int ofPlatformThread = database.callBriefly(Connection::getNetworkTimeout);
        assertThat(ofPlatformThread).isEqualTo(10_000);
        inVirtualThread(() -> {
            int brief = database.callBriefly(Connection::getNetworkTimeout);
            int other = database.call(Connection::getNetworkTimeout);
            assertThat(brief).isZero();
            assertThat(other).isEqualTo(10_000);
        });
    }

    /** A lock that others may hold for hours. */
    @Test
    void what_a_call_gives_up_behind_a_lock_the_server_gives_up() throws Exception {
        String blocked = "SELECT a FROM %s.t".formatted(schema);
        try (Connection other = TestServer.plain().getConnection();
                Database impatient = new Database(Connections.from(pool, 1), () -> null, Duration.ofMillis(300))) {
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.execute("LOCK TABLE %s.t IN ACCESS EXCLUSIVE MODE".formatted(schema));
            }
            givenUp(() -> impatient.call(connection -> send(connection, blocked)));
            givenUp(() -> impatient.inTransaction(connection -> send(connection, blocked)));
            inVirtualThread(() -> givenUp(() -> impatient.callBriefly(connection -> send(connection, blocked))));
            awaitNone(blocked);
            other.rollback();
        }
    }

    private static void givenUp(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE));
    }

    @Test
    void the_server_gives_a_statement_up_before_its_caller_does_and_the_connection_stays() {
        try (Database impatient = new Database(connections(), () -> null, Duration.ofSeconds(2))) {
            AtomicReference<Connection> used = new AtomicReference<>();
            assertThatThrownBy(() -> impatient.call(connection -> {
                        used.set(connection.unwrap(BaseConnection.class));
                        return send(connection, "SELECT pg_sleep(60)");
                    }))
                    .hasMessage(
                            "The database stopped a statement that took too long; waiting for it: ERROR: canceling statement due to statement timeout");
            Connection next = impatient.call(connection -> connection.unwrap(BaseConnection.class));
            assertThat(next).isSameAs(used.get());
        }
    }

    private Connections connections() {
        try {
            return Connections.from(pool, 1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Each statement is short enough for the server, and all of them are too long for the caller. */
    @Test
    void what_a_call_gives_up_without_an_answer_is_cancelled() throws Exception {
        String nap = "SELECT length(pg_sleep(0.2)::text) AS nap";
        String naps = String.join(";\n", Collections.nCopies(300, nap));
        try (Database impatient = new Database(Connections.from(pool, 1), () -> null, Duration.ofMillis(400))) {
            assertThatThrownBy(() -> impatient.call(connection -> send(connection, naps)))
                    .hasMessageStartingWith("The database is out of reach");
            awaitNone(nap);
            // The server may answer to the cancel before the connection is closed.
            inVirtualThread(() -> assertThatThrownBy(() -> impatient.callBriefly(connection -> send(connection, naps)))
                    .hasMessageMatching("(?s)The database (is out of reach|stopped a statement that took too long).*"));
            awaitNone(nap);
        }
    }

    private static void awaitNone(String statement) {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (processes(statement, "active") > 0) {
            assertThat(System.nanoTime()).as("the server should stop").isLessThan(limit);
        }
    }

    private static int processes(String statement, String state) {
        return Integer.parseInt(TestServer.query(
                "SELECT count(*) FROM pg_stat_activity WHERE state LIKE '%s' AND strpos(query, '%s') > 0 AND pid <> pg_backend_pid()"
                        .formatted(state, statement)));
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void inVirtualThread(Work work) throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(() -> {
                        work.run();
                        return null;
                    })
                    .get();
        }
    }
}
