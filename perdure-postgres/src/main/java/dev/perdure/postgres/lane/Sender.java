package dev.perdure.postgres.lane;

import org.jspecify.annotations.Nullable;

/**
 * The sender of a batch.
 *
 * @param worker the worker's number, or null for a client
 * @param lane the number of its lane
 */
public record Sender(@Nullable Integer worker, int lane) {}
