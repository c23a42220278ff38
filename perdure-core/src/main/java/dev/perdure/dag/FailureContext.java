package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link DagBuilder#onFailure} can know.
 *
 * @param <I> the DAG's input
 */
public interface FailureContext<I extends @Nullable Object> extends TaskContext<I> {
    /** The tasks that failed, in the order of the DAG; of a DAG that has passed its deadline those that this has ended. */
    List<TaskError> errors();
}
