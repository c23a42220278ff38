package dev.perdure.internal.dag;

import dev.perdure.dag.TaskError;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The input of the run of a handler.
 *
 * @param run the run of the DAG
 * @param input its input
 * @param errors the tasks that failed
 * @param <I> the DAG's input
 */
record HandlerInput<I extends @Nullable Object>(String run, I input, List<TaskError> errors) {}
