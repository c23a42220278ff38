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
 * The processor time of a PostgreSQL server on this machine: of the postmaster, of the processes below it, and of those that have ended. Linux
 * counts it in {@code /proc}. It is not known on other systems, or if the server runs elsewhere or in a container.
 *
 * <p>How it works: a server process is found by the pid that the server names, and is taken for it if its title has the port of the
 * connection; its parent is the postmaster, whose children are the server's processes. The time of a process that ends moves to what its parent
 * counts for ended children, so everything is read again if that number changed meanwhile.
 */
public final class ServerTime {
    private static final int ATTEMPTS = 100;

    private final Observer observer;
    /** Of the postmaster, or 0 if it is not visible. */
    private final long postmaster;

    private ServerTime(Observer observer, long postmaster) {
        this.observer = observer;
        this.postmaster = postmaster;
    }

    /** Of the server that the observer is connected to. */
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

    /** Whether the server's processes are visible here. */
    public boolean known() {
        return postmaster != 0;
    }

    /** What the server has used since it was started, without what observers used; not a number if it is not known. */
    double nanos() throws SQLException, IOException {
        if (!known()) {
            return Double.NaN;
        }
        Set<Long> leftOut = new HashSet<>(observer.observers());
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            ProcessTime before = ProcessTime.of(postmaster);
            double children = children(leftOut);
            ProcessTime after = ProcessTime.of(postmaster);
            if (before.endedChildren() == after.endedChildren()) {
                return after.own() + after.endedChildren() + children;
            }
        }
        throw new IOException("Processes of the server ended faster than their processor time could be read.");
    }

    private double children(Set<Long> leftOut) throws IOException {
        double sum = 0;
        for (ProcessHandle child :
                ProcessHandle.of(postmaster).orElseThrow().children().toList()) {
            if (!leftOut.contains(child.pid())) {
                try {
                    ProcessTime time = ProcessTime.of(child.pid());
                    sum += time.own() + time.endedChildren();
                } catch (NoSuchFileException ended) {
                    // Its time is in what the postmaster counts for ended children, which has changed with that.
                }
            }
        }
        return sum;
    }
}
