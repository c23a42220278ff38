package dev.perdure.spi;

import dev.perdure.spi.change.Entry;
import dev.perdure.transaction.TransactionSource;
import java.util.function.Function;

/**
 * Runs transaction steps, for the engine. Thread-safe.
 *
 * <p>A source that keeps the promise of exactly once commits the body's changes and its record together, and only while
 * the worker holds the run: as its last statement before the commit it locks the run and looks.
 *
 * @param <C> what bodies work with
 */
public interface Transactor<C> extends TransactionSource<C> {
    /**
     * What is done in a transaction.
     *
     * @param <C> with what
     */
    @FunctionalInterface
    interface Work<C> {
        /** Runs the body and gives the entry that records what came of it. */
        Entry perform(C handle) throws Exception;
    }

    /**
     * Runs the work in one transaction.
     *
     * @return what became of the transaction
     * @throws Exception what the work threw, after the roll-back; trouble with the database is no exception but a
     *     {@link Transacted}
     */
    Transacted run(TransactionTicket ticket, Work<C> work) throws Exception;

    /**
     * The step gives up. A source that remembers elsewhere what it committed makes sure that nothing of this step is
     * committed any more.
     *
     * @return what counts: this failure, or the value of a body that had been committed all the same
     * @throws dev.perdure.error.StoreException if nobody answers; ask again
     */
    default Entry giveUp(TransactionTicket ticket, Entry failure) {
        return failure;
    }

    @Override
    default <D> TransactionSource<D> as(Function<? super C, ? extends D> view) {
        Transactor<C> viewed = this;
        return new Transactor<D>() {
            @Override
            public Transacted run(TransactionTicket ticket, Work<D> work) throws Exception {
                return viewed.run(ticket, handle -> work.perform(view.apply(handle)));
            }

            @Override
            public Entry giveUp(TransactionTicket ticket, Entry failure) {
                return viewed.giveUp(ticket, failure);
            }
        };
    }
}
