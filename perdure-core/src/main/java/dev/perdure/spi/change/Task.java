package dev.perdure.spi.change;

import java.util.List;

/**
 * A run that starts together with the run of its DAG. It is pending until all tasks that it comes after have ended,
 * whatever their outcomes. Its timeout counts from then. Its deadline is not later than that of the DAG's run.
 *
 * @param run the run, without a parent and a delay; the store makes the DAG's run its parent
 * @param after the tasks that it comes after, by their indexes in the list; empty if it begins at once, or after the
 *     delay of the DAG's run
 */
public record Task(NewRun run, List<Integer> after) {
    /** Checks that the run has no parent and no delay. */
    public Task {
        if (run.parent() != null || run.delay() != null) {
            throw new IllegalArgumentException(
                    "The task '%s' has a parent or a delay; a task begins when the tasks that it comes after have ended."
                            .formatted(run.id()));
        }
        after = List.copyOf(after);
    }
}
