package dev.perdure.postgres.hint;

import java.time.Duration;

/**
 * Whether other processes have to be notified of the results and publications of runs.
 *
 * <p>How it works: most callers wait in the process that executes the run, and need no notification. When a store has
 * no answer yet for a caller, it tells the other stores that callers wait in its process, and repeats that while
 * callers ask. The other stores notify of results and publications only for a while after they have received it. A
 * caller that begins to wait before that finds the result by asking again, as when a notification is lost.
 */
public final class WaitingCallers {
    private static final Duration REPEATED_AFTER = Duration.ofSeconds(5);
    private static final Duration HOLDS_FOR = Duration.ofSeconds(20);

    private final PostgresHints hints;
    private volatile long repeatAt = System.nanoTime();
    private volatile long heardUntil = System.nanoTime();

    WaitingCallers(PostgresHints hints) {
        this.hints = hints;
    }

    /** A caller in this process asked for something that was not there yet. */
    public void add() {
        long now = System.nanoTime();
        if (now - repeatAt >= 0) {
            repeatAt = now + REPEATED_AFTER.toNanos();
            hints.notifyOthers(Notice.WATCHING);
        }
    }

    /** Callers wait in another process. */
    void heard() {
        heardUntil = System.nanoTime() + HOLDS_FOR.toNanos();
    }

    /** Whether callers in other processes wait, as far as this process has been told recently. */
    public boolean exist() {
        return System.nanoTime() - heardUntil < 0;
    }
}
