package dev.perdure.spi;

import dev.perdure.spi.change.Entry;
import dev.perdure.transaction.TransactionSource;
import java.util.function.Function;

/**
 * Runs transaction steps, for the engine. Thread-safe.
 *
 * <p>A source that guarantees exactly once commits the body's changes and its record together, and only while the
 * worker holds the run: with its last statement before the commit it locks the run and checks that.
 *
 * @param <C> the handle that bodies get
 */
public interface Transactor<C> extends TransactionSource<C> {
    /**
     * The work of one transaction.
     *
     * @param <C> the handle that it gets
     */
    @FunctionalInterface
    interface Work<C> {
        /** Runs the body and returns the entry that records its outcome. */
        Entry perform(C handle) throws Exception;
    }

    /**
     * Runs the work in one transaction.
     *
     * @return the outcome of the transaction
     * @throws Exception the exception of the work, after the rollback; for a failure of the database it returns a
     *     {@link Transacted} instead
     */
    Transacted run(TransactionTicket ticket, Work<C> work) throws Exception;

    /**
     * Gives up the step. A source that records its commits elsewhere makes sure that this step commits nothing more.
     *
     * @return the final entry: this failure, or the value of a body that was committed after all
     * @throws dev.perdure.error.StoreException if the database does not answer; ask again
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
