package dev.perdure;

import java.util.Optional;

/**
 * A change of state that this process made durable.
 *
 * @param runId the run
 * @param definition what it runs
 * @param state where it is now
 * @param reason why, for a run that was paused, cancelled, failed or recovered
 */
public record RunChange(RunId runId, String definition, RunState state, Optional<String> reason) {}
