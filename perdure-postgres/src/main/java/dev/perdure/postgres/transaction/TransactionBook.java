package dev.perdure.postgres.transaction;

import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** How a transaction step is recorded together with what its body did. */
public interface TransactionBook {
    /** The first thing said in a transaction. */
    BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException;

    /** What an earlier transaction of this step has left behind that was committed, if that is not in the journal. */
    Optional<Entry> earlier(Connection connection, TransactionTicket ticket) throws SQLException;

    /** The last thing said: the record and the commit, in one round trip. Throws instead of committing what must not be. */
    Transacted recordAndCommit(Connection connection, BegunTransaction begun, Entry entry) throws SQLException;

    /**
     * What an exception from {@link #recordAndCommit} means.
     *
     * @param broken whether the connection was lost, so that it is not known whether the commit was done
     * @throws Exception the same, if it is the body's failure
     */
    Transacted fromCommit(Exception thrown, boolean broken, BegunTransaction begun, Entry entry) throws Exception;
}
