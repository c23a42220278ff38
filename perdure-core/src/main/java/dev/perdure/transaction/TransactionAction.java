package dev.perdure.transaction;

/**
 * What a transaction step without result does. See {@link TransactionBody}.
 *
 * @param <C> what it works with
 */
@FunctionalInterface
public interface TransactionAction<C> {
    /** Does the work, in a transaction that is not its own to end. */
    void run(C handle) throws Exception;
}
