/** Measurements in processes of their own. */
@NullMarked
package dev.perdure.benchmarks.process;

import org.jspecify.annotations.NullMarked;
