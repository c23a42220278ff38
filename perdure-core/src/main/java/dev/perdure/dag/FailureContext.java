package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link DagBuilder#onFailure} can know.
 *
 * @param <I> the graph's input
 */
public interface FailureContext<I extends @Nullable Object> extends TaskContext<I> {
    /** The tasks that failed, in the order of the graph; of a graph that has passed its deadline those that this has ended. */
    List<TaskError> errors();
}
