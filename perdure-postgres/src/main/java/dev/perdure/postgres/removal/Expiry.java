package dev.perdure.postgres.removal;

import dev.perdure.retention.Retention;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which runs may go at a time.
 *
 * @param rules how long runs are kept; null if an operator deletes runs that have ended, whatever the rules are
 * @param now the time
 */
record Expiry(@Nullable Retention rules, Instant now) {
    /** What holds if an operator deletes runs. */
    Expiry asked() {
        return new Expiry(null, now);
    }

    /** Whether a run of this kind may go. */
    boolean isOver(OldRun.Kind run) {
        return run.state().isTerminal()
                && (rules == null || isOver(run, rules.period(run.definition(), run.queue(), run.state())));
    }

    private boolean isOver(OldRun.Kind run, Duration period) {
        return !period.equals(Retention.FOREVER)
                && !run.changedAt().plus(period).isAfter(now);
    }

    /** Whether the id of a run is remembered although the run may go. */
    boolean isRemembered(OldRun.Kind run) {
        return rules != null && rules.ids().map(period -> !isOver(run, period)).orElse(false);
    }
}
