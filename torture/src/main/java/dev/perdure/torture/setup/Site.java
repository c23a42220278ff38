package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What is ill-treated: a server, a proxy in front of it, and worker processes behind the proxy. The ledger is on a server
 * of its own, which is left alone.
 */
public final class Site implements AutoCloseable {
    /** The lease of the workers. */
    public static final Duration LEASE = Duration.ofSeconds(2);

    /** So few that they can be used up. */
    private static final int MOST_CONNECTIONS = 60;

    private static final int LOST_ONE_IN = 15;

    private final EmbeddedPostgres server;
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
     * @param logs the folder for what they have to say
     * @param seed chooses which answers are lost
     */
    public Site(Class<?> main, int count, List<String> more, Path logs, long seed) {
        this.server = EmbeddedPostgres.start(
                EmbeddedPostgres.options().setting("max_connections", Integer.toString(MOST_CONNECTIONS)));
        this.ledgerServer = EmbeddedPostgres.start(EmbeddedPostgres.options());
        this.proxy = new FaultyProxy(server.port(), LOST_ONE_IN, seed);
        List<String> arguments = new ArrayList<>(through().arguments());
        arguments.addAll(ledger().arguments());
        arguments.addAll(more);
        this.workers = new Workers(main, count, arguments, logs);
    }

    /** The server. */
    public EmbeddedPostgres server() {
        return server;
    }

    /** What stands in front of it. */
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
        server.close();
    }
}
