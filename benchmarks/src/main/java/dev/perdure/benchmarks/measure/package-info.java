/** What every measurement needs: scale, rounds, callers, memory and results. */
@NullMarked
package dev.perdure.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
