package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Records in another database what transaction steps have done there, until the journal has it.
 *
 * <p>How it works: of all transactions of a step the first one that records it commits, whoever's it is. A worker that gives
 * up records the failure in the same way, with its epoch, so a worker that was taken for dead commits nothing any more. If
 * the run is retried, it has a later epoch. For that, the failure does not count, and the transaction that records the step
 * puts its row in the place of the failure. A worker that takes the run over between the failure's record here and in the
 * journal makes that attempt once more.
 */
public final class CompletionBook implements TransactionBook {
    private static final int FORGOTTEN_AT_ONCE = 5_000;

    private final Database database;
    private final CompletionSql sql;
    private final TransactionFate fate;

    public CompletionBook(Database database, Schema schema) {
        this.database = database;
        this.sql = new CompletionSql(schema);
        this.fate = new TransactionFate(database);
    }

    @Override
    public BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return BegunTransaction.begin(connection, ticket);
    }

    @Override
    public Optional<Entry> earlier(Connection connection, TransactionTicket ticket) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.find)) {
            bindPlace(new Parameters(statement), ticket).number(ticket.epoch());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(entry(row, ticket)) : Optional.empty();
            }
        }
    }

    private static Parameters bindPlace(Parameters parameters, TransactionTicket ticket) throws SQLException {
        return parameters.text(ticket.run().id().value()).number(ticket.seed()).integer(ticket.position());
    }

    private static Entry entry(ResultSet row, TransactionTicket ticket) throws SQLException {
        return new Entry(
                ticket.position(),
                Entry.ANSWER,
                Entry.Kind.TRANSACTION,
                row.getString("name"),
                Codes.status(row.getInt("status")),
                new Payload(row.getBytes("payload")));
    }

    private static Parameters bind(Parameters parameters, TransactionTicket ticket, Entry entry) throws SQLException {
        return bindPlace(parameters, ticket)
                .text(entry.name())
                .integer((int) Codes.of(entry.status()))
                .object(entry.payload().bytes());
    }

    /** The statement that records a step and does not commit. */
    String record() {
        return sql.record;
    }

    /** Binds the parameters of that statement. */
    void bind(Parameters parameters, BegunTransaction begun, Entry entry) throws SQLException {
        bindPlace(parameters, begun.ticket()).number(begun.ticket().epoch());
        bind(parameters, begun.ticket(), entry).number(begun.number());
    }

    /** The record of an earlier transaction of this step. */
    public Optional<Entry> earlier(TransactionTicket ticket) {
        return database.call(connection -> earlier(connection, ticket));
    }

    @Override
    public Transacted recordAndCommit(Connection connection, BegunTransaction begun, Entry entry) throws SQLException {
        return BorrowedConnection.withoutSavepoints(connection, on -> {
            begun.requireAlive(on);
            try (PreparedStatement statement = Database.prepare(on, sql.recordAndCommit)) {
                bind(new Parameters(statement), begun, entry);
                statement.execute();
            }
            return new Transacted.Completed(entry);
        });
    }

    @Override
    public Transacted fromCommit(Exception thrown, boolean broken, BegunTransaction begun, Entry entry)
            throws Exception {
        BegunTransaction.requireNotEnded(thrown);
        Optional<Transacted> trouble = SqlTrouble.fromCommit(thrown, begun.ticket());
        if (trouble.isPresent()) {
            return trouble.get();
        }
        if (SqlTrouble.isState(thrown, TransactionSql.REFUSED)) {
            // Called after this connection has been given back.
            return new Transacted.InDoubt(() -> committedBefore(begun.ticket(), thrown));
        }
        if (broken && !SqlTrouble.tookTooLong(thrown)) {
            return fate.inDoubt(begun.number(), thrown, new Transacted.Completed(entry));
        }
        throw thrown;
    }

    private Transacted committedBefore(TransactionTicket ticket, Exception thrown) {
        return earlier(ticket)
                .<Transacted>map(Transacted.Completed::new)
                .orElseGet(() -> new Transacted.Conflict(thrown));
    }

    /** Makes sure that nothing more is committed under this position. Returns the final entry. */
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        boolean first = database.inTransaction(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.discard)) {
                bindPlace(new Parameters(statement), ticket).number(ticket.epoch());
                statement.execute();
            }
            try (PreparedStatement statement = Database.prepare(connection, sql.giveUp)) {
                bind(new Parameters(statement), ticket, failure).number(ticket.epoch());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next();
                }
            }
        });
        return first ? failure : earlier(ticket).orElse(failure);
    }

    /** Deletes rows that are older than this many microseconds. */
    public int forget(long micros) {
        int all = 0;
        int deleted;
        do {
            deleted = forgetSome(micros);
            all += deleted;
        } while (deleted == FORGOTTEN_AT_ONCE);
        return all;
    }

    private int forgetSome(long micros) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.forget)) {
                new Parameters(statement).number(micros).integer(FORGOTTEN_AT_ONCE);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getInt(1);
                }
            }
        });
    }
}
