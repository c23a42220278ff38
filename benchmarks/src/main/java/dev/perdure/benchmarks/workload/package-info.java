/** What is measured, the same for everyone. */
@NullMarked
package dev.perdure.benchmarks.workload;

import org.jspecify.annotations.NullMarked;
