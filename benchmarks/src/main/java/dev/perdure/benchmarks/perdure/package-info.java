/** Perdure. */
@NullMarked
package dev.perdure.benchmarks.perdure;

import org.jspecify.annotations.NullMarked;
