package dev.perdure.postgres.jdbc;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.OwnSql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

/**
 * The only class that handles connection, commit and rollback, and interprets SQLSTATEs.
 *
 * <p>How it works: a call borrows a connection, runs in autocommit (one execute, one transaction) or in a transaction
 * of its own, and gives the connection back in every case. It runs a transaction that lost a conflict again, a bounded
 * number of times. It reports everything else to the caller as one of the two kinds of {@link StoreException}; only the
 * engine knows how long to wait. It logs nothing.
 *
 * <p>An interrupt of a thread in a socket read closes that connection, and with it a batch of other runs. So it clears
 * the flag before a call and restores it afterwards.
 */
public final class Database implements AutoCloseable {
    /** Work on a connection. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object> {
        T on(Connection connection) throws SQLException;
    }

    /** The server refused a value. */
    public static sealed class RefusedException extends RuntimeException permits UnforeseenException {
        private static final long serialVersionUID = 1L;

        public RefusedException(SQLException cause) {
            super(cause.getMessage(), cause, false, false);
        }
    }

    /** A belief of a statement is wrong: see {@link LedgerSql} and {@link OwnSql}. */
    public static final class UnforeseenException extends RefusedException {
        private static final long serialVersionUID = 1L;

        public UnforeseenException(SQLException cause) {
            super(cause);
        }
    }

    /** A row was locked for longer than a batch should wait. */
    public static final class LockedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public LockedException(SQLException cause) {
            super(cause.getMessage(), cause, false, false);
        }
    }

    /**
     * How long a batch waits for a lock. Longer than any batch takes, so that a timeout shows that something is stuck.
     */
    public static final String LOCK_TIMEOUT = "500ms";

    private static final int MOST_TRIES = 10;
    /** No answer for this long means that the connection is half-open. Longer than any wait for a lock. */
    private static final Duration SILENCE = Duration.ofSeconds(10);
    /** How long calls have a timeout of the socket after one was closed: it does not count the time for sending. */
    private static final Duration LIMITED = Duration.ofMinutes(1);

    private final Connections connections;
    private final Supplier<@Nullable Instant> time;
    private final Duration silence;
    private final UnansweredCalls unanswered;
    private final UnreadableRows unreadable = new UnreadableRows();
    private final TransactionSettings settings = new TransactionSettings();
    private volatile long limitedUntil = System.nanoTime();

    public Database(Connections connections, Supplier<@Nullable Instant> time) {
        this(connections, time, SILENCE);
    }

    /** @param silence how long to wait for an answer */
    public Database(Connections connections, Supplier<@Nullable Instant> time, Duration silence) {
        this.connections = connections;
        this.time = time;
        this.silence = silence;
        this.unanswered = new UnansweredCalls(silence);
    }

    /** The warning for the owner of the pool if a worker has a lease of this length. */
    public Optional<String> poolWarning(Duration lease) {
        return PoolTimeout.warning(connections.source(), lease);
    }

    /** The rows of this store that cannot be read. */
    public UnreadableRows unreadable() {
        return unreadable;
    }

    /** The time to write instead of the database's own time, in tests; null in production. */
    @Nullable
    public Instant time() {
        Instant given = time.get();
        // PostgreSQL rounds to microseconds, and a time that is rounded up would let a timer fire early.
        return given == null ? null : given.truncatedTo(ChronoUnit.MICROS);
    }

    /** Runs one execute as one transaction. */
    public <T extends @Nullable Object> T call(Work<T> work) {
        return calmly(() -> attempts(work, Form.CALL));
    }

    /** The same for a call that guards a lease: it waits for no other call but those that have a connection already. */
    public <T extends @Nullable Object> T callFirst(Work<T> work) {
        return calmly(() -> attempts(work, Form.FIRST_CALL));
    }

    /**
     * Runs one execute as one transaction, whose answer is short: all of it has to arrive in the time that other calls
     * wait for its next part. In return, a virtual thread waits for it without the help of other threads.
     */
    public <T extends @Nullable Object> T callBriefly(Work<T> work) {
        return calmly(() -> attempts(work, Form.BRIEF_CALL));
    }

    /** Runs several executes as one transaction. */
    public <T extends @Nullable Object> T inTransaction(Work<T> work) {
        return calmly(() -> attempts(work, Form.TRANSACTION));
    }

    /** The same for a thread that guards a lease. */
    public <T extends @Nullable Object> T inFirstTransaction(Work<T> work) {
        return calmly(() -> attempts(work, Form.FIRST_TRANSACTION));
    }

    /** The same without a limit for an answer, also without that of the connection: for a caller that looks after it. */
    public <T extends @Nullable Object> T inLongTransaction(Work<T> work) {
        return calmly(() -> attempts(work, Form.LONG_TRANSACTION));
    }

    private enum Form {
        CALL,
        FIRST_CALL,
        BRIEF_CALL,
        TRANSACTION,
        FIRST_TRANSACTION,
        LONG_TRANSACTION;

        boolean isTransaction() {
            return this == TRANSACTION || this == FIRST_TRANSACTION || this == LONG_TRANSACTION;
        }

        boolean isFirst() {
            return this == FIRST_CALL || this == FIRST_TRANSACTION;
        }
    }

    private static <T extends @Nullable Object> T calmly(Supplier<T> call) {
        boolean interrupted = Thread.interrupted();
        try {
            return call.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <T extends @Nullable Object> T attempts(Work<T> work, Form form) {
        for (int tries = 1; ; tries++) {
            try {
                return attempt(work, form);
            } catch (SQLException problem) {
                SqlState state = SqlState.of(problem);
                if (state != SqlState.RERUN || tries == MOST_TRIES) {
                    throw translated(problem, state);
                }
            }
        }
    }

    private <T extends @Nullable Object> T attempt(Work<T> work, Form form) throws SQLException {
        boolean transaction = form.isTransaction();
        BorrowedConnection borrowed = form.isFirst() ? connections.takeFirst() : connections.take();
        boolean sound = false;
        try {
            borrowed.autoCommit(!transaction);
            T result = form == Form.BRIEF_CALL
                            && borrowed.networkTimeout() == 0
                            && Thread.currentThread().isVirtual()
                            && System.nanoTime() - limitedUntil >= 0
                    ? watched(borrowed.connection(), work)
                    : limited(borrowed, form, work);
            if (transaction) {
                borrowed.connection().commit();
            }
            sound = true;
            return result;
        } catch (SQLException problem) {
            sound = recovered(borrowed.connection(), problem, transaction);
            borrowed.cancelUnlessAnswered(problem);
            throw problem;
        } finally {
            if (sound) {
                borrowed.giveBack();
            } else {
                borrowed.discard();
            }
        }
    }

    private <T extends @Nullable Object> T watched(Connection connection, Work<T> work) throws SQLException {
        UnansweredCalls.Call call = unanswered.begin(connection);
        try {
            return settled(connection, true, (int) silence.toMillis(), work);
        } finally {
            if (call.end()) {
                limitedUntil = System.nanoTime() + LIMITED.toNanos();
            }
        }
    }

    private <T extends @Nullable Object> T limited(BorrowedConnection borrowed, Form form, Work<T> work)
            throws SQLException {
        boolean isLong = form == Form.LONG_TRANSACTION;
        int own = borrowed.networkTimeout();
        int patience = isLong ? 0 : own > 0 ? own : (int) silence.toMillis();
        borrowed.networkTimeout(patience);
        return settled(borrowed.connection(), !form.isTransaction(), patience, work);
    }

    private <T extends @Nullable Object> T settled(
            Connection connection, boolean autoCommit, int patience, Work<T> work) throws SQLException {
        return BorrowedConnection.withoutSavepoints(connection, on -> work.on(settings.on(on, autoCommit, patience)));
    }

    /** Whether the connection can be used again. */
    private static boolean recovered(Connection connection, SQLException problem, boolean transaction) {
        if (SqlState.of(problem) == SqlState.RECONNECT) {
            return false;
        }
        try {
            if (transaction) {
                connection.rollback();
            }
            return true;
        } catch (SQLException again) {
            return false;
        }
    }

    /**
     * Whether a failure of {@link #call} leaves the outcome of the request open: it may have been carried out, or may
     * still arrive.
     */
    public static boolean isUnanswered(Throwable failure) {
        return switch (failure) {
            case StoreException trouble ->
                trouble.getCause() instanceof SQLException problem && SqlState.of(problem) == SqlState.RECONNECT;
            case RefusedException answered -> false;
            case LockedException answered -> false;
            default -> true;
        };
    }

    public static RuntimeException translated(SQLException problem, SqlState state) {
        return switch (state) {
            case UNFORESEEN -> new UnforeseenException(problem);
            case DATA -> new RefusedException(problem);
            case LOCKED -> new LockedException(problem);
            case RECONNECT -> unavailable("The database is out of reach", problem);
            case RERUN ->
                unavailable("The transaction lost conflicts with others %s times".formatted(MOST_TRIES), problem);
            case PAUSE -> unavailable("The database cannot work for now", problem);
            case CAPPED -> unavailable("The database stopped a statement that took too long", problem);
            case GIVE_UP ->
                new StoreException(
                        Kind.UNUSABLE,
                        "The database refused: %s. %s"
                                .formatted(problem.getMessage(), SqlState.remedy(problem.getSQLState())),
                        problem);
        };
    }

    private static StoreException unavailable(String what, SQLException problem) {
        return new StoreException(
                Kind.UNAVAILABLE, "%s; waiting for it: %s".formatted(what, problem.getMessage()), problem);
    }

    /** A statement that the server prepares at its first use, unless the driver is configured to prepare nothing. */
    public static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        if (connection.unwrap(PGConnection.class).getPrepareThreshold() > 0) {
            statement.unwrap(PGStatement.class).setPrepareThreshold(1);
        }
        return statement;
    }

    /**
     * A statement that the server plans each time: for a statement whose rows cannot be looked up under
     * {@link LedgerSql}'s settings, and that would otherwise keep the plan from when its tables were small.
     */
    public static PreparedStatement planAnew(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.unwrap(PGStatement.class).setPrepareThreshold(0);
        return statement;
    }

    @Override
    public void close() {
        unanswered.close();
        connections.close();
    }
}
