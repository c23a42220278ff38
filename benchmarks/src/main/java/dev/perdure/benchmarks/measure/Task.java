package dev.perdure.benchmarks.measure;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.server.BenchDatabase;

/**
 * The task of a measurement.
 *
 * @param contender the contender to measure
 * @param database an empty database
 * @param finished how many finished runs a database that has grown has
 * @param meter measures the cost of operations
 * @param results receives the figures
 */
public record Task(
        Contender contender, BenchDatabase database, Scale scale, long finished, Meter meter, Results results) {}
