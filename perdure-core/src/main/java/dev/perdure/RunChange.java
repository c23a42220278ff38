package dev.perdure;

import java.util.Optional;

/**
 * A change of a run's state that this process has committed.
 *
 * @param runId the run
 * @param definition the name of its definition
 * @param state the new state
 * @param reason the reason, if the run was paused, cancelled, failed or recovered
 */
public record RunChange(RunId runId, String definition, RunState state, Optional<String> reason) {}
