package dev.perdure.postgres.work;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.reaction.PostgresReactions;
import dev.perdure.spi.Hints;
import dev.perdure.spi.report.EngineLog;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Looks for late runs, for polls of stores that have a reaction to them. A worker under load polls hundreds of times a
 * second; it looks at most ten times a second.
 */
public final class LateRuns {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Database database;
    private final PostgresReactions reactions;
    private final PostgresHints hints;
    private final AtomicReference<@Nullable Last> last = new AtomicReference<>();

    /**
     * The last look.
     *
     * @param nanos when it was
     * @param next when the next run would be late, or null
     */
    private record Last(long nanos, @Nullable Instant next) {}

    public LateRuns(Database database, PostgresReactions reactions, PostgresHints hints) {
        this.database = database;
        this.reactions = reactions;
        this.hints = hints;
    }

    /** Looks for them. Returns when the next one would be late. */
    @Nullable
    Instant find() {
        Last before = last.get();
        boolean realTime = database.time() == null;
        if (realTime && before != null && System.nanoTime() - before.nanos() < PAUSE_NANOS) {
            return before.next();
        }
        try {
            PostgresReactions.Looked looked = reactions.findLate();
            last.set(new Last(System.nanoTime(), looked.next()));
            if (looked.requested()) {
                hints.tell(new Hints.WorkReady());
            }
            return looked.next();
        } catch (StoreException later) {
            LOG.debug("Could not look for late runs; the next poll tries again.", later);
            return null;
        }
    }
}
