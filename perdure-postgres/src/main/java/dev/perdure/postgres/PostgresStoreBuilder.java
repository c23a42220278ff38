package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Schema;
import java.time.Instant;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link PostgresStore} is set up. Immutable: every method gives another one.
 *
 * <p>Any {@link DataSource} of PostgreSQL's driver will do. A pool is best; of one that opens a connection each time a
 * few are kept open. Perdure needs three connections in all and takes up to five, with more {@link #lanes} more: nine with six.
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
                    "The DataSource is null. Give one that opens connections to the database, such as a pool.");
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

    /** The PostgreSQL schema to use; {@code perdure} unless set. Up to 48 of a-z, 0-9 and _. */
    public PostgresStoreBuilder schema(String name) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.schema = new Schema(name);
        return copy;
    }

    /** How many connections commit at once, beside two for everything else; two unless set. */
    public PostgresStoreBuilder lanes(int count) {
        if (count < 1 || count > MOST_LANES) {
            throw new InvalidRequestException(
                    "%d lanes were asked for; 1 to %d are possible.".formatted(count, MOST_LANES));
        }
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.lanes = count;
        return copy;
    }

    /** Whether to listen and notify; on unless set. Without, everything works, only at the speed of polling. */
    public PostgresStoreBuilder notifications(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.notifications = on;
        return copy;
    }

    /**
     * Where to take the listening connection from, if not from the same source: needed behind a pooler in transaction
     * mode, through which a store cannot listen.
     */
    public PostgresStoreBuilder listenOn(DataSource direct) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.listenOn = direct;
        return copy;
    }

    /** Whether opening migrates the schema when that is needed; on unless set. */
    public PostgresStoreBuilder migrate(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.migrate = on;
        return copy;
    }

    /** Opens although {@code synchronous_commit} is off: a crash of the server may then lose what was acknowledged. */
    public PostgresStoreBuilder allowUnsafeCommit() {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.unsafeCommit = true;
        return copy;
    }

    /** For tests: the time that is written and by which timers are due, instead of the database's. Leases keep the latter. */
    public PostgresStoreBuilder time(Supplier<Instant> clock) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.time = () -> clock.get();
        return copy;
    }

    /** For tests: whether batches may be sent by plans that believe something, or everything is looked up. */
    PostgresStoreBuilder believing(boolean on) {
        PostgresStoreBuilder copy = new PostgresStoreBuilder(this);
        copy.believes = on;
        return copy;
    }

    /**
     * Checks the database, migrates it if it may, and opens the store.
     *
     * @throws dev.perdure.error.StoreException if the database is out of reach or cannot be used; the message says what to do
     */
    public PostgresStore open() {
        return PostgresStore.open(this);
    }
}
