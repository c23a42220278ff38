/** The benchmarks: {@code ./perdure bench}. */
@NullMarked
package dev.perdure.benchmarks;

import org.jspecify.annotations.NullMarked;
