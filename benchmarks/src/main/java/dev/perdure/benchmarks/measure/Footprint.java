package dev.perdure.benchmarks.measure;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/** What this JVM holds. */
public final class Footprint {
    private static final int COLLECTIONS = 3;

    private Footprint() {}

    /** Bytes of heap that are in use after everything that is garbage was collected. */
    public static long heap() throws InterruptedException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(Duration.ofMillis(100));
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Platform threads; virtual ones are not counted. */
    public static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
