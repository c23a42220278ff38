/** Metrics of an engine and its store through Micrometer. */
@NullMarked
package dev.perdure.micrometer;

import org.jspecify.annotations.NullMarked;
