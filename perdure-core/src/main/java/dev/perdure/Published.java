package dev.perdure;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A value that a run has published.
 *
 * @param offset its place: grows with every value under the same topic; begin after it to read on
 * @param at when it was published
 * @param value the value
 * @param <T> its type
 */
public record Published<T extends @Nullable Object>(long offset, Instant at, T value) {}
