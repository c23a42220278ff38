package dev.perdure.benchmarks.cost;

import dev.perdure.benchmarks.server.Observer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The processor time of a PostgreSQL server on this machine: of the postmaster, its child processes, and those that
 * have ended. Linux counts it in {@code /proc}. It is unknown on other systems, and if the server runs on another
 * machine or in a container.
 *
 * <p>How it works: the server names the pid of the process of this connection. The process is the right one if its
 * title contains the port of the connection. Its parent is the postmaster, whose children are the server's processes.
 * When a process ends, its time moves into the time that its parent counts for ended children. So this class reads
 * everything again if that time has changed meanwhile.
 */
public final class ServerTime {
    private static final int ATTEMPTS = 100;

    private final Observer observer;
    /** The pid of the postmaster, or 0 if it is not visible. */
    private final long postmaster;

    private ServerTime(Observer observer, long postmaster) {
        this.observer = observer;
        this.postmaster = postmaster;
    }

    /** The processor time of the observer's server. */
    public static ServerTime of(Observer observer) throws SQLException, IOException {
        List<Double> identity = observer.numbers("SELECT pg_backend_pid(), COALESCE(inet_client_port(), 0)");
        return new ServerTime(
                observer,
                postmaster(identity.getFirst().longValue(), identity.getLast().longValue()));
    }

    private static long postmaster(long backend, long port) throws IOException {
        Path folder = ProcessTime.folder(backend);
        if (!Files.isReadable(folder.resolve("cmdline"))) {
            return 0;
        }
        String title = Files.readString(folder.resolve("cmdline"), StandardCharsets.ISO_8859_1);
        return title.startsWith("postgres") && title.contains("(" + port + ")")
                ? ProcessTime.of(backend).parent()
                : 0;
    }

    /** Whether the server's processes are visible on this machine. */
    public boolean known() {
        return postmaster != 0;
    }

    /** The time that the server has used since its start, without observers; NaN if unknown. */
    double nanos() throws SQLException, IOException {
        if (!known()) {
            return Double.NaN;
        }
        Set<Long> excluded = new HashSet<>(observer.observers());
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            ProcessTime before = ProcessTime.of(postmaster);
            double children = children(excluded);
            ProcessTime after = ProcessTime.of(postmaster);
            if (before.endedChildren() == after.endedChildren()) {
                return after.own() + after.endedChildren() + children;
            }
        }
        throw new IOException("Processes of the server ended faster than their processor time could be read.");
    }

    private double children(Set<Long> excluded) throws IOException {
        double sum = 0;
        for (ProcessHandle child :
                ProcessHandle.of(postmaster).orElseThrow().children().toList()) {
            if (!excluded.contains(child.pid())) {
                try {
                    ProcessTime time = ProcessTime.of(child.pid());
                    sum += time.own() + time.endedChildren();
                } catch (NoSuchFileException ended) {
                    // The postmaster now counts its time for ended children, so the caller reads everything again.
                }
            }
        }
        return sum;
    }
}
