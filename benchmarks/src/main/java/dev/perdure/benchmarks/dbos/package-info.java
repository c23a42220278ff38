/** DBOS Java. */
@NullMarked
package dev.perdure.benchmarks.dbos;

import org.jspecify.annotations.NullMarked;
