package dev.perdure.dag;

import dev.perdure.StepOptions;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A task as the engine sees it.
 *
 * @param name its name
 * @param parents the tasks whose outputs it gets, in the order of its parameters
 * @param after all tasks it comes after, its parents among them, each once
 * @param work what it does
 * @param type what it gives, if that was written out
 * @param step how often and how long it is tried
 * @param priority its own priority, if it has one
 * @param gate what is to hold before it runs
 */
public record TaskSpec(
        String name,
        List<String> parents,
        List<String> after,
        Work work,
        Optional<Type> type,
        StepOptions step,
        OptionalInt priority,
        Gate gate) {
    /** What a task does. */
    public sealed interface Work {
        /** What the user wrote: what it gives is found there. */
        Serializable body();
    }

    /**
     * A body.
     *
     * @param body what the user wrote
     */
    public record Plain(TaskBody body) implements Work {}

    /**
     * A durable function.
     *
     * @param body what the user wrote
     */
    public record Durable(TaskWorkflow body) implements Work {}

    /**
     * A body for each item of a list.
     *
     * @param body what the user wrote; the item is its only output
     * @param parallelism how many at a time
     * @param collects whether the failure of one leaves the others alone
     */
    public record Mapped(TaskBody body, int parallelism, boolean collects) implements Work {}

    /**
     * What is to hold before a task runs.
     *
     * @param onlyIf otherwise it is skipped
     * @param cancelIf then it is cancelled, unless it is skipped
     * @param waits one of each group is waited for
     */
    public record Gate(List<TaskCondition> onlyIf, List<TaskCondition> cancelIf, List<Wait> waits) {}

    /**
     * What a task waits for: the first of these.
     *
     * @param duration that long after it could have begun
     * @param event an event of this name
     */
    public record Wait(Optional<Duration> duration, Optional<String> event) {}
}
