package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What faults happen to: a server, a proxy in front of it, and worker processes that reach it through the proxy. The
 * ledger is on a server of its own, to which nothing happens.
 */
public final class Site implements AutoCloseable {
    /** What a server may be like. */
    public enum Server {
        /** Its file system can be filled. */
        ON_SMALL_DISK,
        /** It has a synchronous standby. */
        WITH_STANDBY
    }

    /** The lease of the workers. */
    public static final Duration LEASE = Duration.ofSeconds(2);

    /** So few that they can be used up. */
    private static final int MOST_CONNECTIONS = 60;

    private static final int LOST_ONE_IN = 15;

    private static final String SMALL = "512m";

    private final Optional<SmallDisk> disk;
    private final Options options;
    private final List<AutoCloseable> servers = new ArrayList<>();
    private volatile EmbeddedPostgres server;
    private volatile Optional<Standby> standby = Optional.empty();
    private final EmbeddedPostgres ledgerServer;
    private final FaultyProxy proxy;
    private final Workers workers;
    private final Set<Long> stopped = ConcurrentHashMap.newKeySet();

    /**
     * Starts the servers. Workers are started later.
     *
     * @param main the class of the workers
     * @param count how many there are at any time
     * @param more arguments for them after the addresses of the database and of the ledger
     * @param logs the folder for their logs
     * @param like what the server is like
     * @param seed chooses which answers are lost
     */
    public Site(Class<?> main, int count, List<String> more, Path logs, Set<Server> like, long seed) throws Exception {
        this.disk = like.contains(Server.ON_SMALL_DISK) ? SmallDisk.mount(SMALL) : Optional.empty();
        this.options = EmbeddedPostgres.options()
                .setting("max_connections", Integer.toString(MOST_CONNECTIONS))
                .setting("max_wal_size", "128MB")
                .setting("wal_keep_size", "64MB");
        this.server = EmbeddedPostgres.start(
                disk.map(small -> options.dataFolder(small.folder())).orElse(options));
        servers.add(server);
        if (like.contains(Server.WITH_STANDBY)) {
            addStandby();
        }
        this.ledgerServer = EmbeddedPostgres.start(EmbeddedPostgres.options());
        this.proxy = new FaultyProxy(server.port(), LOST_ONE_IN, seed);
        List<String> arguments = new ArrayList<>(through().arguments());
        arguments.addAll(ledger().arguments());
        arguments.addAll(more);
        this.workers = new Workers(main, count, arguments, logs);
    }

    private void addStandby() throws IOException, SQLException {
        Standby next = Standby.of(server, options);
        servers.add(next);
        standby = Optional.of(next);
    }

    /**
     * Stops the server as in a crash and lets its standby take over, which then gets another standby.
     *
     * @return whether there was a standby
     */
    public boolean failOver() throws IOException, SQLException {
        if (standby.isEmpty()) {
            return false;
        }
        server = standby.get().promoted();
        proxy.redirect(server.port());
        addStandby();
        return true;
    }

    /** The server. */
    public EmbeddedPostgres server() {
        return server;
    }

    /** The file system with the data of the server, if it can be filled. */
    public Optional<SmallDisk> disk() {
        return disk;
    }

    /** The proxy in front of it. */
    public FaultyProxy proxy() {
        return proxy;
    }

    /** The worker processes. */
    public Workers workers() {
        return workers;
    }

    /** The database, without the proxy. */
    public Address direct() {
        return new Address(server.jdbcUrl(), server.user(), server.password());
    }

    /** The database as workers and the client see it. */
    public Address through() {
        return direct().through(proxy);
    }

    /** Where the ledger is. */
    public Address ledger() {
        return new Address(ledgerServer.jdbcUrl(), ledgerServer.user(), ledgerServer.password());
    }

    /** The processes that were stopped for a while. */
    public Set<Long> stopped() {
        return stopped;
    }

    @Override
    public void close() {
        workers.close();
        proxy.close();
        ledgerServer.close();
        for (AutoCloseable each : servers.reversed()) {
            close(each);
        }
        disk.ifPresent(SmallDisk::close);
    }

    private static void close(AutoCloseable server) {
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException("A server cannot be closed.", e);
        }
    }
}
