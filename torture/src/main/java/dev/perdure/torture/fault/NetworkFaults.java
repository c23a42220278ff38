package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.FaultyProxy;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.WorkerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** What is done to connections. */
final class NetworkFaults {
    private static final Duration A_WHILE = Duration.ofSeconds(4);
    private static final Duration BETWEEN = Duration.ofMillis(20);

    private static final String BACKEND = """
            SELECT backend FROM perdure.worker
            WHERE labels ->> 'process' = ?::text AND NOT dead AND backend IS NOT NULL AND expires_at > clock_timestamp()
            ORDER BY number DESC LIMIT 1
            """;
    private static final String TERMINATE = "SELECT pg_terminate_backend(?::int)::int";

    private NetworkFaults() {}

    static String cut(Target target, Random chance) throws NoEffectException {
        FaultyProxy proxy = target.site().proxy();
        int before = proxy.cuts();
        proxy.cutting(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        proxy.cutting(false);
        return some(proxy.cuts() - before, "answers lost");
    }

    static String silence(Target target, Random chance) throws NoEffectException {
        FaultyProxy proxy = target.site().proxy();
        long before = proxy.silenced();
        proxy.silent(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        proxy.silent(false);
        return some(proxy.silenced() - before, "notifications lost");
    }

    static String freeze(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().hold(1), A_WHILE.multipliedBy(3), "connections held");
    }

    static String delay(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().hold(4), A_WHILE.multipliedBy(2), "connections held");
    }

    static String deafen(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().holdListening(), A_WHILE.multipliedBy(3), "listening connections held");
    }

    /**
     * The server closes the connection on which a worker listens, and the worker does not learn of it, as behind a
     * firewall that forgets connections. Others take the worker for dead and end its lease, while it goes on working.
     */
    static String sever(Target target, Random chance) throws NoEffectException {
        Site site = target.site();
        WorkerProcess worker = site.workers().at(chance.nextInt(site.workers().count()));
        Address address = site.direct();
        try (Connection connection =
                DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password())) {
            int backend = backend(connection, worker);
            try (FaultyProxy.Held held = site.proxy().holdBackend(backend)) {
                some(held.size(), "connection on which process %d listens".formatted(worker.pid()));
                site.stopped().add(worker.pid());
                long begun = System.nanoTime();
                number(connection, TERMINATE, backend);
                while (number(connection, BACKEND, worker.pid()) == backend) {
                    if (System.nanoTime() - begun > A_WHILE.multipliedBy(2).toNanos()) {
                        throw new NoEffectException("nobody has ended the lease of process " + worker.pid());
                    }
                    LockSupport.parkNanos(BETWEEN.toNanos());
                }
                Duration taken = Duration.ofNanos(System.nanoTime() - begun);
                LockSupport.parkNanos(Site.LEASE.toNanos());
                return "process %d, whose lease was ended after %,d ms".formatted(worker.pid(), taken.toMillis());
            }
        } catch (SQLException away) {
            throw new NoEffectException("another fault keeps the server away: " + away.getMessage());
        }
    }

    /** The process of the server that serves the connection on which a worker listens, soon after another fault too. */
    private static int backend(Connection connection, WorkerProcess worker) throws SQLException, NoEffectException {
        long begun = System.nanoTime();
        int backend = number(connection, BACKEND, worker.pid());
        while (backend == 0) {
            if (System.nanoTime() - begun > A_WHILE.multipliedBy(2).toNanos()) {
                throw new NoEffectException("process %d listens on no connection".formatted(worker.pid()));
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
            backend = number(connection, BACKEND, worker.pid());
        }
        return backend;
    }

    private static int number(Connection connection, String sql, long parameter) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, parameter);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getInt(1) : 0;
            }
        }
    }

    private static String hold(FaultyProxy.Held held, Duration length, String what) throws NoEffectException {
        LockSupport.parkNanos(length.toNanos());
        held.close();
        return some(held.size(), what);
    }

    private static String some(long count, String what) throws NoEffectException {
        if (count == 0) {
            throw new NoEffectException("no " + what);
        }
        return count + " " + what;
    }
}
