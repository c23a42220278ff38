package dev.perdure.benchmarks.measure;

import dev.perdure.benchmarks.server.Site;

/**
 * What a measurement gets.
 *
 * @param who whom it measures
 * @param site an empty database
 * @param results where its figures go
 */
public record Task(Who who, Site site, Scale scale, Results results) {}
