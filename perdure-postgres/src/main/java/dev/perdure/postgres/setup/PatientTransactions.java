package dev.perdure.postgres.setup;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.spi.report.EngineLog;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;

/**
 * Transactions that may take any time, beside workers that go on.
 *
 * <p>How it works: a transaction runs on a thread of its own and without any limit, while the thread of the caller
 * looks after it through another connection. It logs every ten seconds what the server is at.
 *
 * <p>Only waiting for a lock has a limit, because everything that needs the same table stands behind such a wait. When the
 * limit is reached, the transaction is rolled back. It is tried again when the transactions that were in its way have
 * ended; until then nothing waits but this caller. The limit is longer than the second after which the server stops an
 * automatic vacuum that is in the way.
 *
 * <p>An interrupt of the caller cancels the statement. The server cancels it when the process is gone.
 */
public final class PatientTransactions {
    private static final Logger LOG = EngineLog.of("dev.perdure.store.migration");
    private static final Duration LOOK = Duration.ofMillis(300);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration REPORT = Duration.ofSeconds(10);
    /** So often is a cancel requested before the connection is closed without an answer. */
    private static final int CANCELS = 20;

    private static final int LONGEST_QUERY = 300;

    private static final String SETTINGS = """
            SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '1500ms' ELSE '0' END, true)
            FROM pg_catalog.pg_settings
            WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')
            """;
    /** Not every system can do this. */
    private static final String NOTICE_LOSS = """
            DO $$
            BEGIN
                PERFORM set_config('client_connection_check_interval', '2s', true);
            EXCEPTION
                WHEN invalid_parameter_value THEN NULL;
            END
            $$
            """;

    /** The driver knows that of a pooler. */
    private static final String PID = "SELECT pg_backend_pid()";

    private static final String AT = "SELECT query FROM pg_catalog.pg_stat_activity WHERE pid = ?";
    /** The transactions that a backend waits for, or those that are named. What a role may not see is null. */
    private static final String IN_THE_WAY = """
            SELECT l.name, l.pid, a.application_name, a.usename, a.state, a.xact_start, a.query
            FROM (
                SELECT DISTINCT pid, pid || ' ' || virtualtransaction AS name
                FROM pg_catalog.pg_locks
                WHERE pid = ANY (pg_catalog.pg_blocking_pids(?)) OR pid || ' ' || virtualtransaction = ANY (?)
            ) AS l
            LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
            ORDER BY l.name
            """;

    /**
     * Another transaction that holds a lock, or waited for it earlier.
     *
     * @param name distinguishes it from others of its connection
     * @param description of it, for the log
     */
    private record InTheWay(String name, String description) {
        static InTheWay of(ResultSet row) throws SQLException {
            OffsetDateTime since = row.getObject("xact_start", OffsetDateTime.class);
            String query = row.getString("query");
            return new InTheWay(
                    row.getString("name"),
                    "pid %s (application '%s', user %s, since %s, %s): %s"
                            .formatted(
                                    row.getString("pid"),
                                    row.getString("application_name"),
                                    row.getString("usename"),
                                    since == null ? "a time that this role may not see" : since.toInstant(),
                                    row.getString("state"),
                                    query == null ? "no query" : shortened(query)));
        }
    }

    private final Database database;
    private final Query asking;
    private volatile String what = "";
    private long reported = System.nanoTime();

    public PatientTransactions(Database database) {
        this.database = database;
        this.asking = new Query(database);
    }

    /** Says what the transaction is about to do: the beginning of the lines in the log. */
    public void at(String doing) {
        what = doing;
    }

    /** Runs a transaction, again and again until it gets its locks. */
    public <T> T run(Database.Work<T> work) {
        while (true) {
            Attempt<T> attempt = new Attempt<>(work);
            try {
                return attempt.result();
            } catch (Database.LockedException locked) {
                awaitEnd(attempt.inTheWay);
            } catch (InterruptedException e) {
                throw interrupted();
            }
        }
    }

    private void awaitEnd(List<InTheWay> found) {
        LOG.warn(
                "{} waits for {}. It tries again when that transaction has ended; workers go on meanwhile.",
                what,
                found.isEmpty()
                        ? "a lock, and the server does not say who holds it: perhaps a prepared transaction (pg_prepared_xacts)"
                        : described(found));
        reported = System.nanoTime();
        List<InTheWay> left = found;
        Duration pause = PAUSE;
        do {
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                throw interrupted();
            }
            pause = LOOK;
            left = inTheWay(0, left, left);
            if (!left.isEmpty() && isReportDue()) {
                LOG.warn("{} still waits for {}.", what, described(left));
            }
        } while (!left.isEmpty());
    }

    private boolean isReportDue() {
        long now = System.nanoTime();
        boolean due = now - reported >= REPORT.toNanos();
        reported = due ? now : reported;
        return due;
    }

    private static String described(List<InTheWay> found) {
        return found.stream().map(InTheWay::description).collect(Collectors.joining("; and for "));
    }

    /** What is in the way of this backend, and of the named what is still there; what was known if nobody can be asked. */
    private List<InTheWay> inTheWay(int pid, List<InTheWay> named, List<InTheWay> known) {
        List<String> names = named.stream().map(InTheWay::name).toList();
        try {
            return asking.all(IN_THE_WAY, parameters -> parameters.integer(pid).texts(names), InTheWay::of);
        } catch (RuntimeException unreachable) {
            return known;
        }
    }

    private static String shortened(String query) {
        String line = query.strip().replaceAll("\\s+", " ");
        return line.length() <= LONGEST_QUERY ? line : line.substring(0, LONGEST_QUERY) + "…";
    }

    private StoreException interrupted() {
        Thread.currentThread().interrupt();
        return new StoreException(
                Kind.UNAVAILABLE,
                "%s was interrupted, and changed nothing. Open the store again to go on.".formatted(what),
                null);
    }

    /** A transaction at work. */
    private final class Attempt<T> {
        private final FutureTask<T> task;
        private final long began = System.nanoTime();
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable Connection open;
        private volatile int pid;
        /** What it waited for when that was last seen. */
        private List<InTheWay> inTheWay = List.of();

        Attempt(Database.Work<T> work) {
            this.task = new FutureTask<>(() -> database.inLongTransaction(connection -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(SETTINGS);
                    statement.execute(NOTICE_LOSS);
                    try (ResultSet row = statement.executeQuery(PID)) {
                        row.next();
                        pid = row.getInt(1);
                    }
                }
                hold(connection);
                try {
                    return work.on(connection);
                } finally {
                    hold(null);
                }
            }));
        }

        /** Until the next call, a cancel reaches this connection: behind it, another transaction may use it. */
        private void hold(@Nullable Connection connection) {
            lock.lock();
            try {
                open = connection;
            } finally {
                lock.unlock();
            }
        }

        T result() throws InterruptedException {
            Thread.ofVirtual()
                    .inheritInheritableThreadLocals(false)
                    .name("perdure-migration")
                    .start(task);
            try {
                while (true) {
                    try {
                        return task.get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                    } catch (TimeoutException working) {
                        look();
                    } catch (ExecutionException failed) {
                        throw unchecked(failed.getCause());
                    }
                }
            } catch (InterruptedException e) {
                cancel();
                throw e;
            }
        }

        private static RuntimeException unchecked(@Nullable Throwable failure) {
            return switch (failure) {
                case Error error -> throw error;
                case RuntimeException said -> said;
                case null, default -> new IllegalStateException("A transaction fails unchecked.", failure);
            };
        }

        private void look() {
            if (pid == 0) {
                return;
            }
            List<InTheWay> now = inTheWay(pid, List.of(), inTheWay);
            inTheWay = now.isEmpty() ? inTheWay : now;
            if (isReportDue()) {
                report();
            }
        }

        private void report() {
            String at;
            try {
                List<String> found = asking.all(
                        AT, parameters -> parameters.integer(pid), row -> String.valueOf(row.getString("query")));
                if (found.isEmpty()) {
                    abort(); // the server lost the transaction, and will never answer
                    return;
                }
                at = "the server is at: " + shortened(found.getFirst());
            } catch (RuntimeException unreachable) {
                at = "the server cannot be asked how far it is";
            }
            LOG.info("{} has run for {} s; {}", what, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began), at);
        }

        /** Ends the transaction and waits for its end. */
        private void cancel() {
            for (int tries = 0; !task.isDone(); tries++) {
                try {
                    onConnection(tries < CANCELS ? PatientTransactions::cancel : PatientTransactions::abort);
                    task.get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                } catch (InterruptedException | TimeoutException | ExecutionException again) {
                    // It may have been between two statements.
                }
            }
        }

        private void abort() {
            onConnection(PatientTransactions::abort);
        }

        private void onConnection(Consumer<Connection> action) {
            lock.lock();
            try {
                if (open != null) {
                    action.accept(open);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private static void cancel(Connection connection) {
        try {
            connection.unwrap(PGConnection.class).cancelQuery();
        } catch (SQLException unreachable) {
            // It is tried again.
        }
    }

    private static void abort(Connection connection) {
        try {
            PGConnection driver = connection.unwrap(PGConnection.class);
            (driver instanceof Connection own ? own : connection).abort(Runnable::run);
        } catch (SQLException broken) {
            // It was to be closed anyway.
        }
    }
}
