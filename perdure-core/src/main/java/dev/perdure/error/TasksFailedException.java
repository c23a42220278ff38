package dev.perdure.error;

import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.TaskError;
import java.util.List;

/**
 * Tasks of a {@link Dag} failed. The message says how many, and names the first thousand of them. It is the cause of the exception that
 * {@link DagRun#result()} throws.
 */
public final class TasksFailedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // a list of records of texts
    private final List<TaskError> errors;

    /** For the engine. */
    public TasksFailedException(String message, List<TaskError> errors) {
        super(message, null);
        this.errors = List.copyOf(errors);
    }

    /** The tasks that failed, in the order of the DAG; the first thousand of them. */
    public List<TaskError> errors() {
        return errors;
    }
}
