package dev.perdure.benchmarks.cost;

import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Observer;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Measures the cost of work, in the same way for every workload and contender.
 *
 * <p>How it works: it reads counters before and after the work. It reads those of the processes last before the work
 * and first after it, so that reading the others is not part of the measurement. The meter's own connection, like every
 * {@link Observer}, does not count in the server's processor time and in the round trips, and commits nothing. WAL,
 * commits and the server's processor time are those of the whole server with its background processes, so nothing else
 * may use the server.
 */
public final class Meter implements AutoCloseable {
    /** Another process that takes part in the work. */
    @FunctionalInterface
    public interface OtherProcess {
        ProcessCost cost() throws IOException;
    }

    /**
     * A transaction gets its number from one counter when it first writes. PostgreSQL's statistics of commits would be
     * up to ten seconds late.
     */
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

    /** A meter for this process and the server of this database. */
    public static Meter on(BenchDatabase database) throws SQLException, IOException {
        Observer observer = new Observer(database);
        return new Meter(observer, ServerTime.of(observer), List.of());
    }

    /** The same meter, which also counts this process. */
    public Meter with(OtherProcess other) {
        List<OtherProcess> all = new ArrayList<>(others);
        all.add(other);
        return new Meter(observer, serverTime, List.copyOf(all));
    }

    /** Does the work and measures it. */
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
