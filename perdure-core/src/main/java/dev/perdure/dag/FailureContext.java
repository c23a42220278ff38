package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a handler that is passed to {@link DagBuilder#onFailure} can read.
 *
 * @param <I> the DAG's input
 */
public interface FailureContext<I extends @Nullable Object> extends TaskContext<I> {
    /** How many errors a handler gets at most. */
    int MOST_ERRORS = 1_000;

    /**
     * The tasks that failed, in the order of the DAG: the first {@value #MOST_ERRORS} of them, and fewer if the errors are so long
     * that these cannot be stored. If the DAG has exceeded its deadline, also the tasks that the deadline has ended.
     */
    List<TaskError> errors();

    /** How many tasks these are, also those that {@link #errors} leaves out. */
    int failed();
}
