package dev.perdure.status;

import java.time.Instant;
import java.util.Optional;

/**
 * What a health check asks. Reading it costs the same however many runs sleep, and looks at {@value #MOST_READY} of
 * those that wait for a worker.
 *
 * @param workers how many workers are alive
 * @param ready how many runs wait for a worker, as far as it looks
 * @param oldestReady since when the one of these waits that has waited for longest, if any does
 */
public record StoreHealth(int workers, long ready, Optional<Instant> oldestReady) {
    /** How many runs that wait for a worker it looks at. */
    public static final int MOST_READY = 10_000;
}
