package dev.perdure.internal.execution.value;

import dev.perdure.spi.change.Payload;

/**
 * What a function of the engine's own returns when it has the run's outcome as bytes already.
 *
 * @param payload the bytes
 */
public record Encoded(Payload payload) {}
