package dev.perdure.spi.change;

import java.time.Instant;

/**
 * An entry as the journal holds it.
 *
 * @param entry what was appended
 * @param at when it was committed, by the store's clock
 */
public record Recorded(Entry entry, Instant at) {}
