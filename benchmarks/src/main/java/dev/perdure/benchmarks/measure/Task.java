package dev.perdure.benchmarks.measure;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.server.Site;

/**
 * What a measurement gets.
 *
 * @param who whom it measures
 * @param site an empty database
 * @param meter measures what its operations cost
 * @param results where its figures go
 */
public record Task(Who who, Site site, Scale scale, Meter meter, Results results) {}
