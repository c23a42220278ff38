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
 * <p>The transaction is the engine's: {@code handle.begin()}, {@code commit()} and {@code rollback()} are refused.
 */
public final class JdbiTransactions implements Transactor<Handle> {
    private final Transactor<Connection> source;
    private final Borrowed borrowed = new Borrowed();
    private final Jdbi jdbi = Jdbi.create(borrowed);

    private JdbiTransactions(Transactor<Connection> source) {
        this.source = source;
    }

    /** With Jdbi's default settings. */
    public static JdbiTransactions on(TransactionSource<Connection> source) {
        return on(source, jdbi -> {});
    }

    /** With plugins and settings of the application's own. */
    public static JdbiTransactions on(TransactionSource<Connection> source, Consumer<Jdbi> settings) {
        if (!(source instanceof Transactor<Connection> transactor)) {
            throw new InvalidRequestException(
                    "%s cannot run transactions. Take a source from a module that knows databases, such as PostgresTransactions.on(store)."
                            .formatted(source));
        }
        JdbiTransactions transactions = new JdbiTransactions(transactor);
        settings.accept(transactions.jdbi);
        return transactions;
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Handle> work) throws Exception {
        return source.run(ticket, connection -> {
            borrowed.current.set(connection);
            try (Handle handle = jdbi.open()) {
                return work.perform(handle);
            } finally {
                borrowed.current.remove();
            }
        });
    }

    @Override
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        return source.giveUp(ticket, failure);
    }

    /** The connection of the transaction that runs on this thread. Jdbi may close it as it likes: it is not its own. */
    private static final class Borrowed implements ConnectionFactory {
        @SuppressWarnings("ThreadLocalUsage") // one for each source, and empty again after each body
        private final ThreadLocal<@Nullable Connection> current = new ThreadLocal<>();

        @Override
        public Connection openConnection() {
            Connection connection = current.get();
            if (connection == null) {
                throw new IllegalStateException("A handle was opened outside the body of a transaction step.");
            }
            return connection;
        }

        @Override
        public void closeConnection(Connection connection) {}
    }
}
