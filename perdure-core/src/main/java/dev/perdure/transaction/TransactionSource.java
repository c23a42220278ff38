package dev.perdure.transaction;

import java.util.function.Function;

/**
 * Where transaction steps run: a database with the application's own data, and the handle that the bodies get on it.
 * The modules for databases make one, for example {@code PostgresTransactions.on(store)}. Keep it in a field and pass
 * it in the call:
 *
 * <pre>{@code
 * ctx.transaction("reserve", accounts, connection -> reserve(connection, order));
 * }</pre>
 *
 * <p>Thread-safe. The method that makes it documents its guarantees; see {@code docs/guides/your-data-and-ours.md}.
 *
 * @param <C> the handle that a body gets: a JDBC connection, or a library's wrapper of one
 */
public interface TransactionSource<C> {
    /** The same source with another handle, which this function makes from the handle of each transaction. */
    <D> TransactionSource<D> as(Function<? super C, ? extends D> view);
}
