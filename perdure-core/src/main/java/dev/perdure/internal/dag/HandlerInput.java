package dev.perdure.internal.dag;

import dev.perdure.dag.TaskError;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The input of the run of a handler. An input with all errors is the same as that of older versions, so that a DAG that
 * waits for its handler does not differ from what it has recorded.
 *
 * @param run the run of the DAG
 * @param input its input
 * @param errors the tasks that failed; if that is not all, the last one has no name, and says how many failed
 * @param <I> the DAG's input
 */
record HandlerInput<I extends @Nullable Object>(String run, I input, List<TaskError> errors) {
    private static final String COUNT = "";

    /** The input with so many of the errors. */
    static <I extends @Nullable Object> HandlerInput<I> of(String run, I input, List<TaskError> all, int most) {
        List<TaskError> errors = new ArrayList<>(all.subList(0, Math.min(all.size(), most)));
        if (errors.size() < all.size()) {
            errors.add(new TaskError(COUNT, String.valueOf(all.size())));
        }
        return new HandlerInput<>(run, input, errors);
    }

    private boolean isCut() {
        return !errors.isEmpty() && errors.getLast().task().equals(COUNT);
    }

    /** The errors that it has. */
    List<TaskError> first() {
        return isCut() ? List.copyOf(errors.subList(0, errors.size() - 1)) : errors;
    }

    /** How many tasks failed. */
    int failed() {
        return isCut() ? Integer.parseInt(errors.getLast().error()) : errors.size();
    }
}
