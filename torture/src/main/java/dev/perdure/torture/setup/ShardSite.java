package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Three servers with a share of the runs each, worker processes, and a server for the ledger, to which nothing happens. */
public final class ShardSite implements AutoCloseable {
    /** The names of the shards. */
    public static final List<String> NAMES = List.of("a", "b", "c");

    private static final int PARTS_OF_ADDRESS = 3;

    private final CloseStack closing = new CloseStack();
    private final List<EmbeddedPostgres> servers = new ArrayList<>();
    private final EmbeddedPostgres ledgerServer;
    private final Path logs;
    private final Workers workers;

    /**
     * Starts the servers. Workers are started later.
     *
     * @param main the class of the workers, which gets the addresses of the ledger and of the shards as arguments
     * @param count how many there are at any time
     * @param logs the folder for their logs
     */
    public ShardSite(Class<?> main, int count, Path logs) throws Exception {
        this.logs = logs;
        for (int shard = 0; shard < NAMES.size(); shard++) {
            servers.add(closing.add(OwnServer.start(EmbeddedPostgres.options(), Optional.empty()))
                    .postgres());
        }
        this.ledgerServer = closing.add(EmbeddedPostgres.start(EmbeddedPostgres.options()));
        this.workers = closing.add(new Workers(main, count, arguments(), logs));
    }

    /** The addresses of the ledger and of the shards, for processes. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>(ledger().arguments());
        addresses().forEach(address -> arguments.addAll(address.arguments()));
        return arguments;
    }

    /** The server of a shard. */
    public EmbeddedPostgres server(int shard) {
        return servers.get(shard);
    }

    /** The databases of the shards. */
    public List<Address> addresses() {
        return servers.stream().map(ShardSite::address).toList();
    }

    private static Address address(EmbeddedPostgres server) {
        return new Address(server.jdbcUrl(), server.user(), server.password());
    }

    /** Where the ledger is. */
    public Address ledger() {
        return address(ledgerServer);
    }

    /** The worker processes. */
    public Workers workers() {
        return workers;
    }

    /** A process beside the workers. Its errors go to a log beside theirs. */
    public WorkerProcess process(Class<?> main, List<String> arguments) throws IOException {
        Path log = logs.resolve("%s.log".formatted(main.getSimpleName().toLowerCase(Locale.ROOT)));
        return WorkerProcess.start(
                List.of("-Xmx128m"), main, arguments, ProcessBuilder.Redirect.appendTo(log.toFile()));
    }

    /** The addresses of the shards among the arguments of a process. */
    public static List<Address> addresses(String... arguments) {
        List<Address> addresses = new ArrayList<>();
        for (int shard = 1; shard <= NAMES.size(); shard++) {
            addresses.add(Address.of(arguments, shard * PARTS_OF_ADDRESS));
        }
        return addresses;
    }

    /** How many arguments of a process are addresses. */
    public static int addressArguments() {
        return (1 + NAMES.size()) * PARTS_OF_ADDRESS;
    }

    @Override
    public void close() {
        closing.close();
    }
}
