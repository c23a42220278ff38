package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.ResultUnavailableException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The outputs of the tasks in a run of a {@link Dag}, typed by the task or by the caller. */
public interface Outputs {
    /** The names of the tasks that have an output. */
    Set<String> tasks();

    /**
     * The output of a task; null if it was skipped.
     *
     * @throws ResultUnavailableException if it has no output
     */
    <T extends @Nullable Object> T get(DagTask<T> task);

    /**
     * The output of the task with this name; null if it was skipped.
     *
     * @throws ResultUnavailableException if it has no output
     * @throws InvalidRequestException if there is no such task
     */
    <T> @Nullable T get(String task, TypeRef<T> type);
}
