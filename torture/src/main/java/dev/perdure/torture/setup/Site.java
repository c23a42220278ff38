package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What faults happen to: a server, a proxy in front of it, and worker processes that reach it through the proxy. The
 * ledger is on a server of its own, to which nothing happens.
 */
public final class Site implements AutoCloseable {
    /**
     * What a server is like.
     *
     * @param disk the size of its file system, which can be filled then; none for a folder
     * @param standby whether it has a synchronous standby
     */
    public record Server(Optional<String> disk, boolean standby) {}

    /** The lease of the workers. */
    public static final Duration LEASE = Duration.ofSeconds(2);

    /** So few that they can be used up. */
    private static final int MOST_CONNECTIONS = 60;

    private static final int LOST_ONE_IN = 15;

    private final CloseStack closing = new CloseStack();
    private final Options options;
    private final Deque<OwnServer> servers = new ConcurrentLinkedDeque<>();
    private volatile OwnServer server;
    private volatile Optional<Standby> standby = Optional.empty();
    private final EmbeddedPostgres ledgerServer;
    private final Optional<PgBouncer> pooler;
    private final FaultyProxy proxy;
    private final Workers workers;
    private final Queue<Absence> absences = new ConcurrentLinkedQueue<>();

    /**
     * What a site is like.
     *
     * @param main the class of the workers
     * @param count how many there are at any time
     * @param more arguments for them after the addresses of the database and of the ledger
     * @param logs the folder for their logs
     * @param server what the server is like
     * @param pooler the program of a PgBouncer in front of it
     * @param seed chooses which answers are lost
     */
    public record Setup(
            Class<?> main, int count, List<String> more, Path logs, Server server, Optional<Path> pooler, long seed) {}

    /** Starts the servers. Workers are started later. */
    public Site(Setup setup) throws Exception {
        this.options = EmbeddedPostgres.options()
                .setting("max_connections", Integer.toString(MOST_CONNECTIONS))
                .setting("max_wal_size", "128MB")
                .setting("wal_keep_size", "64MB");
        closing.add(this::closeServers);
        this.server = OwnServer.start(options, setup.server().disk());
        servers.add(server);
        if (setup.server().standby()) {
            addStandby();
        }
        this.ledgerServer = closing.add(EmbeddedPostgres.start(EmbeddedPostgres.options()));
        this.pooler = setup.pooler().isPresent()
                ? Optional.of(closing.add(PgBouncer.start(setup.pooler().get(), server())))
                : Optional.empty();
        int port = pooler.map(PgBouncer::port).orElse(server().port());
        this.proxy = closing.add(new FaultyProxy(port, LOST_ONE_IN, setup.seed()));
        List<String> arguments = new ArrayList<>(through().arguments());
        arguments.addAll(ledger().arguments());
        arguments.addAll(setup.more());
        this.workers = closing.add(new Workers(setup.main(), setup.count(), arguments, setup.logs()));
    }

    private void addStandby() throws Exception {
        Standby next = Standby.of(server, options);
        servers.add(next.server());
        standby = Optional.of(next);
    }

    /**
     * Stops the server as in a crash and lets its standby take over, which then gets another standby. Nothing is left of
     * the server that was.
     *
     * @return whether there was a standby
     */
    public boolean failOver() throws Exception {
        if (standby.isEmpty()) {
            return false;
        }
        server = standby.get().promoted();
        if (pooler.isPresent()) {
            pooler.get().redirect(server().port());
        } else {
            proxy.redirect(server().port());
        }
        servers.removeFirst().close();
        addStandby();
        return true;
    }

    /** The server. */
    public EmbeddedPostgres server() {
        return server.postgres();
    }

    /** The file system with the data of the server, if it can be filled. */
    public Optional<SmallDisk> disk() {
        return server.folder().disk();
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
        return new Address(server().jdbcUrl(), server().user(), server().password());
    }

    /** The database as workers and the client see it. */
    public Address through() {
        return pooler.isPresent() ? direct().throughPooler(proxy) : direct().through(proxy);
    }

    /** Where the ledger is. */
    public Address ledger() {
        return new Address(ledgerServer.jdbcUrl(), ledgerServer.user(), ledgerServer.password());
    }

    /** Notes that a process was stopped, or took its lease for its own, until now. */
    public void absent(long pid, Instant begun) {
        absences.add(Absence.since(pid, begun));
    }

    /** The processes that were stopped for a while, and when. */
    public List<Absence> absences() {
        return List.copyOf(absences);
    }

    @Override
    public void close() {
        closing.close();
    }

    /** The standby first: a primary that goes on without it would wait for it. */
    private void closeServers() {
        while (!servers.isEmpty()) {
            servers.removeLast().close();
        }
    }
}
