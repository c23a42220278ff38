package dev.perdure.postgres;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * What an adapter that begins and commits transactions has to send on a connection to Perdure's own database around the body of a
 * transaction step: first {@link #begin}, then the body, then {@link #record}, then the commit. Thread-safe.
 */
public final class TransactionRecorder implements TransactionBook {
    private final Database database;
    private final TransactionSql sql;
    private final Workers workers;
    private final TransactionFate fate;

    TransactionRecorder(Database database, Schema schema, Workers workers) {
        this.database = database;
        this.sql = new TransactionSql(schema);
        this.workers = workers;
        this.fate = new TransactionFate(database);
    }

    /** With this store's tables, on connections to this store's database. */
    public static TransactionRecorder of(PostgresStore store) {
        return store.recorder();
    }

    /**
     * A transaction that has begun.
     *
     * @param ticket for whom
     * @param number PostgreSQL's own number for it
     * @param nanos when, by {@link System#nanoTime}
     */
    public record Begun(TransactionTicket ticket, long number, long nanos) {
        /** Whether the server may have ended it meanwhile because nothing was said in it. */
        private boolean mayHaveExpired() {
            return System.nanoTime() - nanos >= idleLimit(ticket.lease()).toNanos();
        }
    }

    /** The first thing said in a transaction: its isolation, and how long it may stand still. */
    @Override
    public Begun begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return begun(connection, ticket);
    }

    static Begun begun(Connection connection, TransactionTicket ticket) throws SQLException {
        long number = BorrowedConnection.withoutSavepoints(connection, on -> number(on, ticket));
        if (number < 0) {
            throw readOnly(connection);
        }
        return new Begun(ticket, number, System.nanoTime());
    }

    private static long number(Connection connection, TransactionTicket ticket) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, TransactionSql.begin(ticket.options()))) {
            new Parameters(statement).text(idleLimit(ticket.lease()).toMillis() + "ms");
            boolean isRow = statement.execute();
            while (!isRow) {
                isRow = statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) { // asked for once: c3p0 fails at the second time
                row.next();
                return row.getLong("transaction");
            }
        }
    }

    /** A server that is read-only for now is waited for. From a pool that makes its connections read-only nothing else comes. */
    private static SQLException readOnly(Connection connection) throws SQLException {
        if (connection.isReadOnly()) {
            throw new IllegalStateException(
                    "The pool of a transaction step gives read-only connections. Turn readOnly off in the pool or its URL, or give another DataSource.");
        }
        return new SQLException("The server is read-only for now.", "25006");
    }

    /** So long before the end of the lease that the transaction is over when the run is given away. */
    static Duration idleLimit(Duration lease) {
        return lease.multipliedBy(3).dividedBy(4);
    }

    /**
     * Asks for a sign of life of a transaction that the server may have ended meanwhile. Only the answer to something short is
     * sure to be read: what is longer may find the connection closed while it is being sent, and then it is not known why.
     */
    static void requireAlive(Connection connection, Begun begun) throws SQLException {
        if (begun.mayHaveExpired()) {
            try (PreparedStatement statement = Database.planAnew(connection, "SELECT 1")) {
                statement.execute();
            }
        }
    }

    /** The record is in the journal, or there is none. */
    @Override
    public Optional<Entry> earlier(Connection connection, TransactionTicket ticket) {
        return Optional.empty();
    }

    /**
     * The last thing said before the commit: writes the record, and holds the run until the commit. If it throws, the
     * transaction must be rolled back, and {@link #fromCommit} knows what it meant.
     */
    public void record(Connection connection, Begun begun, Entry entry) throws SQLException {
        send(connection, sql.record, begun, entry);
    }

    @Override
    public Transacted recordAndCommit(Connection connection, Begun begun, Entry entry) throws SQLException {
        send(connection, sql.recordAndCommit, begun, entry);
        return new Transacted.Recorded();
    }

    private void send(Connection connection, String text, Begun begun, Entry entry) throws SQLException {
        BorrowedConnection.withoutSavepoints(connection, on -> {
            requireAlive(on, begun);
            return execute(on, text, begun, entry);
        });
    }

    private boolean execute(Connection connection, String text, Begun begun, Entry entry) throws SQLException {
        TransactionTicket ticket = begun.ticket();
        try (PreparedStatement statement = Database.prepare(connection, text)) {
            new Parameters(statement)
                    .number(ticket.run().key())
                    .number(ticket.epoch())
                    .integer(workers.number(ticket.worker()))
                    .integer(entry.position())
                    .integer(entry.note())
                    .time(database.time())
                    .integer((int) Codes.of(entry.kind()))
                    .integer((int) Codes.of(entry.status()))
                    .text(entry.name())
                    .object(entry.payload().bytes())
                    .number(begun.number());
            return statement.execute();
        }
    }

    /**
     * What an exception from a body means; empty if it is the body's own failure. To be asked before the transaction is rolled
     * back.
     *
     * @param connection the body's
     */
    public Optional<Transacted> fromBody(Exception thrown, Connection connection, Begun begun) {
        return SqlTrouble.fromBody(thrown, SqlTrouble.Condition.of(connection), begun.ticket());
    }

    /** Whether an exception from the commit says that the connection was lost. */
    public boolean isLost(Throwable thrown) {
        return SqlTrouble.isLost(thrown);
    }

    /**
     * What an exception from {@link #record} or from the commit means.
     *
     * @param broken whether the connection was lost, so that it is not known whether the commit was done
     * @throws Exception the same, if it is the body's failure: a deferred constraint, for example
     */
    @Override
    public Transacted fromCommit(Exception thrown, boolean broken, Begun begun, Entry entry) throws Exception {
        requireWhole(thrown);
        Optional<Transacted> trouble = SqlTrouble.fromCommit(thrown, begun.ticket());
        if (trouble.isPresent()) {
            return trouble.get();
        }
        if (SqlTrouble.isState(thrown, TransactionSql.REFUSED)) {
            return new Transacted.Fenced();
        }
        if (broken && !SqlTrouble.tookTooLong(thrown)) {
            return fate.inDoubt(begun.number(), thrown, new Transacted.Recorded());
        }
        throw thrown;
    }

    static void requireWhole(Exception thrown) {
        if (SqlTrouble.isState(thrown, TransactionSql.ENDED)) {
            throw new ContextMisuseException(
                    "The body of a transaction step has ended its transaction by itself, with a COMMIT or ROLLBACK of its own. What it did before may be committed without the step's record. Leave the end of the transaction to the engine.");
        }
    }
}
