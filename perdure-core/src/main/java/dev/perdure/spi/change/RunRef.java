package dev.perdure.spi.change;

import dev.perdure.RunId;

/**
 * Identifies a run between engine and store: the id that users know, and the number by which the store finds its rows.
 *
 * @param id the run's id
 * @param key the store's own key, never reused
 */
public record RunRef(RunId id, long key) {}
