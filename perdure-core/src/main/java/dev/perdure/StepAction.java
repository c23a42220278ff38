package dev.perdure;

/** What a step without result does. See {@link StepBody}. */
@FunctionalInterface
public interface StepAction {
    /** Does the work. */
    void run() throws Exception;
}
