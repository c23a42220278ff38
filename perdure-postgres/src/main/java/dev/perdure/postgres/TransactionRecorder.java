package dev.perdure.postgres;

import dev.perdure.postgres.transaction.BegunTransaction;
import dev.perdure.postgres.transaction.JournalBook;
import dev.perdure.postgres.transaction.SqlTrouble;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The statements that an adapter sends around the body of a transaction step, if the adapter begins and commits
 * transactions itself: first {@link #begin}, then the body, then {@link #record}, then the commit. Thread-safe.
 */
public final class TransactionRecorder {
    private final JournalBook book;

    private TransactionRecorder(JournalBook book) {
        this.book = book;
    }

    /** Records in this store's tables, on connections to this store's database. */
    public static TransactionRecorder of(PostgresStore store) {
        return new TransactionRecorder(store.journalBook());
    }

    /** A transaction that has begun. */
    public static final class Begun {
        private final BegunTransaction transaction;

        private Begun(BegunTransaction transaction) {
            this.transaction = transaction;
        }
    }

    /** Sends the first statement of a transaction: its isolation, and how long it may stand idle. */
    public Begun begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return new Begun(book.begin(connection, ticket));
    }

    /**
     * Sends the last statement before the commit: writes the record, and holds the run until the commit. If it throws,
     * the adapter must roll the transaction back, and {@link #fromCommit} interprets the exception.
     */
    public void record(Connection connection, Begun begun, Entry entry) throws SQLException {
        book.record(connection, begun.transaction, entry);
    }

    /**
     * Interprets an exception from a body. Empty if it is the body's own failure. The adapter calls it before it rolls
     * the transaction back.
     *
     * @param connection the connection of the body
     */
    public Optional<Transacted> fromBody(Exception thrown, Connection connection, Begun begun) {
        return SqlTrouble.fromBody(thrown, SqlTrouble.Condition.of(connection), begun.transaction.ticket());
    }

    /** Whether an exception from the commit says that the connection was lost. */
    public boolean isLost(Throwable thrown) {
        return SqlTrouble.isLost(thrown);
    }

    /**
     * Interprets an exception from {@link #record} or from the commit.
     *
     * @param broken whether the connection was lost, so that it is not known whether the commit was done
     * @throws Exception the same exception, if it is the body's failure: a deferred constraint, for example
     */
    public Transacted fromCommit(Exception thrown, boolean broken, Begun begun, Entry entry) throws Exception {
        return book.fromCommit(thrown, broken, begun.transaction, entry);
    }
}
