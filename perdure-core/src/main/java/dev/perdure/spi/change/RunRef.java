package dev.perdure.spi.change;

import dev.perdure.RunId;

/**
 * How engine and store speak of a run: the id people know, and the narrow number by which the store finds its rows.
 *
 * @param id the run's id
 * @param key the store's own key, never reused
 */
public record RunRef(RunId id, long key) {}
