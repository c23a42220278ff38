package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Schema;
import java.time.Instant;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Sets up a {@link PostgresStore}. Immutable: every method returns a changed copy.
 *
 * <p>Any {@link DataSource} of PostgreSQL's driver works. Use a pool; if the {@link DataSource} opens a new connection
 * each time, the store keeps a few open. Perdure needs three connections and takes up to five. With more {@link #lanes}
 * it takes more: nine with six lanes.
 */
public final class PostgresStoreBuilder {
    private static final int DEFAULT_LANES = 2;
    private static final int MOST_LANES = 64;

    final DataSource source;
    Schema schema = new Schema("perdure");
    int lanes = DEFAULT_LANES;
    boolean notifications = true;

    @Nullable
    DataSource listenOn;

    boolean migrate = true;
    boolean unsafeCommit;
    boolean believes = true;
    Supplier<@Nullable Instant> time = () -> null;

    PostgresStoreBuilder(DataSource source) {
        if (source == null) {
            throw new InvalidRequestException(
                    "The DataSource is null. Pass one that opens connections to the database, such as a pool.");
        }
        this.source = source;
    }

    /** A copy, which is changed once, before the caller gets it. */
    private PostgresStoreBuilder(PostgresStoreBuilder other) {
        this.source = other.source;
        this.schema = other.schema;
        this.lanes = other.lanes;
        this.notifications = other.notifications;
        this.listenOn = other.listenOn;
        this.migrate = other.migrate;
        this.unsafeCommit = other.unsafeCommit;
        this.believes = other.believes;
        this.time = other.time;
    }

    /** The PostgreSQL schema to use. {@code perdure} by default. Up to 48 characters of a-z, 0-9 and _. */
    public PostgresStoreBuilder schema(String name) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.schema = new Schema(name);
        return copy;
    }

    /** How many connections commit at once, in addition to two for everything else. Two by default. */
    public PostgresStoreBuilder lanes(int count) {
        if (count < 1 || count > MOST_LANES) {
            throw new InvalidRequestException("The number of lanes is %s; it is 1 to %s.".formatted(count, MOST_LANES));
        }
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.lanes = count;
        return copy;
    }

    /** Whether the store listens and notifies. On by default. Without it everything works, at the speed of polling. */
    public PostgresStoreBuilder notifications(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.notifications = on;
        return copy;
    }

    /**
     * The source of the listening connection, if it is not the same. Needed behind a pooler in transaction mode,
     * through which a store cannot listen.
     */
    public PostgresStoreBuilder listenOn(DataSource direct) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.listenOn = direct;
        return copy;
    }

    /** Whether opening the store migrates the schema if needed. On by default. */
    public PostgresStoreBuilder migrate(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.migrate = on;
        return copy;
    }

    /**
     * Opens the store even if {@code synchronous_commit} is off. Then a crash of the server may lose acknowledged
     * changes.
     */
    public PostgresStoreBuilder allowUnsafeCommit() {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.unsafeCommit = true;
        return copy;
    }

    /**
     * For tests: the time that is written and by which timers are due, instead of the database's time. Leases use the
     * database's time all the same.
     */
    public PostgresStoreBuilder time(Supplier<Instant> clock) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.time = () -> clock.get();
        return copy;
    }

    /** For tests: whether the store may send batches by plans with beliefs. Otherwise it looks everything up. */
    PostgresStoreBuilder believing(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.believes = on;
        return copy;
    }

    /**
     * Checks the database, migrates it if allowed, and opens the store.
     *
     * @throws dev.perdure.error.StoreException if the database is out of reach or cannot be used; the message says what
     *     to do
     */
    public PostgresStore open() {
        return PostgresStore.open(this);
    }
}
