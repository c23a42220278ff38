package dev.perdure.transaction;

/**
 * The body of a transaction step without a result. See {@link TransactionBody}.
 *
 * @param <C> the handle on the transaction, such as a JDBC connection
 */
@FunctionalInterface
public interface TransactionAction<C> {
    /** Does the work. It must neither commit nor roll back: the engine ends the transaction. */
    void run(C handle) throws Exception;
}
