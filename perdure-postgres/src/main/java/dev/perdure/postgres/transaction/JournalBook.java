package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.WorkerId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;

/** Records a transaction step in the journal in Perdure's own database, in the transaction of its body. */
public final class JournalBook implements TransactionBook {
    private final Database database;
    private final TransactionSql sql;
    private final Workers workers;
    private final TransactionFate fate;

    public JournalBook(Database database, Schema schema, Workers workers) {
        this.database = database;
        this.sql = new TransactionSql(schema);
        this.workers = workers;
        this.fate = new TransactionFate(database);
    }

    @Override
    public BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return BegunTransaction.begin(connection, ticket);
    }

    /** The record is in the journal, or does not exist. */
    @Override
    public Optional<Entry> earlier(Connection connection, TransactionTicket ticket) {
        return Optional.empty();
    }

    /** Writes the record, and locks the run until the commit. */
    public void record(Connection connection, BegunTransaction begun, Entry entry) throws SQLException {
        send(connection, sql.record, begun, entry);
    }

    @Override
    public Transacted recordAndCommit(Connection connection, BegunTransaction begun, Entry entry) throws SQLException {
        send(connection, sql.recordAndCommit, begun, entry);
        return new Transacted.Recorded();
    }

    private void send(Connection connection, String text, BegunTransaction begun, Entry entry) throws SQLException {
        BorrowedConnection.withoutSavepoints(connection, on -> {
            begun.requireAlive(on);
            return execute(on, text, begun, entry);
        });
    }

    private boolean execute(Connection connection, String text, BegunTransaction begun, Entry entry)
            throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, text)) {
            bind(new Parameters(statement), begun, entry);
            return statement.execute();
        }
    }

    /** The statements that record a step and commit. */
    String recordAndCommit() {
        return sql.recordAndCommit;
    }

    /** Binds the parameters of these statements. */
    void bind(Parameters parameters, BegunTransaction begun, Entry entry) throws SQLException {
        TransactionTicket ticket = begun.ticket();
        parameters
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
    }

    /** Whether a worker has joined through this store, and so holds runs of this database. */
    public boolean isHere(WorkerId worker) {
        return workers.isHere(worker);
    }

    @Override
    public Transacted fromCommit(Exception thrown, boolean broken, BegunTransaction begun, Entry entry)
            throws Exception {
        BegunTransaction.requireNotEnded(thrown);
        Optional<Transacted> trouble = SqlTrouble.fromCommit(thrown, begun.ticket());
        if (trouble.isPresent()) {
            return trouble.get();
        }
        if (SqlTrouble.isState(thrown, TransactionSql.REFUSED) || SqlTrouble.isOfClosedPartition(thrown)) {
            return new Transacted.Fenced();
        }
        if (broken && !SqlTrouble.tookTooLong(thrown)) {
            return fate.inDoubt(begun.number(), thrown, new Transacted.Recorded());
        }
        throw thrown;
    }
}
