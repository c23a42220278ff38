package dev.perdure.internal.dag;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a DAG whose result is that of all its leaves.
 *
 * @param byTask what each gave, encoded; null for one that was skipped
 */
public record LeafOutputs(Map<String, byte @Nullable []> byTask) {}
