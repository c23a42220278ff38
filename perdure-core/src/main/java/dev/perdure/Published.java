package dev.perdure;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A value that a run has published.
 *
 * @param offset its position under the topic, which grows with every value; pass it to {@link Run#follow} to continue
 *     after this value
 * @param at when it was published
 * @param value the value
 * @param <T> its type
 */
public record Published<T extends @Nullable Object>(long offset, Instant at, T value) {}
