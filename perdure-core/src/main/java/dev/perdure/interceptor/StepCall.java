package dev.perdure.interceptor;

import dev.perdure.RunId;

/**
 * A step whose body is about to run.
 *
 * @param run the run
 * @param definition the name of its definition
 * @param step the name of the step
 */
public record StepCall(RunId run, String definition, String step) {}
