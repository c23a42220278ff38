package dev.perdure.transaction;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction step does: changes the application's own data, and gives a result. It may run more than once, but
 * only one run of it is committed. {@link Serializable} only lets Java say the lambda's result type; it is never
 * serialised.
 *
 * @param <C> what it works with
 * @param <T> the result
 */
@FunctionalInterface
public interface TransactionBody<C, T extends @Nullable Object> extends Serializable {
    /** Does the work, in a transaction that is not its own to end. */
    T call(C handle) throws Exception;
}
