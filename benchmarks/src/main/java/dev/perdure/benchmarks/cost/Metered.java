package dev.perdure.benchmarks.cost;

/**
 * The result of some work, and its cost.
 *
 * @param cost the cost of the whole work
 */
public record Metered<T>(T result, Cost cost) {}
