package dev.perdure.reaction;

import dev.perdure.RunState;
import java.util.Optional;

/** What happens to a run, so that a {@link Reaction} starts another one. */
public enum Occasion {
    /** It has failed. A run that is retried and fails again gives another occasion. */
    FAILED,
    /** It was paused: by an operator, after too many recoveries, or because the code does not fit its journal. */
    PAUSED,
    /** It was cancelled or killed, or has not begun in time. */
    CANCELLED,
    /** It has not ended some time after its start: see {@link Reaction#late}. */
    LATE;

    /** The occasion that a run gives when it enters a state, if any. */
    public static Optional<Occasion> of(RunState state) {
        return switch (state) {
            case FAILED -> Optional.of(FAILED);
            case PAUSED -> Optional.of(PAUSED);
            case CANCELLED -> Optional.of(CANCELLED);
            case PENDING, READY, RUNNING, SUSPENDED, BACKING_OFF, COMPLETED, SKIPPED -> Optional.empty();
        };
    }
}
