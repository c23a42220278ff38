/** Figures, and how they are shown. */
@NullMarked
package dev.perdure.benchmarks.report;

import org.jspecify.annotations.NullMarked;
