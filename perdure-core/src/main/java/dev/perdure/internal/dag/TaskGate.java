package dev.perdure.internal.dag;

import dev.perdure.DurableFuture;
import dev.perdure.RetryPolicy;
import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.dag.TaskContext;
import dev.perdure.error.CancelledException;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskSpec;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.execution.Skipped;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The checks before a task's body, in this order. A cancel of the task itself. If a task that it comes after failed or
 * was cancelled, this task is cancelled. If all tasks that it comes after were skipped, it is skipped. Then its own
 * conditions, skip before cancel. Then its waits.
 */
final class TaskGate {
    private static final String CULPRIT = "because task '";
    private static final StepOptions ONCE = StepOptions.retry(RetryPolicy.none());

    private final TypedDag dag;
    private final TaskSpec task;
    private final EngineContext ctx;
    private final Map<String, Premise> premises = new LinkedHashMap<>();

    TaskGate(TypedDag dag, TaskSpec task, EngineContext ctx) {
        this.dag = dag;
        this.task = task;
        this.ctx = ctx;
        for (Premise premise : ctx.premises()) {
            premises.put(RunNames.taskOf(premise.run().id()), premise);
        }
    }

    /** Returns the outputs of the task's parents if its body may run. Otherwise throws how the task ends. */
    List<@Nullable Object> pass(TaskContext<?> situation) {
        ctx.cancelledFromTheStart().ifPresent(reason -> {
            throw new CancelledException(reason);
        });
        cancelAfterFailure();
        skipAfterSkips();
        List<@Nullable Object> outputs = outputs();
        TaskSpec.Gate gate = task.gate();
        if (!gate.onlyIf().isEmpty() && !decide("onlyIf", gate.onlyIf(), true, situation, outputs)) {
            throw new Skipped("its condition onlyIf did not hold");
        }
        if (!gate.cancelIf().isEmpty() && !decide("cancelIf", gate.cancelIf(), false, situation, outputs)) {
            throw new CancelledException("its condition cancelIf held");
        }
        await(gate.waits());
        return outputs;
    }

    private void cancelAfterFailure() {
        premises.forEach((name, premise) -> {
            if (premise.state() == RunState.FAILED) {
                throw new CancelledException("%s%s' failed: %s".formatted(CULPRIT, name, premise.reason()));
            }
            if (premise.state() == RunState.CANCELLED) {
                boolean passedOn = premise.reason().startsWith(CULPRIT);
                throw new CancelledException(
                        passedOn
                                ? premise.reason()
                                : "%s%s' was cancelled: %s".formatted(CULPRIT, name, premise.reason()));
            }
        });
    }

    private void skipAfterSkips() {
        boolean all = premises.values().stream().allMatch(premise -> premise.state() == RunState.SKIPPED);
        if (all && !premises.isEmpty()) {
            throw new Skipped("all that it comes after were skipped: " + String.join(", ", premises.keySet()));
        }
    }

    private List<@Nullable Object> outputs() {
        List<@Nullable Object> outputs = new ArrayList<>();
        for (String parent : task.parents()) {
            Premise premise = premises.get(parent);
            if (premise == null) {
                throw ctx.stop(
                        "The code of task '%s' of DAG '%s' takes the output of '%s', which it did not come after when run '%s' was started: a run keeps its DAG. Bring back the code that fits, or give the changed task a new name, then resume the run."
                                .formatted(task.name(), dag.name(), parent, ctx.runId()));
            }
            outputs.add(
                    premise.state() == RunState.SKIPPED
                            ? null
                            : ctx.decode(
                                    premise.outcome(),
                                    dag.typeOf(parent),
                                    PayloadPlace.result(premise.run().id())));
        }
        return outputs;
    }

    /** Whether all of these conditions return the expected value. Evaluated once and recorded. */
    private boolean decide(
            String name,
            List<TaskCode.Body> conditions,
            boolean expected,
            TaskContext<?> situation,
            List<@Nullable Object> outputs) {
        Object decided = ctx.perform(
                name,
                Boolean.class,
                () -> {
                    boolean all = true;
                    for (TaskCode.Body condition : conditions) {
                        all &= Boolean.TRUE.equals(condition.call(situation, outputs)) == expected;
                    }
                    return all;
                },
                ONCE);
        return Boolean.TRUE.equals(decided);
    }

    /** Begins all waits now, then waits for the first of each group, one group after the other. */
    private void await(List<TaskSpec.Wait> waits) {
        List<List<DurableFuture<?>>> groups = new ArrayList<>();
        for (TaskSpec.Wait wait : waits) {
            List<DurableFuture<?>> group = new ArrayList<>();
            wait.duration().ifPresent(duration -> group.add(ctx.timer(duration)));
            wait.event().ifPresent(event -> group.add(ctx.occurrence(event)));
            groups.add(group);
        }
        groups.forEach(group -> DurableFuture.any(group).await());
    }
}
