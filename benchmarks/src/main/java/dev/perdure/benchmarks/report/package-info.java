/** Figures and reports. */
@NullMarked
package dev.perdure.benchmarks.report;

import org.jspecify.annotations.NullMarked;
