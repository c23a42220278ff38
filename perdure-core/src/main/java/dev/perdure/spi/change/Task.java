package dev.perdure.spi.change;

import java.util.List;

/**
 * A run that is born together with the run it is part of, and is pending until all that it comes after have ended, in
 * whatever way. Its timeout counts from then, and its deadline is not later than that of the run it is part of.
 *
 * @param run the run; it has no parent yet, because the store makes the one it is part of its parent, and no delay
 * @param after which of its fellows it comes after, by their places in the list; empty if it begins at once, or after the
 *     delay of the run it is part of
 */
public record Task(NewRun run, List<Integer> after) {
    /** Checks what a store relies on. */
    public Task {
        if (run.parent() != null || run.delay() != null) {
            throw new IllegalArgumentException(
                    "The task '%s' has a parent or a delay of its own; a task begins by those it comes after."
                            .formatted(run.id()));
        }
        after = List.copyOf(after);
    }
}
