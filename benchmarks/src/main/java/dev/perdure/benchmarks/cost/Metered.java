package dev.perdure.benchmarks.cost;

/**
 * What some work gave, and what it cost.
 *
 * @param cost of all of it
 */
public record Metered<T>(T result, Cost cost) {}
