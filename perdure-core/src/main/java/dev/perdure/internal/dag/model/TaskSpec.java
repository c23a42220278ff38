package dev.perdure.internal.dag.model;

import dev.perdure.StepOptions;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A task of a DAG that is defined.
 *
 * @param name its name
 * @param parents the tasks whose outputs it gets, in the order of its parameters
 * @param after all tasks that it comes after, its parents among them, each once
 * @param work what it does
 * @param result what its code returns; for a task for each item, what the code returns for one item
 * @param step its retry policy and timeout
 * @param priority its own priority, if it has one
 * @param gate what must hold before it runs
 */
public record TaskSpec(
        String name,
        List<String> parents,
        List<String> after,
        Work work,
        Result result,
        StepOptions step,
        OptionalInt priority,
        Gate gate) {
    /** Whether the code is a workflow, which the engine runs again from the top. */
    public boolean isWorkflow() {
        return work.code() instanceof TaskCode.Workflow;
    }

    /**
     * Whether a deadline that its code gets can be its own. The code cannot tell it from the deadline of the DAG, so
     * the task fails.
     */
    public boolean hasOwnDeadline() {
        return isWorkflow() && step.timeout().isPresent();
    }

    /** What a task does. */
    public sealed interface Work {
        /** What the user wrote. */
        TaskCode code();
    }

    /**
     * Runs the code once.
     *
     * @param code what the user wrote
     */
    public record Once(TaskCode code) implements Work {}

    /**
     * Runs the code for each item of a list.
     *
     * @param code what the user wrote; the item is its only output
     * @param parallelism how many items run at a time
     * @param collects whether the other items continue when one fails
     */
    public record ForEach(TaskCode code, int parallelism, boolean collects) implements Work {}

    /** What the code of a task returns. */
    public sealed interface Result {
        /** Nothing. */
        Result NOTHING = new Stated(void.class);
    }

    /**
     * A type that is known.
     *
     * @param type the type
     */
    public record Stated(Type type) implements Result {}

    /**
     * A type that is found when the DAG is registered.
     *
     * @param body the lambda that returns it
     */
    public record Inferred(Serializable body) implements Result {}

    /**
     * What must hold before a task runs.
     *
     * @param onlyIf the task is skipped unless all of these return true
     * @param cancelIf the task is cancelled if one of these returns true, unless it is skipped
     * @param waits the task waits for all of these
     */
    public record Gate(List<TaskCode.Body> onlyIf, List<TaskCode.Body> cancelIf, List<Wait> waits) {}

    /**
     * What a task waits for: the first of these.
     *
     * @param duration this long after the task could have begun
     * @param event an event of this name
     */
    public record Wait(Optional<Duration> duration, Optional<String> event) {}
}
