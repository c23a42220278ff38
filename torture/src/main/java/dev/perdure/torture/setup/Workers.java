package dev.perdure.torture.setup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The worker processes of which there are always so many: each that ends is replaced by another, as a platform for
 * containers does it. One that cannot open the store ends, too: a fault may hit it while it starts.
 */
public final class Workers implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofMillis(20);
    private static final String OWN_CLASS_PATH = System.getProperty("java.class.path", "");

    private final Class<?> main;
    private final int count;
    private final List<String> arguments;
    private final Path logs;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<WorkerProcess> processes = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private List<String> ofThisVersion = List.of();
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
        start(OWN_CLASS_PATH, List.of());
    }

    /**
     * Starts them with a version that has its classes there, and waits until they have joined. Each that ends is
     * replaced by one of this version, which gets these arguments as well.
     */
    public void start(String classPath, List<String> forThisVersion) throws IOException {
        ofThisVersion = List.copyOf(forThisVersion);
        for (int place = 0; place < count; place++) {
            processes.add(launch(classPath, List.of(), List.of()));
        }
        for (int place = 0; place < count; place++) {
            processes.get(place).ready().joined();
            supervise(place, processes.get(place));
        }
    }

    private WorkerProcess launch() throws IOException {
        return launch(OWN_CLASS_PATH, List.of(), ofThisVersion);
    }

    private WorkerProcess launch(String classPath, List<String> options, List<String> more) throws IOException {
        started++;
        Path log = logs.resolve("worker-%d.log".formatted(started));
        List<String> all = new ArrayList<>(List.of("-Xmx192m"));
        all.addAll(options);
        List<String> told = new ArrayList<>(arguments);
        told.addAll(more);
        return WorkerProcess.start(all, classPath, main, told, ProcessBuilder.Redirect.to(log.toFile()));
    }

    /**
     * Starts one more, which is not replaced, and waits until it has joined.
     *
     * @param options for its JVM
     * @param more arguments after those of the others
     */
    public WorkerProcess beside(List<String> options, List<String> more) throws IOException {
        WorkerProcess process;
        lock.lock();
        try {
            List<String> all = new ArrayList<>(ofThisVersion);
            all.addAll(more);
            process = launch(OWN_CLASS_PATH, options, all);
        } finally {
            lock.unlock();
        }
        try {
            return process.ready();
        } catch (IOException ended) {
            process.close();
            throw ended;
        }
    }

    private void supervise(int place, WorkerProcess process) {
        // Not a virtual thread: reading a pipe keeps its carrier.
        Thread.ofPlatform().daemon().start(() -> {
            readAll(process);
            try {
                ended(place, process, process.exitCode());
            } catch (IOException | InterruptedException failed) {
                report("No worker process could be started: " + failed);
            }
        });
    }

    /** Reads all that it says until it ends, because a process whose pipe is full stands still. */
    private static void readAll(WorkerProcess process) {
        try {
            process.says().filter("ready"::equals).forEach(ready -> process.joined());
        } catch (UncheckedIOException killed) {
            // It says no more.
        }
    }

    private void ended(int place, WorkerProcess process, int code) throws IOException {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (process.hasJoined() && !process.isToEnd()) {
                report("Worker process %d has ended by itself, with %d.".formatted(process.pid(), code));
            }
            WorkerProcess next = launch();
            processes.set(place, next);
            supervise(place, next);
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

    /** Waits until the process at a place is another, and has joined; says whether it has. */
    public boolean awaitReplaced(int place, WorkerProcess old, Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        while (at(place) == old || !at(place).hasJoined()) {
            if (System.nanoTime() > end) {
                return false;
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
        return true;
    }

    /** Lets all leave, for good; gives the processes that had joined and have ended although nothing ended them. */
    public List<String> end() throws IOException, InterruptedException {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        for (WorkerProcess process : processes) {
            process.end();
        }
        return lost();
    }

    List<String> lost() {
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
