package dev.perdure.torture.fault;

import dev.perdure.embedded.EmbeddedPostgresException;
import dev.perdure.embedded.StopMode;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.SmallDisk;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** What is done to the server. One at a time: each needs the server, and some of them stop it. */
final class ServerFaults {
    private static final ReentrantLock TURN = new ReentrantLock();
    private static final Duration A_WHILE = Duration.ofSeconds(4);
    private static final int MOST_DOWN_MILLIS = 3_000;
    private static final int MOST_UP_MILLIS = 1_000;
    private static final int ROWS = 20;
    private static final String READ_ONLY = "25006";
    private static final String TOO_MANY_CONNECTIONS = "53300";
    private static final String DISK_FULL = "53100";

    private static final String TERMINATE = """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """;
    private static final String LOCK_SOME = """
            WITH locked AS (
                SELECT FROM perdure.run WHERE key = ANY (
                    SELECT key FROM perdure.run WHERE state < 6 ORDER BY random() LIMIT %d) ORDER BY random() FOR UPDATE)
            SELECT count(*) FROM locked
            """.formatted(ROWS);
    private static final String PROBE = """
            CREATE TABLE IF NOT EXISTS probe (text text);
            INSERT INTO probe SELECT repeat('x', 1000) FROM generate_series(1, 20000)
            """;

    /** Another fault may hold the workers back meanwhile, such as {@code freeze} for twelve seconds. */
    private static final Duration MOST_ORPHANED = Duration.ofMinutes(1);

    private static final String ORPHANS = """
            WITH alive AS (SELECT number FROM perdure.worker WHERE NOT dead AND expires_at > clock_timestamp())
            SELECT (SELECT count(*) FROM perdure.run
                    WHERE owner IS NOT NULL AND owner NOT IN (SELECT number FROM alive))
                 + (SELECT count(*) FROM perdure.held WHERE worker NOT IN (SELECT number FROM alive))
            """;

    private ServerFaults() {}

    /** Work with a connection to the server; gives what was seen. */
    interface Work {
        String with(Connection connection, Statement statement) throws Exception;
    }

    private static Connection connect(Site site) throws SQLException {
        Address address = site.direct();
        return DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
    }

    static String alone(Site site, Work work) throws Exception {
        TURN.lock();
        try (Connection connection = connect(site);
                Statement statement = connection.createStatement()) {
            return work.with(connection, statement);
        } finally {
            TURN.unlock();
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    static String terminate(Target target, Random chance) throws Exception {
        return alone(target.site(), (connection, statement) -> {
            long count = 0;
            for (long second = 0; second < A_WHILE.toSeconds(); second++) {
                count += number(statement, TERMINATE);
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            }
            if (count == 0) {
                throw new NoEffectException("there was no connection");
            }
            return count + " connections terminated";
        });
    }

    static String restart(Target target, Random chance) throws SQLException {
        TURN.lock();
        try {
            Site site = target.site();
            long before = site.server().pid();
            Duration down = Duration.ofMillis(chance.nextInt(MOST_DOWN_MILLIS));
            site.server().stop(StopMode.IMMEDIATE);
            LockSupport.parkNanos(down.toNanos());
            site.server().restart();
            // Once more while the workers recover.
            LockSupport.parkNanos(
                    Duration.ofMillis(chance.nextInt(MOST_UP_MILLIS)).toNanos());
            site.server().stop(StopMode.IMMEDIATE);
            site.server().restart();
            return "process %d after %d; no run had a dead owner %,d ms later"
                    .formatted(site.server().pid(), before, awaitNoOrphans(site).toMillis());
        } finally {
            TURN.unlock();
        }
    }

    /** Waits until no run has an owner that is dead; gives how long that took. */
    private static Duration awaitNoOrphans(Site site) throws SQLException {
        long begun = System.nanoTime();
        try (Connection connection = connect(site);
                Statement statement = connection.createStatement()) {
            while (number(statement, ORPHANS) > 0) {
                if (System.nanoTime() - begun > MOST_ORPHANED.toNanos()) {
                    throw new IllegalStateException(
                            "Runs have a dead owner %d s after the restart.".formatted(MOST_ORPHANED.toSeconds()));
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
            return Duration.ofNanos(System.nanoTime() - begun);
        }
    }

    static String failOver(Target target, Random chance) throws Exception {
        TURN.lock();
        try {
            int before = target.site().server().port();
            long begun = System.nanoTime();
            if (!target.site().failOver()) {
                throw new NoEffectException("the server has no standby");
            }
            return "port %d after port %d, with another standby after %,d ms"
                    .formatted(
                            target.site().server().port(),
                            before,
                            Duration.ofNanos(System.nanoTime() - begun).toMillis());
        } finally {
            TURN.unlock();
        }
    }

    static String readOnly(Target target, Random chance) throws Exception {
        return alone(target.site(), (connection, statement) -> {
            statement.execute("ALTER SYSTEM SET default_transaction_read_only = on");
            statement.execute("SELECT pg_reload_conf()");
            try {
                LockSupport.parkNanos(A_WHILE.toNanos());
                return refused(target.site(), READ_ONLY);
            } finally {
                statement.execute("SET default_transaction_read_only = off");
                statement.execute("ALTER SYSTEM RESET default_transaction_read_only");
                statement.execute("SELECT pg_reload_conf()");
            }
        });
    }

    /** Writes a little, which the server has to refuse with this code. */
    private static String refused(Site site, String code) throws NoEffectException {
        try (Connection connection = connect(site);
                Statement statement = connection.createStatement()) {
            statement.execute(PROBE);
            throw new NoEffectException("the server has not refused to write");
        } catch (SQLException refused) {
            if (!code.equals(refused.getSQLState())) {
                throw new NoEffectException("the server has refused to write because of " + refused.getMessage());
            }
            return "the server refused to write with " + code;
        }
    }

    static String exhaust(Target target, Random chance) throws Exception {
        return alone(target.site(), (connection, statement) -> {
            List<Connection> all = new ArrayList<>();
            try {
                while (true) {
                    all.add(connect(target.site()));
                }
            } catch (SQLException none) {
                LockSupport.parkNanos(A_WHILE.toNanos());
                if (!TOO_MANY_CONNECTIONS.equals(none.getSQLState())) {
                    throw new NoEffectException("the server has refused a connection because of " + none.getMessage());
                }
                return "%d connections taken, and the next one refused".formatted(all.size());
            } finally {
                for (Connection each : all) {
                    each.close();
                }
            }
        });
    }

    static String deadlock(Target target, Random chance) throws Exception {
        return alone(target.site(), (connection, statement) -> {
            long end = System.nanoTime() + A_WHILE.toNanos();
            long locked = 0;
            int chosen = 0;
            connection.setAutoCommit(false);
            while (System.nanoTime() < end) {
                try {
                    locked += number(statement, LOCK_SOME);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance.nextInt(50)));
                    connection.commit();
                } catch (SQLException chosenByTheServer) {
                    chosen++;
                    connection.rollback();
                }
            }
            if (locked == 0) {
                throw new NoEffectException("no run was locked");
            }
            return "%d rows locked, and %d deadlocks ended by the server".formatted(locked, chosen);
        });
    }

    static String disk(Target target, Random chance) throws Exception {
        SmallDisk disk = target.site()
                .disk()
                .orElseThrow(() -> new NoEffectException("only root can mount a small file system, and only on Linux"));
        TURN.lock();
        try {
            return whileFull(target.site(), disk) + startedAgain(target.site());
        } catch (NoEffectException none) {
            startedAgain(target.site()); // it may have ended after it was asked
            throw none;
        } finally {
            TURN.unlock();
        }
    }

    private static String whileFull(Site site, SmallDisk disk) throws Exception {
        try {
            disk.fill();
            String seen = fullDisk(site);
            LockSupport.parkNanos(A_WHILE.toNanos());
            return seen;
        } finally {
            disk.empty();
        }
    }

    private static String fullDisk(Site site) throws NoEffectException {
        try {
            return refused(site, DISK_FULL);
        } catch (NoEffectException other) {
            if (isUp(site)) {
                throw other;
            }
            return "the server has ended because it cannot write its log";
        }
    }

    private static String startedAgain(Site site) {
        if (isUp(site)) {
            return "";
        }
        site.server().restart();
        return ", and was started again";
    }

    private static boolean isUp(Site site) {
        try (Connection connection = connect(site)) {
            return connection.isValid(1);
        } catch (SQLException | EmbeddedPostgresException down) {
            return false;
        }
    }
}
