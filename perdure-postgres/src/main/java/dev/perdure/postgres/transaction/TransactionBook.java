package dev.perdure.postgres.transaction;

import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** Records a transaction step together with the changes of its body. */
public interface TransactionBook {
    /** Sends the first statement of a transaction. */
    BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException;

    /** The record of an earlier committed transaction of this step, if it is not in the journal. */
    Optional<Entry> earlier(Connection connection, TransactionTicket ticket) throws SQLException;

    /**
     * The same after the body has failed and was rolled back, if {@link #earlier} does not look: what an earlier transaction
     * has done may be why the body fails now, such as a row that can only be inserted once.
     */
    default Optional<Entry> afterFailure(Connection connection, TransactionTicket ticket) throws SQLException {
        return Optional.empty();
    }

    /** Sends the record and the commit in one round trip. Throws instead of committing what must not be committed. */
    Transacted recordAndCommit(Connection connection, BegunTransaction begun, Entry entry) throws SQLException;

    /**
     * Interprets an exception from {@link #recordAndCommit}.
     *
     * @param broken whether the connection was lost, so that it is not known whether the commit was done
     * @throws Exception the same exception, if it is the body's failure
     */
    Transacted fromCommit(Exception thrown, boolean broken, BegunTransaction begun, Entry entry) throws Exception;
}
