package dev.perdure.benchmarks.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.time.Duration;

/** What this JVM holds. */
public final class Footprint {
    private static final int COLLECTIONS = 3;

    private Footprint() {}

    /**
     * Bytes of heap that were in use right after everything that is garbage was collected. What is in use a moment later
     * says little: every thread that allocates gets megabytes at once, and they count as used.
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

    /** Platform threads; virtual ones are not counted. */
    public static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
