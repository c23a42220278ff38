package dev.perdure.internal.dag.model;

import dev.perdure.dag.FailureContext;

/** The code that the user wrote for the end of a run. */
@FunctionalInterface
public interface HandlerCode {
    /** Calls it. */
    void run(FailureContext<?> context) throws Exception;
}
