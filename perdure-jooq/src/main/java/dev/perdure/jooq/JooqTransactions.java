package dev.perdure.jooq;

import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import org.jooq.Configuration;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DefaultConfiguration;

/**
 * Transaction steps whose bodies get a jOOQ {@link DSLContext}.
 *
 * <pre>{@code
 * TransactionSource<DSLContext> accounts = JooqTransactions.on(PostgresTransactions.on(store, pool));
 * …
 * ctx.transact("reserve", accounts, sql -> sql.update(ACCOUNT).set(BALANCE, BALANCE.minus(10)).execute());
 * }</pre>
 *
 * <p>The engine ends the transaction: {@code sql.transaction(…)} inside a body throws.
 */
public final class JooqTransactions {
    private JooqTransactions() {}

    /** A source with PostgreSQL's dialect and jOOQ's default settings. */
    public static TransactionSource<DSLContext> on(TransactionSource<Connection> source) {
        return on(source, new DefaultConfiguration().set(SQLDialect.POSTGRES));
    }

    /** A source with the application's own settings. It replaces only their connection. */
    public static TransactionSource<DSLContext> on(TransactionSource<Connection> source, Configuration settings) {
        return source.as(connection -> settings.derive(connection).dsl());
    }
}
