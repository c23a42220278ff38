package dev.perdure.interceptor;

import dev.perdure.RunId;

/**
 * An attempt of a step whose body is about to run.
 *
 * @param workflow the run, as its code was entered
 * @param step the name of the step
 * @param attempt the number of the attempt, from 1
 */
public record StepCall(WorkflowCall workflow, String step, int attempt) {
    /** The run. */
    public RunId run() {
        return workflow.run();
    }

    /** The name of its definition. */
    public String definition() {
        return workflow.definition();
    }
}
