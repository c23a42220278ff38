/** Perdure. */
@NullMarked
package dev.perdure.benchmarks.ours;

import org.jspecify.annotations.NullMarked;
