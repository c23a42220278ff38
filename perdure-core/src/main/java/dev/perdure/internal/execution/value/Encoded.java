package dev.perdure.internal.execution.value;

import dev.perdure.spi.change.Payload;

/**
 * The return value of an engine's own function that already has the run's outcome as bytes.
 *
 * @param payload the bytes
 */
public record Encoded(Payload payload) {}
