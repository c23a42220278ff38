package dev.perdure.spring;

import dev.perdure.RunId;
import dev.perdure.error.TerminalException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.TransactionRecorder;
import dev.perdure.postgres.TransactionRecorder.Begun;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.report.EngineLog;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transaction steps in transactions of Spring's manager, in the database that holds Perdure's tables. Everything that
 * the body calls joins the transaction: {@code @Transactional} methods, {@code JdbcTemplate} and, with a
 * {@code JpaTransactionManager}, JPA.
 *
 * <pre>{@code
 * TransactionSource<TransactionStatus> spring = SpringTransactions.on(store, transactionManager, dataSource);
 * …
 * ctx.transact("reserve", spring, status -> accounts.reserve(order));
 * }</pre>
 *
 * <p>This source writes the step's record on the transaction's connection right before Spring commits. Thread-safe.
 */
public final class SpringTransactions implements Transactor<TransactionStatus> {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");
    private static final String NO_TABLE = "42P01";
    private static final String NO_SCHEMA = "3F000";

    private final Supplier<TransactionRecorder> recorders;
    private final PlatformTransactionManager manager;
    private final DataSource source;

    private SpringTransactions(
            Supplier<TransactionRecorder> recorders, PlatformTransactionManager manager, DataSource source) {
        this.recorders = recorders;
        this.manager = manager;
        this.source = ManagedSource.of(source);
    }

    /**
     * A source that runs transactions of this manager.
     *
     * @param source the data source of the manager: the same database as the store's, with a role that may also write
     *     to Perdure's tables
     */
    public static SpringTransactions on(PostgresStore store, PlatformTransactionManager manager, DataSource source) {
        TransactionRecorder recorder = TransactionRecorder.of(store);
        return new SpringTransactions(() -> recorder, manager, source);
    }

    /**
     * Like {@link #on(PostgresStore, PlatformTransactionManager, DataSource)}, with the store that is current at each
     * step. For tests that open a store of their own each, in one application.
     */
    public static SpringTransactions on(
            Supplier<PostgresStore> current, PlatformTransactionManager manager, DataSource source) {
        return new SpringTransactions(() -> TransactionRecorder.of(current.get()), manager, source);
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<TransactionStatus> work) throws Exception {
        boolean interrupted = Thread.interrupted(); // an interrupt during a socket read would close the connection
        try {
            TransactionRecorder recorder = recorders.get();
            TransactionStatus status;
            try {
                status = manager.getTransaction(definition(ticket));
            } catch (TransactionException none) {
                return new Transacted.Unavailable(none);
            }
            return new OneTransaction(status, recorder).run(ticket, work);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The definition leaves the isolation out: the recorder sets it without another round trip. */
    private static TransactionDefinition definition(TransactionTicket ticket) {
        DefaultTransactionDefinition definition =
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        definition.setName("transaction step at position " + ticket.position());
        definition.setReadOnly(ticket.options().isReadOnly());
        return definition;
    }

    /** Runs one transaction. */
    private final class OneTransaction {
        private final TransactionStatus status;
        private final TransactionRecorder recorder;

        OneTransaction(TransactionStatus status, TransactionRecorder recorder) {
            this.status = status;
            this.recorder = recorder;
        }

        Transacted run(TransactionTicket ticket, Work<TransactionStatus> work) throws Exception {
            Connection connection;
            Begun begun;
            try {
                connection = connection();
                begun = recorder.begin(connection, ticket);
            } catch (SQLException cannot) {
                rollBack();
                return new Transacted.Unavailable(cannot);
            } catch (RuntimeException | Error thrown) {
                rollBack();
                throw thrown;
            }
            Entry entry;
            try {
                entry = work.perform(status);
                requireCommit();
                status.flush();
            } catch (Exception thrown) {
                Optional<Transacted> trouble = recorder.fromBody(thrown, connection, begun);
                rollBack();
                if (trouble.isPresent()) {
                    return trouble.get();
                }
                throw thrown;
            } catch (Error thrown) {
                rollBack();
                throw thrown;
            }
            if (ticket.options().isReadOnly()) {
                rollBack();
                return new Transacted.Completed(entry);
            }
            return committed(connection, begun, ticket.run().id(), entry);
        }

        private Transacted committed(Connection connection, Begun begun, RunId run, Entry entry) throws Exception {
            try {
                recorder.record(connection, begun, entry);
            } catch (SQLException refused) {
                boolean broken = isClosed(connection);
                rollBack();
                requireTables(refused);
                return recorder.fromCommit(refused, broken, begun, entry);
            }
            CommitSeen commit = CommitSeen.register();
            try {
                manager.commit(status);
                return new Transacted.Recorded();
            } catch (RuntimeException | Error thrown) {
                if (commit.isDone()) {
                    LOG.warn(
                            "Run '{}': code that the transaction step '{}' registered to run after its commit has thrown. The step is recorded and goes on.",
                            run,
                            entry.name(),
                            thrown);
                    return new Transacted.Recorded();
                }
                if (thrown instanceof RuntimeException refused) {
                    return recorder.fromCommit(refused, recorder.isLost(refused), begun, entry);
                }
                throw thrown;
            }
        }

        /** A transaction of Spring has other data sources join as well, with connections that it does not commit. */
        private Connection connection() {
            if (!TransactionSynchronizationManager.hasResource(source)) {
                throw new TerminalException(
                        "The transaction manager %s does not manage connections of %s. Pass the DataSource of the manager."
                                .formatted(manager, source));
            }
            return DataSourceUtils.getConnection(source);
        }

        /** Throws if the transaction was in a database without Perdure's tables. No retry would help. */
        private void requireTables(SQLException refused) {
            if (NO_TABLE.equals(refused.getSQLState()) || NO_SCHEMA.equals(refused.getSQLState())) {
                throw new TerminalException(
                        "The transaction of %s is not in the database with Perdure's tables, so the step was rolled back: %s. Pass a manager of that database, or use OtherDatabase for this one."
                                .formatted(manager, refused.getMessage()),
                        refused);
            }
        }

        /**
         * Throws if the body has marked the transaction for rollback. Spring would roll back silently, and the step
         * would count as done.
         */
        private void requireCommit() {
            if (status.isRollbackOnly()) {
                throw new UnexpectedRollbackException(
                        "The body of a transaction step has marked its transaction for rollback. Throw an exception instead.");
            }
        }

        private void rollBack() {
            try {
                if (!status.isCompleted()) {
                    manager.rollback(status);
                }
            } catch (RuntimeException broken) {
                // On a lost connection there is nothing to roll back, and JPA throws.
            }
        }
    }

    /** Whether the transaction is committed: an exception from the manager may come from what it calls afterwards. */
    private static final class CommitSeen implements TransactionSynchronization {
        private boolean done;

        /** Registers one, if the manager calls any code after a commit. */
        static CommitSeen register() {
            CommitSeen seen = new CommitSeen();
            if (TransactionSynchronizationManager.isSynchronizationActive()) {
                TransactionSynchronizationManager.registerSynchronization(seen);
            }
            return seen;
        }

        @Override
        public void afterCompletion(int end) {
            done = end == STATUS_COMMITTED;
        }

        boolean isDone() {
            return done;
        }
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException unknown) {
            return true;
        }
    }
}
