/** What every measurement needs: sizes, rounds, callers, memory, and where its figures go. */
@NullMarked
package dev.perdure.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
