package dev.perdure.torture.setup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The worker processes of which there are always so many: each that ends is replaced by another, as a platform for
 * containers does it. One that cannot open the store ends, too: a fault may hit it while it starts.
 */
public final class Workers implements AutoCloseable {
    private final Class<?> main;
    private final int count;
    private final List<String> arguments;
    private final Path logs;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<WorkerProcess> processes = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private int started;
    private boolean closed;

    Workers(Class<?> main, int count, List<String> arguments, Path logs) {
        this.main = main;
        this.count = count;
        this.arguments = List.copyOf(arguments);
        this.logs = logs;
    }

    /** Starts them, and waits until they have joined. */
    public void start() throws IOException {
        for (int place = 0; place < count; place++) {
            processes.add(launch());
        }
        for (int place = 0; place < count; place++) {
            processes.get(place).ready();
            supervise(place, processes.get(place), true);
        }
    }

    private WorkerProcess launch() throws IOException {
        started++;
        Path log = logs.resolve("worker-%d.log".formatted(started));
        return WorkerProcess.start("192m", main, arguments, ProcessBuilder.Redirect.to(log.toFile()));
    }

    private void supervise(int place, WorkerProcess process, boolean hasJoined) {
        Thread.ofVirtual().start(() -> {
            boolean saidReady = saysReady(process);
            try {
                int code = process.exitCode();
                ended(place, process, hasJoined || saidReady, code);
            } catch (IOException | InterruptedException failed) {
                report("No worker process could be started: " + failed);
            }
        });
    }

    /** Reads all that it says until it ends, because a process whose pipe is full stands still. */
    private static boolean saysReady(WorkerProcess process) {
        try {
            return process.says().filter("ready"::equals).count() > 0;
        } catch (UncheckedIOException killed) {
            return false;
        }
    }

    private void ended(int place, WorkerProcess process, boolean joined, int code) throws IOException {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (joined && !process.isToEnd()) {
                report("Worker process %d has ended by itself, with %d.".formatted(process.pid(), code));
            }
            WorkerProcess next = launch();
            processes.set(place, next);
            supervise(place, next, false);
        } finally {
            lock.unlock();
        }
    }

    private void report(String loss) {
        lock.lock();
        try {
            lost.add(loss);
        } finally {
            lock.unlock();
        }
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /** The process at a place. */
    public WorkerProcess at(int place) {
        lock.lock();
        try {
            return processes.get(place);
        } finally {
            lock.unlock();
        }
    }

    /** The processes that had joined and have ended although nothing ended them. */
    public List<String> lost() {
        lock.lock();
        try {
            return List.copyOf(lost);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        processes.forEach(WorkerProcess::close);
    }
}
