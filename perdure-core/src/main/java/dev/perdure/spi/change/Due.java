package dev.perdure.spi.change;

import java.time.Duration;
import java.time.Instant;

/** When a waiting run goes on by itself. Always by the store's clock: a worker's clock has no say. */
public sealed interface Due {
    /**
     * So long after this transition commits.
     *
     * @param delay how long
     */
    record In(Duration delay) implements Due {}

    /**
     * At a time the store has given before.
     *
     * @param time when
     */
    record At(Instant time) implements Due {}

    /** Never: only mail or a command lets it go on. */
    record Never() implements Due {}
}
