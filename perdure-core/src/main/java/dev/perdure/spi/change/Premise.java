package dev.perdure.spi.change;

import dev.perdure.RunState;

/**
 * How a run ended that another comes after. (One that was cancelled before all of them had ended sees the others as they
 * are, without an outcome.)
 *
 * @param run the run that ended
 * @param state its state
 * @param outcome its result or failure
 * @param reason in short, why it did not complete; empty if it did
 */
public record Premise(RunRef run, RunState state, Payload outcome, String reason) {}
