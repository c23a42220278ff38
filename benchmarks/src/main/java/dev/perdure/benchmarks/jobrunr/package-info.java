/** JobRunr. */
@NullMarked
package dev.perdure.benchmarks.jobrunr;

import org.jspecify.annotations.NullMarked;
