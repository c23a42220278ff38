package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.ResultUnavailableException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What tasks of a run of a {@link Dag} gave, typed by the task or by what the caller says. */
public interface Outputs {
    /** The tasks that have given something. */
    Set<String> tasks();

    /**
     * What a task gave; null if it was skipped.
     *
     * @throws ResultUnavailableException if it has given nothing
     */
    <T extends @Nullable Object> T get(DagTask<T> task);

    /**
     * What the task of this name gave; null if it was skipped.
     *
     * @throws ResultUnavailableException if it has given nothing
     * @throws InvalidRequestException if there is no such task
     */
    <T> @Nullable T get(String task, TypeRef<T> type);
}
