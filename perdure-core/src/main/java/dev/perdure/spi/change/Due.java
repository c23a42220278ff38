package dev.perdure.spi.change;

import java.time.Duration;
import java.time.Instant;

/** When a waiting run continues by itself. Always by the store's clock, never by a worker's. */
public sealed interface Due {
    /**
     * After a delay, counted from the commit of this transition.
     *
     * @param delay the delay
     */
    record In(Duration delay) implements Due {}

    /**
     * At a time that the store has returned before.
     *
     * @param time the time
     */
    record At(Instant time) implements Due {}

    /** Never: only mail or a command lets it continue. */
    record Never() implements Due {}
}
