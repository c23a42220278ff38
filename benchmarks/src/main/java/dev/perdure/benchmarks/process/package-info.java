/** The processes of measurements. */
@NullMarked
package dev.perdure.benchmarks.process;

import org.jspecify.annotations.NullMarked;
