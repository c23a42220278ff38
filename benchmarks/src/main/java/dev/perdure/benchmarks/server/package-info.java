/** The server of all measurements. */
@NullMarked
package dev.perdure.benchmarks.server;

import org.jspecify.annotations.NullMarked;
