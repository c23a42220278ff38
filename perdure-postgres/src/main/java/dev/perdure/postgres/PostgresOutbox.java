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
 * Starts and cancels on a connection of the caller. They become visible when the caller commits, and are gone if the
 * caller rolls back.
 *
 * <pre>{@code
 * PostgresOutbox outbox = PostgresOutbox.on(store);
 * …
 * insert(connection, order);
 * perdure.outbox(outbox.in(connection)).start(Orders::process, order, id("order-42"));
 * connection.commit();
 * }</pre>
 *
 * <p>It only inserts into a table of its own. Whatever the transaction does, and however long it stays open, it delays
 * no worker and no other caller. Immutable.
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
            throw new InvalidRequestException("The store is null. Pass the store of the runs.");
        }
        return new PostgresOutbox(store.schema(), true);
    }

    /**
     * Whether the commit wakes a worker. On by default. PostgreSQL commits transactions that notify one after another,
     * which costs throughput if many commit at once. Without it, workers find the requests at their next poll, within a
     * second.
     */
    public PostgresOutbox notifications(boolean on) {
        return new PostgresOutbox(schema, on);
    }

    /**
     * The inbox of one transaction: the transaction that is open on this connection. Under autocommit there is none,
     * and every use throws {@link InvalidRequestException}.
     */
    public Inbox in(Connection connection) {
        if (connection == null) {
            throw new InvalidRequestException(
                    "The connection is null. Pass the connection of the caller's open transaction.");
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
