/** The one server that all are measured on. */
@NullMarked
package dev.perdure.benchmarks.server;

import org.jspecify.annotations.NullMarked;
