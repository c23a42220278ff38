package dev.perdure;

/** The body of a step without a result. See {@link StepBody}. */
@FunctionalInterface
public interface StepAction {
    /** Does the work. */
    void run() throws Exception;
}
