package dev.perdure.postgres.jdbc;

import java.time.Duration;

/** The store's own threads: short ones, and how to wait for the others to end. */
public final class Threads {
    /** The time to send what is left. */
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private Threads() {}

    /** Does something beside the caller, without the thread locals of the caller. */
    static void briefly(String name, Runnable work) {
        Thread.ofVirtual().inheritInheritableThreadLocals(false).name(name).start(work);
    }

    /**
     * Waits without being interruptible, because a caller that closes the store expects nothing to be left. If a thread
     * has not ended after this time, it waits for a database that does not answer, most often in a pool. Then it is
     * interrupted, which ends that wait.
     */
    public static void join(Thread thread) {
        await(thread);
        if (thread.isAlive()) {
            thread.interrupt();
            await(thread);
        }
    }

    private static void await(Thread thread) {
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
