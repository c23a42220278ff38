package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.inbox.InboxSql;
import dev.perdure.postgres.inbox.InboxTasks;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

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
            new Rows(changes).bind(parameters);
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

    /** The columns of what is put in. */
    private static final class Rows {
        private final long[] seeds;
        private final @Nullable Long[] timeouts;
        private final @Nullable Long[] delays;
        private final @Nullable UUID[] tokens;
        private final int[] positions;
        private final int[] lives;
        private final short[] channels;
        private final short[] statuses;
        private final @Nullable String[] names;
        private final int[] priorities;
        private final int[] tasks;
        private final short[] wishes;
        private final String[] ids;
        private final @Nullable String[] definitions;
        private final @Nullable String[] queues;
        private final @Nullable String[] versions;
        private final @Nullable String[] reasons;
        private final byte[][] inputs;
        private final @Nullable Short[] holds;
        private final @Nullable String[] objectTypes;
        private final @Nullable String[] objectKeys;

        Rows(List<Change> changes) {
            int size = changes.size();
            this.seeds = new long[size];
            this.timeouts = new Long[size];
            this.delays = new Long[size];
            this.tokens = new UUID[size];
            this.positions = new int[size];
            this.lives = new int[size];
            this.channels = new short[size];
            this.statuses = new short[size];
            this.names = new String[size];
            this.priorities = new int[size];
            this.tasks = new int[size];
            this.wishes = new short[size];
            this.ids = new String[size];
            this.definitions = new String[size];
            this.queues = new String[size];
            this.versions = new String[size];
            this.reasons = new String[size];
            this.inputs = new byte[size][];
            this.holds = new Short[size];
            this.objectTypes = new String[size];
            this.objectKeys = new String[size];
            for (int i = 0; i < size; i++) {
                add(i, changes.get(i));
            }
        }

        private void add(int i, Change change) {
            switch (change) {
                case Change.Start(NewRun run, var nobody, var none, var born) -> {
                    wishes[i] = Codes.START;
                    tasks[i] = born.size();
                    ids[i] = run.id().value();
                    seeds[i] = run.seed();
                    timeouts[i] = Micros.ofNullable(run.timeout());
                    delays[i] = Micros.ofNullable(run.delay());
                    priorities[i] = run.priority();
                    definitions[i] = run.definition();
                    queues[i] = run.queue();
                    versions[i] = run.version();
                    inputs[i] = run.input().bytes();
                    addCall(i, run.object());
                }
                case Change.Command command -> {
                    wishes[i] = Codes.of(command.order());
                    ids[i] = command.run().value();
                    reasons[i] = Text.storable(command.reason());
                    inputs[i] = Payload.EMPTY.bytes();
                }
                case Change.Deliver(RunId to, Mail mail, int life, String operator) -> {
                    if (operator != null) {
                        throw new IllegalArgumentException(
                                "An operator's answer is given at once, so it cannot wait: " + operator);
                    }
                    wishes[i] = Codes.DELIVER;
                    ids[i] = to.value();
                    tokens[i] = mail.token();
                    positions[i] = mail.channel().position();
                    lives[i] = Math.max(life, 0);
                    channels[i] = Codes.of(mail.channel().kind());
                    statuses[i] = Codes.of(mail.status());
                    names[i] = mail.channel().name();
                    reasons[i] = Text.storable(mail.text());
                    inputs[i] = mail.payload().bytes();
                }
                case Change.Rerun rerun ->
                    throw new IllegalArgumentException("A rerun is answered at once, so it cannot wait: " + rerun);
                case Change.Advance advance ->
                    throw new IllegalArgumentException("Only a run's worker carries it on: " + advance);
                case Change.Whole whole -> throw new IllegalArgumentException("Only a worker has run it: " + whole);
            }
        }

        private void addCall(int i, @Nullable ObjectCall call) {
            if (call != null) {
                holds[i] = Codes.of(call.hold());
                objectTypes[i] = call.object().type();
                objectKeys[i] = call.object().key();
            }
        }

        void bind(Parameters parameters) throws SQLException {
            parameters
                    .longs(seeds)
                    .longs(timeouts)
                    .longs(delays)
                    .ints(priorities)
                    .ints(tasks)
                    .shorts(wishes)
                    .texts(ids);
            parameters
                    .texts(definitions)
                    .texts(queues)
                    .texts(versions)
                    .texts(reasons)
                    .bytes(inputs);
            parameters
                    .uuids(tokens)
                    .ints(positions)
                    .ints(lives)
                    .shorts(channels)
                    .shorts(statuses)
                    .texts(names);
            parameters.shorts(holds).texts(objectTypes).texts(objectKeys);
        }
    }
}
