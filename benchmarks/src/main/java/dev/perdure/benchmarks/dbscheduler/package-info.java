/** db-scheduler. */
@NullMarked
package dev.perdure.benchmarks.dbscheduler;

import org.jspecify.annotations.NullMarked;
