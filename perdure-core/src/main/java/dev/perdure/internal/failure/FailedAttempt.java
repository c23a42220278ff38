package dev.perdure.internal.failure;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A failed attempt of a step.
 *
 * @param failure the failure
 * @param attempt the number of the attempt, from 1
 * @param delayMillis the delay before the next attempt; 0 if there is none
 * @param reported what the attempt and those before it reported; null if they reported nothing
 */
public record FailedAttempt(
        Failure failure,
        int attempt,
        long delayMillis,
        @Nullable LastReport reported) {
    /** Refuses what nobody has recorded. */
    public FailedAttempt {
        Objects.requireNonNull(failure, "failure");
    }

    /** An attempt that reported nothing. */
    public FailedAttempt(Failure failure, int attempt, long delayMillis) {
        this(failure, attempt, delayMillis, null);
    }
}
