package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.inbox.InboxColumns;
import dev.perdure.postgres.inbox.InboxSql;
import dev.perdure.postgres.inbox.InboxTasks;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * Starts and cancels on a connection that the caller holds: visible when the caller commits, gone when it rolls back.
 *
 * <pre>{@code
 * PostgresOutbox outbox = PostgresOutbox.on(store);
 * …
 * insert(connection, order);
 * perdure.outbox(outbox.in(connection)).start(Orders::process, order, id("order-42"));
 * connection.commit();
 * }</pre>
 *
 * <p>It only inserts into a table of its own. Whatever the transaction does and however long it is left open, it holds up no
 * worker and no other caller. Immutable.
 */
public final class PostgresOutbox {
    private static final String SENDER = "outbox";
    private static final String READY = SENDER + "\nready";

    private final Schema schema;
    private final InboxSql sql;
    private final boolean notifies;

    private PostgresOutbox(Schema schema, boolean notifies) {
        this.schema = schema;
        this.sql = new InboxSql(schema);
        this.notifies = notifies;
    }

    /** For the runs of this store. */
    public static PostgresOutbox on(PostgresStore store) {
        if (store == null) {
            throw new InvalidRequestException("The store is null. Give the one whose runs are started.");
        }
        return new PostgresOutbox(store.schema(), true);
    }

    /**
     * Whether the commit wakes a worker; on unless set. PostgreSQL lets transactions that notify commit one after another:
     * where many commit at once that costs throughput, and without it workers find out at their next look, within a second.
     */
    public PostgresOutbox notifications(boolean on) {
        return new PostgresOutbox(schema, on);
    }

    /**
     * For one transaction: the one that is open on this connection. Under autocommit there is none, and every use is an
     * {@link InvalidRequestException}.
     */
    public Inbox in(Connection connection) {
        if (connection == null) {
            throw new InvalidRequestException(
                    "The connection is null. Give the one that the caller's transaction is open on.");
        }
        return changes -> put(connection, changes);
    }

    private void put(Connection connection, List<Change> changes) {
        if (changes.isEmpty()) {
            return;
        }
        requireTransaction(connection);
        InboxTasks tasks = InboxTasks.of(changes);
        try (PreparedStatement statement = connection.prepareStatement(sql.put(!tasks.isEmpty(), notifies))) {
            Parameters parameters = new Parameters(statement);
            InboxColumns.bind(parameters, changes);
            tasks.bind(parameters);
            if (notifies) {
                parameters.text(schema.channel()).text(READY);
            }
            statement.execute();
        } catch (SQLException problem) {
            throw nothingPut(problem);
        }
    }

    private void requireTransaction(Connection connection) {
        boolean autoCommit;
        try {
            autoCommit = connection.getAutoCommit();
        } catch (SQLException problem) {
            throw nothingPut(problem);
        }
        if (autoCommit) {
            throw new InvalidRequestException(
                    "The connection of the outbox commits every statement by itself, so nothing would be rolled back with the caller's work. Call setAutoCommit(false) on it, and commit.");
        }
    }

    private StoreException nothingPut(SQLException problem) {
        return new StoreException(
                StoreException.Kind.UNUSABLE,
                "Nothing was put into the inbox of schema '%s', and the caller's transaction is to be rolled back: %s"
                        .formatted(schema.name(), problem.getMessage()),
                problem);
    }
}
