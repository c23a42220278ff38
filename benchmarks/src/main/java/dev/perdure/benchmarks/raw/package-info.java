/** The database alone. */
@NullMarked
package dev.perdure.benchmarks.raw;

import org.jspecify.annotations.NullMarked;
