package dev.perdure.status;

import java.time.Instant;
import java.util.Optional;

/**
 * What a health check asks. Reading it costs the same however many runs sleep.
 *
 * @param workers how many workers are alive
 * @param ready how many runs wait for a worker
 * @param oldestReady since when the one waits that has waited for longest, if any does
 */
public record StoreHealth(int workers, long ready, Optional<Instant> oldestReady) {}
