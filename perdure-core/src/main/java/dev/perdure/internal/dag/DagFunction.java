package dev.perdure.internal.dag;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.FailureContext;
import dev.perdure.dag.TaskError;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TasksFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.execution.child.Children;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.StartedFor;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The function of a DAG's own run. It waits until the last task has ended, and then computes the outcome of the DAG. If
 * the run is cancelled earlier, its tasks are cancelled with it. The function begins early, sees to that, and waits again. It
 * records that it began early, because the tasks may have ended when it is replayed.
 */
final class DagFunction implements Registered.Function {
    private static final String FIRST_ERRORS = "tells the first errors";
    private static final String EARLY = "cancelled before the tasks had ended";

    private final TypedDag dag;

    DagFunction(TypedDag dag) {
        this.dag = dag;
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) {
        EngineContext engine = (EngineContext) ctx;
        if (engine.premises().isEmpty()) {
            throw withoutTasks(engine);
        }
        engine.leaveDeadlineToTasks();
        boolean open = engine.premises().stream().anyMatch(leaf -> !leaf.state().isTerminal());
        boolean fine = engine.premises().stream().allMatch(leaf -> isFine(leaf.state()));
        // The cancel may have ended the last tasks at once.
        boolean cancels = open || (!fine && engine.cancelledFromTheStart().isPresent());
        if (cancels ? ctx.patched(EARLY) : engine.isDecided(EARLY)) {
            throw cancelled(engine, input);
        }
        if (!fine) {
            throw failed(engine, input);
        }
        return succeeded(engine, input);
    }

    private RuntimeException withoutTasks(EngineContext engine) {
        return new TerminalException(
                "Run '%s' of DAG '%s' has no tasks: a process in which the DAG is not registered started it by its name. Register the DAG in that process, or start it with Invocation.of(dag, input)."
                        .formatted(engine.runId(), dag.name()));
    }

    private static boolean isFine(RunState state) {
        return state == RunState.COMPLETED || state == RunState.SKIPPED;
    }

    // ---- cancelled

    private RuntimeException cancelled(EngineContext engine, @Nullable Object input) {
        CancelledException cancel = delivered(engine);
        passOn(engine, Change.Command.ofTask(Change.CommandKind.CANCEL, String.valueOf(cancel.getMessage())));
        engine.awaitPremises();
        List<TaskError> errors = errors(engine);
        return errors.isEmpty() ? cancel : handled(engine, input, errors);
    }

    private static CancelledException delivered(EngineContext engine) {
        try {
            engine.sleep(Duration.ZERO);
        } catch (CancelledException cancel) {
            return cancel;
        }
        throw engine.stop("The run of a DAG was taken before its tasks had ended, and not to be cancelled.");
    }

    /**
     * The store has cancelled the tasks with the run, unless an older version gave it the cancel. Records that, so that a
     * replay does not ask again which tasks to cancel.
     */
    private static void passOn(EngineContext engine, String reason) {
        engine.perform(
                "cancel the tasks",
                void.class,
                () -> {
                    List<RunId> live = engine.tasks().stream()
                            .filter(task -> !task.info().state().isTerminal())
                            .map(task -> task.run().id())
                            .toList();
                    engine.cancel(live, reason);
                    return null;
                },
                StepOptions.defaults());
    }

    // ---- failed

    private RuntimeException failed(EngineContext engine, @Nullable Object input) {
        List<TaskError> errors = errors(engine);
        if (!errors.isEmpty()) {
            return handled(engine, input, errors);
        }
        Optional<Instant> passed = engine.deadline().filter(deadline -> hasEnded(engine, deadline));
        if (passed.isPresent()) {
            return late(engine, input, passed.get());
        }
        return new CancelledException(engine.premises().stream()
                .filter(leaf -> leaf.state() == RunState.CANCELLED)
                .map(Premise::reason)
                .findFirst()
                .orElse(""));
    }

    private static List<TaskError> errors(EngineContext engine) {
        return errors(engine, task -> task.state() == RunState.FAILED);
    }

    private static List<TaskError> errors(EngineContext engine, Predicate<RunInfo> which) {
        return engine.tasks().stream()
                .filter(task -> which.test(task.info()))
                .map(task -> new TaskError(
                        RunNames.taskOf(task.run().id()), task.info().reason().orElse("")))
                .toList();
    }

    /** Whether the deadline has ended a task, and with it all tasks that come after it. */
    private static boolean hasEnded(EngineContext engine, Instant deadline) {
        return engine.premises().stream().anyMatch(leaf -> leaf.reason().endsWith(DagDeadline.reason(deadline)));
    }

    private DeadlineExceededException late(EngineContext engine, @Nullable Object input, Instant deadline) {
        List<TaskError> ended = errors(engine, task -> task.reason().equals(Optional.of(DagDeadline.reason(deadline))));
        Optional<String> trouble = handle(engine, DagDraft.ON_FAILURE, input, ended);
        return new DeadlineExceededException(
                "Run '%s' has passed its deadline %s.%s".formatted(engine.runId(), deadline, told(trouble)));
    }

    private static String told(Optional<String> trouble) {
        return trouble.map(why -> " onFailure failed too: " + why).orElse("");
    }

    private TasksFailedException handled(EngineContext engine, @Nullable Object input, List<TaskError> errors) {
        Optional<String> trouble = handle(engine, DagDraft.ON_FAILURE, input, errors);
        List<TaskError> first = errors.subList(0, Math.min(errors.size(), FailureContext.MOST_ERRORS));
        String named = first.stream().map(TaskError::toString).collect(Collectors.joining("; "));
        String count = errors.size() == 1 ? "1 task" : errors.size() + " tasks";
        String more = first.size() == errors.size() ? "" : "; and %s more".formatted(errors.size() - first.size());
        return new TasksFailedException(
                "%s of DAG '%s' failed: %s%s.%s".formatted(count, dag.name(), named, more, told(trouble)), first);
    }

    /** Runs a handler, if there is one. Returns why it failed, if it failed. */
    private Optional<String> handle(
            EngineContext engine, String handler, @Nullable Object input, List<TaskError> errors) {
        if (!dag.has(handler)) {
            return Optional.empty();
        }
        try {
            started(engine, handler, input, errors).await();
            return Optional.empty();
        } catch (RunFailedException failed) {
            Throwable cause = failed.getCause();
            return Optional.of(cause == null ? String.valueOf(failed.getMessage()) : cause.toString());
        }
    }

    /** Starts a handler with the first errors, of which there may be more than can be stored in one input. */
    private Child<?> started(EngineContext engine, String handler, @Nullable Object input, List<TaskError> errors) {
        Children.Behalf behalf =
                new Children.Behalf(StartedFor.HANDLER, () -> engine.settingsOf(engine.runId()), Set.of());
        int most = errors.size();
        if (most > FailureContext.MOST_ERRORS && engine.patched(FIRST_ERRORS)) {
            most = FailureContext.MOST_ERRORS;
        }
        while (true) {
            HandlerInput<?> aftermath =
                    HandlerInput.<@Nullable Object>of(engine.runId().value(), input, errors, most);
            try {
                return engine.startChild(dag.handlerTarget(handler), aftermath, ChildOptions.defaults(), behalf);
            } catch (PayloadException tooLarge) {
                if (most == 0) {
                    throw tooLarge;
                }
                most /= 2;
            }
        }
    }

    // ---- succeeded

    private @Nullable Object succeeded(EngineContext engine, @Nullable Object input) {
        Optional<String> trouble = handle(engine, DagDraft.ON_SUCCESS, input, List.of());
        if (trouble.isPresent()) {
            TaskError error = new TaskError(DagDraft.ON_SUCCESS, trouble.get());
            throw new TasksFailedException(
                    "All tasks of DAG '%s' succeeded, but onSuccess failed: %s".formatted(dag.name(), trouble.get()),
                    List.of(error));
        }
        Optional<String> task = dag.resultTask();
        return task.isPresent() ? outcomeOf(engine, task.get()) : leaves(engine);
    }

    private @Nullable Object outcomeOf(EngineContext engine, String task) {
        Optional<Premise> leaf = engine.premises().stream()
                .filter(premise -> RunNames.taskOf(premise.run().id()).equals(task))
                .findFirst();
        if (leaf.isPresent()) {
            return encoded(leaf.get().run().id(), leaf.get().state(), leaf.get().outcome());
        }
        Runs.TaskRow row = engine.tasks().stream()
                .filter(other -> RunNames.taskOf(other.run().id()).equals(task))
                .findFirst()
                .orElseThrow(() -> engine.stop(
                        "The result of DAG '%s' is that of task '%s', which run '%s' does not have: a run keeps the DAG it was started with. Bring back the code that fits, then resume the run."
                                .formatted(dag.name(), task, engine.runId())));
        return encoded(row.run().id(), row.info().state(), row.outcome());
    }

    private static @Nullable Object encoded(RunId task, RunState state, Payload outcome) {
        return state == RunState.COMPLETED ? new Encoded(outcome, PayloadPlace.result(task)) : null;
    }

    private static LeafOutputs leaves(EngineContext engine) {
        Map<String, byte @Nullable []> outputs = new LinkedHashMap<>();
        for (Premise leaf : engine.premises()) {
            boolean gave = leaf.state() == RunState.COMPLETED;
            outputs.put(
                    RunNames.taskOf(leaf.run().id()),
                    gave
                            ? engine.encoded(
                                            leaf.outcome(),
                                            PayloadPlace.result(leaf.run().id()))
                                    .bytes()
                            : null);
        }
        return new LeafOutputs(outputs);
    }
}
