package dev.perdure.internal.dag;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a DAG whose result is the outputs of all its leaves.
 *
 * @param byTask the encoded output of each leaf; null if it was skipped
 */
public record LeafOutputs(Map<String, byte @Nullable []> byTask) {}
