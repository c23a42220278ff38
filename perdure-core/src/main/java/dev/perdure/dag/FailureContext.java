package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a handler that is passed to {@link DagBuilder#onFailure} can read.
 *
 * @param <I> the DAG's input
 */
public interface FailureContext<I extends @Nullable Object> extends TaskContext<I> {
    /**
     * The tasks that failed, in the order of the DAG. If the DAG has exceeded its deadline, also the tasks that the
     * deadline has ended.
     */
    List<TaskError> errors();
}
