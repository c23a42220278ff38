package dev.perdure.benchmarks.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.time.Duration;

/** The heap and threads that this JVM uses. */
public final class JvmUsage {
    private static final int COLLECTIONS = 3;

    private JvmUsage() {}

    /**
     * The bytes of heap in use right after a full garbage collection. The number a moment later says little, because
     * every allocating thread gets megabytes at once, which count as used.
     */
    public static long heap() throws InterruptedException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(Duration.ofMillis(100));
        }
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null)
                .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                .sum();
    }

    /** The number of platform threads, without virtual threads. */
    public static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
