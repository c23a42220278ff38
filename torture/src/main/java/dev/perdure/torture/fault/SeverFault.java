package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.FaultyProxy;
import dev.perdure.torture.setup.Site;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * The server closes the connection on which a worker listens, and the worker does not learn of it, as behind a firewall
 * that forgets connections; its renewals do not get through. Others take the worker for dead and end its lease half a
 * second later, while it goes on working until its lease ends by its own clock.
 *
 * <p>Without the second part there is nearly nothing to see: a worker that renews its lease lives, and it renews it
 * every half second.
 */
final class SeverFault {
    private static final Duration PATIENCE = Duration.ofSeconds(8);
    private static final Duration BETWEEN = Duration.ofMillis(20);
    private static final int TRIES = 4;
    /** In it a body ends whose result is refused, and another, if the refusal is not noticed. */
    private static final Duration LEAST_UNAWARE = Duration.ofMillis(500);

    private static final int FEWEST_RUNS = 3;

    /**
     * Of those that have just renewed their lease, and so believe in it for as long as can be, the busiest. Another
     * worker has listened for so long that it judges by what it sees.
     */
    private static final String VICTIM = """
            WITH listening AS (
                SELECT number, labels ->> 'process' AS process, backend, backend_start, expires_at, lease FROM perdure.worker
                WHERE NOT dead AND backend IS NOT NULL AND expires_at > clock_timestamp()
            )
            SELECT process, backend, count(*) AS runs
            FROM listening JOIN perdure.held ON worker = listening.number
            WHERE process = ANY (?::text[])
              AND expires_at > clock_timestamp() + lease - interval '100 milliseconds'
              AND EXISTS (SELECT FROM listening other
                          WHERE other.number <> listening.number
                            AND other.backend_start < clock_timestamp() - interval '3 seconds')
            GROUP BY listening.number, process, backend HAVING count(*) >= ?
            ORDER BY runs DESC LIMIT 1
            """;

    private static final String HAS_LEASE = """
            SELECT FROM perdure.worker WHERE backend = ? AND NOT dead AND expires_at > clock_timestamp()
            """;
    private static final String TERMINATE = "SELECT pg_terminate_backend(?)";

    private SeverFault() {}

    private record Victim(long pid, int backend, int runs) {}

    static String sever(Target target, Random chance) throws NoEffectException, SQLException {
        NoEffectException last = new NoEffectException("it was not tried");
        for (int i = 0; i < TRIES; i++) {
            try {
                return severOnce(target);
            } catch (NoEffectException none) {
                last = none;
                LockSupport.parkNanos(Site.LEASE.toNanos()); // until workers that have just connected judge others
            }
        }
        throw last;
    }

    private static String severOnce(Target target) throws NoEffectException, SQLException {
        Address address = target.site().direct();
        try (Connection connection =
                DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password())) {
            return sever(target, connection, victim(target.site(), connection));
        } catch (SQLException away) {
            throw new NoEffectException("another fault keeps the server away: " + away.getMessage());
        }
    }

    private static String sever(Target target, Connection connection, Victim victim)
            throws NoEffectException, SQLException {
        Site site = target.site();
        long begun = System.nanoTime();
        Instant held = Instant.now();
        try (FaultyProxy.Held renewals = site.proxy().holdRenewals(Long.toString(victim.pid));
                FaultyProxy.Held listening = site.proxy().holdBackend(victim.backend)) {
            if (renewals.size() == 0 || listening.size() == 0) {
                throw new NoEffectException("process %d has no connections any more".formatted(victim.pid));
            }
            isThere(connection, TERMINATE, victim.backend);
            while (isThere(connection, HAS_LEASE, victim.backend)) {
                if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                    throw new NoEffectException("nobody has ended the lease of process " + victim.pid);
                }
                LockSupport.parkNanos(BETWEEN.toNanos());
            }
            Instant ended = target.parts().ledger().now();
            Duration taken = Duration.ofNanos(System.nanoTime() - begun);
            LockSupport.parkNanos(Site.LEASE.toNanos());
            long bodies = target.parts().ledger().size(victim.pid, ended);
            if (bodies == 0 || taken.plus(LEAST_UNAWARE).compareTo(Site.LEASE) > 0) {
                throw new NoEffectException(
                        "process %d lost its lease only after %,d ms, and ended %d bodies after that"
                                .formatted(victim.pid, taken.toMillis(), bodies));
            }
            return "process %d lost its lease after %,d ms, with %d runs, at least %,d ms before its own clock ends it: %d bodies ended there later"
                    .formatted(
                            victim.pid,
                            taken.toMillis(),
                            victim.runs,
                            Site.LEASE.minus(taken).toMillis(),
                            bodies);
        } finally {
            site.absent(victim.pid, held);
        }
    }

    private static Victim victim(Site site, Connection connection) throws SQLException, NoEffectException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Optional<Victim> victim = busiest(site, connection);
        while (victim.isEmpty()) {
            if (System.nanoTime() > end) {
                throw new NoEffectException("no worker listens and has %d runs in memory".formatted(FEWEST_RUNS));
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
            victim = busiest(site, connection);
        }
        return victim.get();
    }

    private static Optional<Victim> busiest(Site site, Connection connection) throws SQLException {
        String[] processes = IntStream.range(0, site.workers().count())
                .mapToObj(place -> Long.toString(site.workers().at(place).pid()))
                .toArray(String[]::new);
        try (PreparedStatement select = connection.prepareStatement(VICTIM)) {
            select.setArray(1, connection.createArrayOf("text", processes));
            select.setInt(2, FEWEST_RUNS);
            try (ResultSet row = select.executeQuery()) {
                return row.next()
                        ? Optional.of(new Victim(row.getLong("process"), row.getInt("backend"), row.getInt("runs")))
                        : Optional.empty();
            }
        }
    }

    private static boolean isThere(Connection connection, String sql, int backend) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, backend);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }
}
