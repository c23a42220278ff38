/**
 * The cost of operations: processor time, WAL, commits and round trips. These depend far less on the machine than
 * rates.
 */
@NullMarked
package dev.perdure.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
