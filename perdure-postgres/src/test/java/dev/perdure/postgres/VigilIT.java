package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** A connection on which no answer comes is thrown away; one that is only busy is not. */
final class VigilIT {
    private static final Duration SILENCE = Duration.ofMillis(300);
    /** Far longer than that, and an end for a test that fails. */
    private static final String NO_ANSWER = "SELECT pg_sleep(20)";

    @Test
    void a_silent_connection_of_a_pool_is_thrown_away_and_the_next_call_has_another() throws Exception {
        try (HikariDataSource pool = TestServer.pool(1)) {
            throwsAwayTheSilentOne(pool);
        }
    }

    @Test
    void and_one_without_a_pool() throws Exception {
        throwsAwayTheSilentOne(TestServer.plain());
    }

    private static void throwsAwayTheSilentOne(DataSource source) throws Exception {
        try (Database database = database(source)) {
            long before = backend(database);

            assertThatThrownBy(() -> database.call(connection -> run(connection, NO_ANSWER)))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
                    .hasMessageStartingWith("The database is out of reach; waiting for it: ");

            assertThat(backend(database)).isNotEqualTo(before);
        }
    }

    @Test
    void an_answer_that_came_after_its_connection_was_closed_is_a_lost_one() throws Exception {
        try (HikariDataSource pool = TestServer.pool(1);
                Database database = database(pool)) {
            assertThatThrownBy(() -> database.call(VigilIT::awaitClosed))
                    .isInstanceOf(StoreException.class)
                    .hasMessage(
                            "The database is out of reach; waiting for it: The answer came too late: its connection is closed.");
        }
    }

    private static boolean awaitClosed(Connection connection) throws SQLException {
        Connection driver = (Connection) connection.unwrap(PGConnection.class);
        while (!driver.isClosed()) {
            Thread.onSpinWait();
        }
        return true;
    }

    @Test
    void calls_that_are_answered_are_left_alone_however_many_come_one_after_the_other() throws Exception {
        try (HikariDataSource pool = TestServer.pool(1);
                Database database = database(pool)) {
            long before = backend(database);
            for (int i = 0; i < 10; i++) {
                database.call(connection -> run(connection, "SELECT pg_sleep(0.06)"));
            }
            assertThat(backend(database)).isEqualTo(before);
        }
    }

    @Test
    void a_transaction_may_take_longer_in_all() throws Exception {
        try (HikariDataSource pool = TestServer.pool(1);
                Database database = database(pool)) {
            long before = backend(database);
            database.inTransaction(connection -> run(connection, "SELECT pg_sleep(0.9)"));
            assertThat(backend(database)).isEqualTo(before);
        }
    }

    @Test
    void one_silent_connection_does_not_hide_another() throws Exception {
        try (HikariDataSource pool = TestServer.pool(2);
                Database database = database(pool)) {
            CountDownLatch lost = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                Thread.ofVirtual().start(() -> {
                    try {
                        database.call(connection -> run(connection, NO_ANSWER));
                    } catch (StoreException expected) {
                        lost.countDown();
                    }
                });
            }
            assertThat(lost.await(15, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static Database database(DataSource source) throws SQLException {
        return new Database(Connections.from(source, 2), () -> null, SILENCE);
    }

    private static boolean run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.execute(sql);
        }
    }

    private static long backend(Database database) {
        return database.call(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
