package dev.perdure.postgres;

import dev.perdure.ContextMisuseException;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * What has to be said on a connection to Perdure's own database around the body of a transaction step, for whoever begins
 * and commits transactions: first {@link #begin}, then the body, then {@link #record}, then the commit. For writers of
 * adapters. Thread-safe.
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
     */
    public record Begun(TransactionTicket ticket, long number) {}

    /** The first thing said in a transaction: its isolation, and how long it may stand still. */
    @Override
    public Begun begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return begun(connection, ticket);
    }

    static Begun begun(Connection connection, TransactionTicket ticket) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, TransactionSql.begin(ticket.options()))) {
            new Parameters(statement).text(idleLimit(ticket.lease()).toMillis() + "ms");
            statement.execute();
            while (statement.getResultSet() == null) {
                statement.getMoreResults();
            }
            ResultSet row = statement.getResultSet();
            row.next();
            return new Begun(ticket, row.getLong("transaction"));
        }
    }

    /** So long before the end of the lease that the transaction is over when the run is given away. */
    private static Duration idleLimit(Duration lease) {
        return lease.multipliedBy(3).dividedBy(4);
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
            statement.execute();
        }
    }

    /** What an exception from a body means; empty if it is the body's own failure. */
    public Optional<Transacted> fromBody(Exception thrown, boolean broken) {
        return SqlTrouble.fromBody(thrown, broken);
    }

    /** Whether an exception from the commit says that the connection was lost. */
    public boolean isLost(Throwable thrown) {
        return SqlTrouble.isLost(thrown);
    }

    /**
     * What an exception from {@link #record} or from the commit means.
     *
     * @param broken whether the connection was lost, so that nobody knows whether the commit was done
     * @throws Exception the same, if it is the body's failure: a deferred constraint, for example
     */
    @Override
    public Transacted fromCommit(Exception thrown, boolean broken, Begun begun, Entry entry) throws Exception {
        requireWhole(thrown);
        Optional<Transacted> conflict = SqlTrouble.conflict(thrown);
        if (conflict.isPresent()) {
            return conflict.get();
        }
        if (SqlTrouble.isState(thrown, TransactionSql.REFUSED)) {
            return new Transacted.Fenced();
        }
        if (broken) {
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
