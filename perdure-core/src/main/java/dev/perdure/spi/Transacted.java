package dev.perdure.spi;

import dev.perdure.spi.change.Entry;
import java.time.Duration;

/** What became of the transaction of a transaction step. */
public sealed interface Transacted {
    /** Committed, and its record with it. */
    record Recorded() implements Transacted {}

    /**
     * Committed, and this entry has still to be appended to the journal: what it did is remembered elsewhere, or it did
     * nothing.
     *
     * @param entry from this body, or from an earlier one that had been committed
     */
    record Completed(Entry entry) implements Transacted {}

    /** Rolled back: the worker does not hold the run any more. */
    record Fenced() implements Transacted {}

    /**
     * Rolled back: it lost against other transactions. Run it again.
     *
     * @param cause what the database said
     */
    record Conflict(Exception cause) implements Transacted {}

    /**
     * Rolled back or never begun, because the database is out of reach or has no connection to give. Run it again when
     * that is over.
     *
     * @param cause what the database said
     */
    record Unavailable(Exception cause) implements Transacted {}

    /**
     * Rolled back by the database, because the body said nothing for longer than its worker's lease allows. It is an attempt that
     * failed: the next body would take as long.
     *
     * @param limit how long a transaction may be idle
     * @param cause what the database said
     */
    record Expired(Duration limit, Exception cause) implements Transacted {}

    /**
     * Nobody knows: the connection was lost with the commit on its way.
     *
     * @param inquiry how to find out
     */
    record InDoubt(Inquiry inquiry) implements Transacted {}

    /** Asks what became of a transaction. */
    @FunctionalInterface
    interface Inquiry {
        /**
         * Asks once.
         *
         * @return {@link InDoubt} if it is still not over
         * @throws dev.perdure.error.StoreException if nobody answers; ask again
         */
        Transacted ask();
    }
}
