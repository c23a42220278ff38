package dev.perdure.dashboard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/**
 * The processor time that the engine and the pages have used, each in its own process and in its own connections to the
 * server, as Linux counts it. What has no connection, such as the processes that write the log and the tables, is counted
 * for the engine.
 */
final class ProcessorTime {
    private final long postmaster;
    private final long serving;
    private final Set<Long> backends;

    private ProcessorTime(long postmaster, long serving, Set<Long> backends) {
        this.postmaster = postmaster;
        this.serving = serving;
        this.backends = backends;
    }

    /** Whether this system counts it. */
    static boolean isKnown() {
        return Files.isReadable(Path.of("/proc/self/schedstat"));
    }

    /**
     * Of this process, which is the engine, and of one that serves pages and has opened all its connections.
     *
     * @param postmaster the main process of the server
     */
    static ProcessorTime of(long postmaster, ServingProcess serving, DataSource database) throws SQLException {
        Set<Long> backends = new HashSet<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT pid FROM pg_stat_activity WHERE application_name = '%s'"
                        .formatted(ServingProcess.APPLICATION))) {
            while (rows.next()) {
                backends.add(rows.getLong(1));
            }
        }
        return new ProcessorTime(postmaster, serving.pid(), backends);
    }

    /**
     * Nanoseconds up to some time.
     *
     * @param processes those of the processes of Java
     * @param server those of each process of the server, by its id
     */
    record Reading(Map<Long, Long> processes, Map<Long, Long> server) {}

    /** The time up to now. */
    Reading now() throws IOException {
        Map<Long, Long> server = new HashMap<>();
        for (ProcessHandle child :
                ProcessHandle.of(postmaster).orElseThrow().children().toList()) {
            Path file = Path.of("/proc", Long.toString(child.pid()), "schedstat");
            try {
                server.put(child.pid(), Long.valueOf(Files.readString(file).split(" ")[0]));
            } catch (IOException ended) {
                if (child.isAlive()) {
                    throw ended;
                }
            }
        }
        long engine = ProcessHandle.current().pid();
        return new Reading(Map.of(engine, java(engine), serving, java(serving)), server);
    }

    private static long java(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().totalCpuDuration())
                .map(Duration::toNanos)
                .orElseThrow();
    }

    /** What the engine used between two readings. What a process of the server used that has ended in between is missing. */
    double engine(Reading before, Reading after) {
        long own = ProcessHandle.current().pid();
        double sum = after.processes().get(own) - before.processes().get(own);
        for (Map.Entry<Long, Long> process : after.server().entrySet()) {
            if (!backends.contains(process.getKey())) {
                sum += process.getValue() - before.server().getOrDefault(process.getKey(), 0L);
            }
        }
        return sum;
    }

    /** What the process that serves pages used between two readings. */
    double serving(Reading before, Reading after) {
        return (double) after.processes().get(serving) - before.processes().get(serving);
    }

    /** What the server used for the process that serves pages between two readings. */
    double asked(Reading before, Reading after) {
        return backends.stream()
                .mapToDouble(pid ->
                        (double) after.server().get(pid) - before.server().get(pid))
                .sum();
    }
}
