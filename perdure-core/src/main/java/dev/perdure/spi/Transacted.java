package dev.perdure.spi;

import dev.perdure.spi.change.Entry;
import java.time.Duration;

/** The outcome of the transaction of a transaction step. */
public sealed interface Transacted {
    /** Committed together with its record. */
    record Recorded() implements Transacted {}

    /**
     * Committed, but the engine still has to append this entry to the journal: the source has recorded the transaction
     * elsewhere, or the transaction changed nothing.
     *
     * @param entry the entry of this body, or of an earlier attempt that was committed
     */
    record Completed(Entry entry) implements Transacted {}

    /** Rolled back, because the worker no longer holds the run. */
    record Fenced() implements Transacted {}

    /**
     * Rolled back, because it conflicted with another transaction. Run it again.
     *
     * @param cause the error of the database
     */
    record Conflict(Exception cause) implements Transacted {}

    /**
     * Rolled back or never begun, because the database is out of reach or has no free connection. Run it again when it
     * has.
     *
     * @param cause the error of the database
     */
    record Unavailable(Exception cause) implements Transacted {}

    /**
     * Rolled back by the database, because the body sent no statement for longer than its worker's lease allows. It
     * counts as a failed attempt, because the next attempt would take as long.
     *
     * @param limit how long a transaction may be idle
     * @param cause the error of the database
     */
    record Expired(Duration limit, Exception cause) implements Transacted {}

    /**
     * Unknown: the connection was lost during the commit.
     *
     * @param inquiry asks the database for the outcome
     */
    record InDoubt(Inquiry inquiry) implements Transacted {}

    /** Asks for the outcome of a transaction. */
    @FunctionalInterface
    interface Inquiry {
        /**
         * Asks once.
         *
         * @return {@link InDoubt} if the transaction has still not ended
         * @throws dev.perdure.error.StoreException if the database does not answer; ask again
         */
        Transacted ask();
    }
}
