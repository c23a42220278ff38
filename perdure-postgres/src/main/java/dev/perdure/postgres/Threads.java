package dev.perdure.postgres;

import java.time.Duration;

/** Waits for the store's own threads to end. */
final class Threads {
    private static final Duration LONGEST = Duration.ofSeconds(15);

    private Threads() {}

    /** Waits without being interruptible: whoever closes wants nothing left behind. */
    static void join(Thread thread) {
        boolean interrupted = false;
        long end = System.nanoTime() + LONGEST.toNanos();
        while (thread.isAlive() && System.nanoTime() - end < 0) {
            try {
                thread.join(Duration.ofNanos(end - System.nanoTime()));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
