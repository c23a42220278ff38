package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Records a transaction step in the journal and among the completions, in the transaction of its body. A run may have come
 * from another shard, where the same step was recorded among the completions only, or may be on its way there: whichever
 * transaction records the step first commits, and no other one does.
 */
public final class BothBooks implements TransactionBook {
    private final JournalBook journal;
    private final CompletionBook completions;

    public BothBooks(JournalBook journal, CompletionBook completions) {
        this.journal = journal;
        this.completions = completions;
    }

    @Override
    public BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException {
        return BegunTransaction.begin(connection, ticket);
    }

    /** Nearly always there is none. If there is one, the body fails or the record is refused, and it is read then. */
    @Override
    public Optional<Entry> earlier(Connection connection, TransactionTicket ticket) {
        return Optional.empty();
    }

    @Override
    public Optional<Entry> afterFailure(Connection connection, TransactionTicket ticket) throws SQLException {
        return completions.earlier(connection, ticket);
    }

    @Override
    public Transacted recordAndCommit(Connection connection, BegunTransaction begun, Entry entry) throws SQLException {
        BorrowedConnection.withoutSavepoints(connection, on -> {
            begun.requireAlive(on);
            String both = String.join(";\n", completions.record(), journal.recordAndCommit());
            try (PreparedStatement statement = Database.prepare(on, both)) {
                Parameters parameters = new Parameters(statement);
                completions.bind(parameters, begun, entry);
                journal.bind(parameters, begun, entry);
                return statement.execute();
            }
        });
        return new Transacted.Recorded();
    }

    /** Either book may have refused the record. An earlier completion counts more than a worker that has lost the run. */
    @Override
    public Transacted fromCommit(Exception thrown, boolean broken, BegunTransaction begun, Entry entry)
            throws Exception {
        Transacted ofJournal = journal.fromCommit(thrown, broken, begun, entry);
        return ofJournal instanceof Transacted.Fenced
                ? new Transacted.InDoubt(() -> completions
                        .earlier(begun.ticket())
                        .<Transacted>map(Transacted.Completed::new)
                        .orElse(ofJournal))
                : ofJournal;
    }
}
