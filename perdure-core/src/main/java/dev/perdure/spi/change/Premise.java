package dev.perdure.spi.change;

import dev.perdure.RunState;

/**
 * The outcome of a task that another task comes after. A task that was cancelled before all of these had ended sees the
 * others in their current states, without outcomes.
 *
 * @param run the run of the earlier task
 * @param state its state
 * @param outcome its result or failure
 * @param reason a short description of why it did not complete; empty if it did
 * @param isKnown false if this version does not know the state: a newer version wrote it, or a person did. The state here
 *     then says nothing
 */
public record Premise(RunRef run, RunState state, Payload outcome, String reason, boolean isKnown) {
    /** One whose state is known. */
    public Premise(RunRef run, RunState state, Payload outcome, String reason) {
        this(run, state, outcome, reason, true);
    }
}
