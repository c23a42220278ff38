package dev.perdure.torture.work;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Loads the workloads of another build, so that workers of two versions of the library run the same workflows: a run
 * that one begins fits the code of the other. Only the workflows and what checks them are of that build. The library,
 * and what {@link Workload} passes in and out, are of this one.
 */
final class WorkloadLoader extends URLClassLoader {
    private static final String PACKAGE = WorkloadLoader.class.getPackageName() + ".";
    private static final Set<String> SHARED =
            Set.of(Workload.class.getName(), Workload.Parts.class.getName(), Seen.class.getName());

    static {
        registerAsParallelCapable(); // so that the JVM holds no lock of its own while it waits for ours
    }

    private final ReentrantLock lock = new ReentrantLock();

    private WorkloadLoader(URL classes) {
        super(new URL[] {classes}, WorkloadLoader.class.getClassLoader());
    }

    /** The workloads of a build that has its classes in this folder. */
    static List<Workload> load(Path classes) {
        try {
            // It stays open for as long as the process lives: a workload loads classes when it first needs them.
            WorkloadLoader loader = new WorkloadLoader(classes.toUri().toURL());
            Object all =
                    loader.loadClass(Workloads.class.getName()).getField("ALL").get(null);
            return ((List<?>) all).stream().map(Workload.class::cast).toList();
        } catch (MalformedURLException | ReflectiveOperationException other) {
            throw new IllegalArgumentException("The folder '%s' has no workloads.".formatted(classes), other);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PACKAGE) || SHARED.contains(name)) {
            return super.loadClass(name, resolve);
        }
        lock.lock();
        try {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        } finally {
            lock.unlock();
        }
    }
}
