package dev.perdure.internal.execution.value;

import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;

/**
 * The return value of an engine's own function that already has the run's outcome as bytes.
 *
 * @param payload the bytes
 * @param place the place for which they were made
 */
public record Encoded(Payload payload, PayloadPlace place) {}
