package dev.perdure.transaction;

import java.util.function.Function;

/**
 * Where transaction steps run: a database with the application's own data, and what their bodies get of it. Made by the
 * modules that know databases, such as {@code PostgresTransactions.on(store)}, kept in a field, and named in the call:
 *
 * <pre>{@code
 * ctx.transaction("reserve", accounts, connection -> reserve(connection, order));
 * }</pre>
 *
 * <p>Thread-safe. What it guarantees is said where it is made; see {@code docs/guides/your-data-and-ours.md}.
 *
 * @param <C> what a body works with: a JDBC connection, or what a library makes of it
 */
public interface TransactionSource<C> {
    /** The same source for bodies that work with something else, made anew from each transaction's own. */
    <D> TransactionSource<D> as(Function<? super C, ? extends D> view);
}
