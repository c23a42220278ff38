package dev.perdure.postgres.hint;

import java.time.Duration;

/**
 * Who is to be told what runs give and show.
 *
 * <p>How it works: most who wait for a run wait in the process that carries it on, and need no notification. So a store that is
 * asked in vain for what a run gives or shows lets the others know that somebody waits here, again and again while it is
 * asked, and the others notify of such things only for a while after they have heard that. Whoever begins to wait before it
 * is heard finds out by asking again, as when a notification is lost.
 */
public final class Watch {
    private static final Duration REPEATED_AFTER = Duration.ofSeconds(5);
    private static final Duration HOLDS_FOR = Duration.ofSeconds(20);

    private final PostgresHints hints;
    private volatile long repeatAt = System.nanoTime();
    private volatile long watchedUntil = System.nanoTime();

    Watch(PostgresHints hints) {
        this.hints = hints;
    }

    /** Somebody asked here, and it was not there yet. */
    public void waits() {
        long now = System.nanoTime();
        if (now - repeatAt >= 0) {
            repeatAt = now + REPEATED_AFTER.toNanos();
            hints.notifyOthers(Notice.WATCHING);
        }
    }

    /** Another process says that somebody waits there. */
    void heard() {
        watchedUntil = System.nanoTime() + HOLDS_FOR.toNanos();
    }

    public boolean isWatched() {
        return System.nanoTime() - watchedUntil < 0;
    }
}
