package dev.perdure.postgres.lane;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.SqlState;
import dev.perdure.spi.report.EngineLog;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Finds out before the end of a lease that the process of a worker has died: PostgreSQL closes the connections of a
 * dead process, and their server processes, called backends, end.
 *
 * <p>How it works: the listening connection registers its backend with the workers of this store, again after each new
 * connection and each join. It also looks from time to time whether the backends of all workers are still there. A
 * worker whose backend is gone, and that has not registered another one {@link #GRACE} later, loses its lease, and the
 * sweep takes its runs. Together all processes look about four times a second, so each looks the more rarely the more
 * there are. A process that is alone looks now and then, and when another one registers.
 *
 * <p>A process that lives is not taken for dead if anything of it reaches the server in time: a registration, or a
 * renewal, which withdraws the backends that this process knows to be lost. If the server has closed all connections,
 * because a backend crashed, everybody has to connect again. So a process ends no lease for some time after it has
 * connected. Where backends say nothing (behind a pooler, after a restart of the server, without the right to see them)
 * the lease decides.
 *
 * <p>All but {@link #joined}, {@link #left} and {@link #lost} belongs to the thread that listens.
 */
public final class Backends {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    /** How long a worker may be without a backend. */
    static final Duration GRACE = Duration.ofMillis(500);
    /** So long after it has connected, a process ends no lease: the others may have to connect again, too. */
    private static final Duration SETTLING = Duration.ofSeconds(2);
    /** The time between two looks, by the number of processes that look. */
    private static final Duration SHARE = Duration.ofMillis(250);
    /** Between two looks of a process that is alone, and after the server has refused one. */
    private static final Duration LONGEST = Duration.ofSeconds(4);

    private static final Duration SHORTEST = Duration.ofMillis(50);

    private static final Attended NOTHING = new Attended(false, false, false);

    private final BackendSql sql;
    private final LongSupplier nanoTime;
    private final Set<Integer> workers = ConcurrentHashMap.newKeySet();
    private volatile boolean someoneJoined;
    private volatile int[] lost = {};

    private @Nullable Integer own;
    /** Whether this connection has sent a registration, answered or not. */
    private boolean sent;
    /** The last backend that was registered, and those since of which that is not known. */
    private final Set<Integer> tried = new TreeSet<>();

    private boolean refused;
    private long connectedAt;
    private long due;

    /**
     * What the listening connection did for the leases.
     *
     * @param asked whether the server answered something
     * @param registered whether workers of this store have registered: others should look who is there now
     * @param doubt whether a worker, of this store or another, lost its lease
     */
    public record Attended(boolean asked, boolean registered, boolean doubt) {}

    public Backends(Schema schema, LongSupplier nanoTime) {
        this.sql = new BackendSql(schema);
        this.nanoTime = nanoTime;
    }

    /** A worker has joined through this store. */
    public void joined(int worker) {
        workers.add(worker);
        someoneJoined = true;
    }

    /** A worker of this store has left, or is dead. */
    public void left(int worker) {
        workers.remove(worker);
    }

    /** The backends that this store may have registered and no longer has: a renewal withdraws them. */
    public int[] lost() {
        return lost.clone();
    }

    /** A connection listens now. */
    public void connected() {
        connectedAt = nanoTime.getAsLong();
        due = connectedAt;
        refused = false;
        someoneJoined = true;
    }

    /** The connection no longer listens. Returns whether others may take a worker of this store for dead. */
    public boolean disconnected() {
        boolean registered = sent && !workers.isEmpty();
        if (registered) {
            lost = ints(tried);
        }
        own = null;
        sent = false;
        return registered;
    }

    /** Workers of another store have registered: the next look is due. */
    public void othersRegistered() {
        if (!refused) {
            due = nanoTime.getAsLong();
        }
    }

    /** How long the connection may wait for notifications, and no longer than this. */
    public int millisToNext(int most) {
        if (workers.isEmpty() || (own == null && !refused)) {
            return most;
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(due - nanoTime.getAsLong());
        return Math.clamp(millis, 1, most);
    }

    /**
     * Registers the backend of this connection if a worker needs that, and looks after the others if it is time.
     *
     * @param pid the backend as the driver knows it
     * @throws SQLException if the connection is lost
     */
    public Attended attend(Connection connection, int pid) throws SQLException {
        if (workers.isEmpty() || (refused && nanoTime.getAsLong() - due < 0)) {
            return NOTHING;
        }
        try {
            refused = false;
            if (someoneJoined) {
                someoneJoined = false; // Before the workers are read: one that joins after that is registered next.
                boolean dead = register(connection, pid);
                return new Attended(true, own != null, dead);
            }
            return own != null && nanoTime.getAsLong() - due >= 0
                    ? new Attended(true, false, look(connection))
                    : NOTHING;
        } catch (SQLException problem) {
            if (SqlState.of(problem) == SqlState.RECONNECT) {
                throw problem;
            }
            LOG.debug("Could not ask the server for the processes of workers. Their leases decide.", problem);
            refused = true;
            someoneJoined = true;
            due = nanoTime.getAsLong() + LONGEST.toNanos();
            return new Attended(true, false, false);
        }
    }

    /** Returns whether a worker of this store is dead. */
    private boolean register(Connection connection, int pid) throws SQLException {
        Set<Integer> asked = new TreeSet<>(workers);
        tried.add(pid);
        sent = true;
        try (PreparedStatement statement = Database.planAnew(connection, sql.register)) {
            new Parameters(statement).integer(pid).ints(ints(tried)).ints(ints(asked));
            try (ResultSet rows = statement.executeQuery()) {
                Integer backend = null;
                while (rows.next()) {
                    backend = rows.getObject("pid", Integer.class);
                    asked.remove(rows.getInt("number")); // 0 if all are dead
                }
                own = backend;
                lost = new int[0]; // The workers have another backend now, or none.
                tried.retainAll(Set.of(pid));
            }
        }
        workers.removeAll(asked);
        return !asked.isEmpty();
    }

    private static int[] ints(Set<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns whether a worker of another store has lost its lease. */
    private boolean look(Connection connection) throws SQLException {
        long now = nanoTime.getAsLong();
        try (PreparedStatement statement = Database.prepare(connection, sql.look)) {
            new Parameters(statement)
                    .bool(now - connectedAt >= SETTLING.toNanos())
                    .number(GRACE.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Integer missing = row.getObject("missing_millis", Integer.class);
                due = now + (missing == null ? untilNext(row.getInt("processes")) : untilJudged(now, missing));
                return row.getInt("ended") > 0;
            }
        }
    }

    private static long untilNext(int processes) {
        long share = Math.min(SHARE.toNanos() * processes, LONGEST.toNanos());
        // Not in step with the others, or all would look at the same time.
        return processes <= 1
                ? LONGEST.toNanos()
                : share * ThreadLocalRandom.current().nextInt(75, 126) / 100;
    }

    private long untilJudged(long now, int missingMillis) {
        long grace = GRACE.toNanos() - TimeUnit.MILLISECONDS.toNanos(missingMillis);
        long settling = connectedAt + SETTLING.toNanos() - now;
        return Math.max(Math.max(grace, settling), SHORTEST.toNanos()); // if the row is locked, or just ended
    }
}
