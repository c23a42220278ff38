package dev.perdure.jdbi;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.util.function.Consumer;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * Transaction steps whose bodies get a Jdbi {@link Handle}.
 *
 * <pre>{@code
 * TransactionSource<Handle> accounts = JdbiTransactions.on(PostgresTransactions.on(store, pool));
 * …
 * ctx.transact("reserve", accounts, handle -> handle.execute("UPDATE account SET balance = balance - 10"));
 * }</pre>
 *
 * <p>The engine ends the transaction: {@code handle.begin()}, {@code commit()} and {@code rollback()} throw.
 */
public final class JdbiTransactions implements Transactor<Handle> {
    private final Transactor<Connection> source;
    private final CurrentConnection connections = new CurrentConnection();
    private final Jdbi jdbi = Jdbi.create(connections);

    private JdbiTransactions(Transactor<Connection> source) {
        this.source = source;
    }

    /** A source with Jdbi's default settings. */
    public static JdbiTransactions on(TransactionSource<Connection> source) {
        return on(source, jdbi -> {});
    }

    /** A source with the application's own plugins and settings. */
    public static JdbiTransactions on(TransactionSource<Connection> source, Consumer<Jdbi> settings) {
        if (!(source instanceof Transactor<Connection> transactor)) {
            throw new InvalidRequestException(
                    "%s cannot run transactions. Use a source of a database module, such as PostgresTransactions.on(store)."
                            .formatted(source));
        }
        JdbiTransactions transactions = new JdbiTransactions(transactor);
        settings.accept(transactions.jdbi);
        return transactions;
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Handle> work) throws Exception {
        return source.run(ticket, connection -> {
            connections.current.set(connection);
            try (Handle handle = jdbi.open()) {
                return work.perform(handle);
            } finally {
                connections.current.remove();
            }
        });
    }

    @Override
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        return source.giveUp(ticket, failure);
    }

    /**
     * Gives Jdbi the connection of the transaction that runs on this thread. Closing it has no effect: it belongs to
     * the source.
     */
    private static final class CurrentConnection implements ConnectionFactory {
        @SuppressWarnings("ThreadLocalUsage") // one for each source, and empty again after each body
        private final ThreadLocal<@Nullable Connection> current = new ThreadLocal<>();

        @Override
        public Connection openConnection() {
            Connection connection = current.get();
            if (connection == null) {
                throw new IllegalStateException("This Jdbi opens handles only inside the body of a transaction step.");
            }
            return connection;
        }

        @Override
        public void closeConnection(Connection connection) {}
    }
}
