package dev.perdure.embedded;

import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One temporary server for all tests of a JVM, and a new database for each test. The first call starts the server.
 *
 * {@snippet :
 * try (var database = SharedPostgres.database("orders")) {
 *     DataSource dataSource = database.dataSource();
 * }
 * }
 *
 * <p>The server stops when the JVM exits. Thread-safe.
 */
public final class SharedPostgres {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final int LONGEST_HINT = 40;

    /** The only static state of this module. It saves the start of a server for each test class. */
    private static @Nullable EmbeddedPostgres server;

    private SharedPostgres() {}

    /** {@return the server itself; stopping it stops it for all tests of this JVM} */
    public static EmbeddedPostgres server() {
        LOCK.lock();
        try {
            var running = server;
            if (running == null) {
                running = EmbeddedPostgres.start(EmbeddedPostgres.options().setting("max_connections", "200"));
                server = running;
            }
            return running;
        } finally {
            LOCK.unlock();
        }
    }

    /**
     * Creates an empty database for the caller alone.
     *
     * @param hint a part of its name, to recognise it in logs
     */
    public static Fresh database(String hint) {
        var readable = hint.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_");
        var name = String.format(
                Locale.ROOT,
                "%s_%s_%04x",
                readable.substring(0, Math.min(readable.length(), LONGEST_HINT)),
                COUNT.incrementAndGet(),
                ThreadLocalRandom.current().nextInt(0x10000));
        return new Fresh(server().createDatabase(name));
    }

    /** The database of one test. {@link #close()} drops it and closes the open connections to it. */
    public static final class Fresh implements AutoCloseable {
        private final Database database;

        private Fresh(Database database) {
            this.database = database;
        }

        /** {@return the database's name} */
        public String name() {
            return database.name();
        }

        /** {@return its address, without user and password} */
        public String jdbcUrl() {
            return database.jdbcUrl();
        }

        /** {@return the user, a superuser} */
        public String user() {
            return database.user();
        }

        /** {@return the user's password} */
        public String password() {
            return database.password();
        }

        /** {@return a data source without a pool} */
        public DataSource dataSource() {
            return database.dataSource();
        }

        @Override
        public void close() {
            server().dropDatabase(database.name());
        }

        @Override
        public String toString() {
            return database.toString();
        }
    }
}
