package dev.perdure.torture.fault;

import dev.perdure.embedded.StopMode;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.Site;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** What is done to the server. One at a time: each needs the server, and one of them stops it. */
final class ServerFaults {
    private static final ReentrantLock TURN = new ReentrantLock();
    private static final Duration A_WHILE = Duration.ofSeconds(4);
    private static final int MOST_DOWN_MILLIS = 3_000;
    private static final int ROWS = 20;

    private static final String TERMINATE = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """;
    private static final String LOCK_SOME = """
            SELECT FROM perdure.run WHERE key = ANY (
                SELECT key FROM perdure.run WHERE state < 6 ORDER BY random() LIMIT %d) ORDER BY random() FOR UPDATE
            """.formatted(ROWS);

    private ServerFaults() {}

    /** Work with a connection to the server. */
    private interface Work {
        void with(Connection connection, Statement statement) throws Exception;
    }

    private static Connection connect(Site site) throws SQLException {
        Address address = site.direct();
        return DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
    }

    private static void alone(Site site, Work work) throws Exception {
        TURN.lock();
        try (Connection connection = connect(site);
                Statement statement = connection.createStatement()) {
            work.with(connection, statement);
        } finally {
            TURN.unlock();
        }
    }

    static void terminate(Site site, Random chance) throws Exception {
        alone(site, (connection, statement) -> {
            for (long second = 0; second < A_WHILE.toSeconds(); second++) {
                statement.execute(TERMINATE);
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            }
        });
    }

    static void restart(Site site, Random chance) {
        TURN.lock();
        try {
            site.server().stop(StopMode.IMMEDIATE);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance.nextInt(MOST_DOWN_MILLIS)));
            site.server().restart();
        } finally {
            TURN.unlock();
        }
    }

    static void readOnly(Site site, Random chance) throws Exception {
        alone(site, (connection, statement) -> {
            statement.execute("ALTER SYSTEM SET default_transaction_read_only = on");
            statement.execute("SELECT pg_reload_conf()");
            try {
                LockSupport.parkNanos(A_WHILE.toNanos());
            } finally {
                statement.execute("SET default_transaction_read_only = off");
                statement.execute("ALTER SYSTEM RESET default_transaction_read_only");
                statement.execute("SELECT pg_reload_conf()");
            }
        });
    }

    static void exhaust(Site site, Random chance) throws Exception {
        alone(site, (connection, statement) -> {
            List<Connection> all = new ArrayList<>();
            try {
                while (true) {
                    all.add(connect(site));
                }
            } catch (SQLException none) {
                LockSupport.parkNanos(A_WHILE.toNanos());
            } finally {
                for (Connection each : all) {
                    each.close();
                }
            }
        });
    }

    static void deadlock(Site site, Random chance) throws Exception {
        alone(site, (connection, statement) -> {
            long end = System.nanoTime() + A_WHILE.toNanos();
            connection.setAutoCommit(false);
            while (System.nanoTime() < end) {
                try {
                    statement.execute(LOCK_SOME);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance.nextInt(50)));
                    connection.commit();
                } catch (SQLException chosenByTheServer) {
                    connection.rollback();
                }
            }
        });
    }

    static void open(Site site, Random chance) throws Exception {
        try (Connection connection = connect(site);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT perdure.start_run('steps', 'open-' || gen_random_uuid(), '0')");
            LockSupport.parkNanos(A_WHILE.multipliedBy(2).toNanos());
            connection.commit();
        } catch (SQLException closed) {
            LockSupport.parkNanos(A_WHILE.toNanos()); // another fault has ended the transaction
        }
    }
}
