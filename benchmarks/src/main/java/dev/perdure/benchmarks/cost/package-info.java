/** What operations cost: processor time, WAL, commits, round trips. These depend far less on the machine than rates do. */
@NullMarked
package dev.perdure.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
