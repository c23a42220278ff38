package dev.perdure.internal.execution.host;

import dev.perdure.spi.change.Payload;
import java.util.Map;
import java.util.UUID;

/**
 * An event that is emitted.
 *
 * @param event its name
 * @param key its key; empty if it has none
 * @param payload its value
 * @param token identifies this emission, so that it arrives once even if it is sent twice
 * @param headers what the interceptors of the sender add, by name
 */
public record Emission(String event, String key, Payload payload, UUID token, Map<String, String> headers) {}
