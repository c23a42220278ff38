package dev.perdure.internal.dag;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a DAG whose result is the outputs of all its leaves.
 *
 * @param byTask the output of each leaf as the application's codec wrote it, because the outcome is transformed as a
 *     whole; null if it was skipped
 */
public record LeafOutputs(Map<String, byte @Nullable []> byTask) {}
