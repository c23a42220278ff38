package dev.perdure.benchmarks.cost;

import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.server.Site;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Measures what work costs, in the same way for every workload and every contender.
 *
 * <p>How it works: counters are read before and after the work. Those of the processes are read last before and first after it,
 * so that reading the others is not part of it. The connection of the meter, like every {@link Observer}, is left out of the server's
 * processor time, makes no round trip that counts and commits nothing. WAL, commits and the server's processor time are those of the whole
 * server, with its background processes; nothing else may use it.
 */
public final class Meter implements AutoCloseable {
    /** A process that takes part in the work, other than this one. */
    @FunctionalInterface
    public interface OtherProcess {
        ProcessCost cost() throws IOException;
    }

    /** Transactions get their numbers when they first write, from one counter. Statistics of commits would come up to ten seconds late. */
    private static final String COUNTERS = """
            SELECT pg_current_wal_insert_lsn() - '0/0', pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            """;

    private final Observer observer;
    private final ServerTime serverTime;
    private final List<OtherProcess> others;

    private Meter(Observer observer, ServerTime serverTime, List<OtherProcess> others) {
        this.observer = observer;
        this.serverTime = serverTime;
        this.others = others;
    }

    /** A meter of this process and the server of this database. */
    public static Meter on(Site site) throws SQLException, IOException {
        Observer observer = new Observer(site);
        return new Meter(observer, ServerTime.of(observer), List.of());
    }

    /** The same meter, which adds what this process uses. */
    public Meter with(OtherProcess other) {
        List<OtherProcess> all = new ArrayList<>(others);
        all.add(other);
        return new Meter(observer, serverTime, List.copyOf(all));
    }

    /** Does the work. */
    public <T> Metered<T> measure(Callable<T> work) throws Exception {
        Counters serverBefore = server();
        ProcessCost processesBefore = processes();
        T result = work.call();
        Cost after = cost(processes(), server());
        return new Metered<>(result, after.since(cost(processesBefore, serverBefore)));
    }

    private record Counters(double processorTime, double wal, double transactions) {}

    private Counters server() throws SQLException, IOException {
        List<Double> counters = observer.numbers(COUNTERS);
        return new Counters(serverTime.nanos(), counters.getFirst(), counters.getLast());
    }

    private ProcessCost processes() throws IOException {
        ProcessCost sum = ProcessCost.now();
        for (OtherProcess other : others) {
            sum = sum.plus(other.cost());
        }
        return sum;
    }

    private static Cost cost(ProcessCost processes, Counters server) {
        return new Cost(
                processes.nanos(), server.processorTime(), server.wal(), server.transactions(), processes.roundTrips());
    }

    @Override
    public void close() throws SQLException {
        observer.close();
    }
}
