/** A trace for each run, across processes and months, with OpenTelemetry. */
@NullMarked
package dev.perdure.opentelemetry;

import org.jspecify.annotations.NullMarked;
