package dev.perdure.internal.worker;

import dev.perdure.RunChange;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Logs that runs are paused. A bulk action, or code that does not fit, may pause thousands for the same reason. Of these
 * it logs the first, and once that there are more; the others of the same minute are logged at DEBUG.
 */
final class PauseLog {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");
    private static final long WINDOW = Duration.ofMinutes(1).toNanos();
    /** How many reasons it remembers. */
    private static final int REMEMBERED = 100;

    /** Why runs are paused. */
    private record Cause(String definition, String reason) {}

    /**
     * What was logged about a cause.
     *
     * @param since when the first run was logged
     * @param runs how many runs it was for
     */
    private record Logged(long since, int runs) {}

    private final Clockwork clockwork;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Cause, Logged> causes = new LinkedHashMap<>();

    PauseLog(Clockwork clockwork) {
        this.clockwork = clockwork;
    }

    void paused(RunChange change) {
        String reason = Sentences.sentence(change.reason().orElse("no reason was given"));
        int runs = count(new Cause(change.definition(), reason));
        if (runs == 2) {
            LOG.atWarn()
                    .addKeyValue("definition", change.definition())
                    .addKeyValue("state", change.state())
                    .log(
                            "More runs of '{}' are PAUSED: {} './perdure runs list --state PAUSED' lists them. Their lines are logged at DEBUG for a minute.",
                            change.definition(),
                            reason);
        }
        LOG.atLevel(runs == 1 ? Level.WARN : Level.DEBUG)
                .addKeyValue("run", change.runId())
                .addKeyValue("definition", change.definition())
                .addKeyValue("state", change.state())
                .log(
                        "Run {} of '{}' is PAUSED: {} It continues when it is resumed: './perdure runs resume {}' or Run.resume().",
                        change.runId(),
                        change.definition(),
                        reason,
                        change.runId());
    }

    /** How many runs were paused for this cause in its minute, with this one. */
    private int count(Cause cause) {
        lock.lock();
        try {
            long now = clockwork.nanoTime();
            Logged before = causes.remove(cause);
            Logged with = before == null || now - before.since() > WINDOW
                    ? new Logged(now, 1)
                    : new Logged(before.since(), before.runs() + 1);
            causes.put(cause, with);
            if (causes.size() > REMEMBERED) {
                causes.remove(causes.keySet().iterator().next());
            }
            return with.runs();
        } finally {
            lock.unlock();
        }
    }
}
