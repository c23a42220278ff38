/** The workloads, the same for every contender. */
@NullMarked
package dev.perdure.benchmarks.workload;

import org.jspecify.annotations.NullMarked;
