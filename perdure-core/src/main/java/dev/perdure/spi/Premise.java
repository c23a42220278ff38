package dev.perdure.spi;

import dev.perdure.RunState;

/**
 * How a run ended that another came after.
 *
 * @param run the run that ended
 * @param state its terminal state
 * @param outcome its result or failure
 * @param reason in short, why it did not complete; empty if it did
 */
public record Premise(RunRef run, RunState state, Payload outcome, String reason) {}
