package dev.perdure.internal.dag;

import dev.perdure.StepOptions;
import dev.perdure.dag.Collected;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.dag.model.DagDefinition;
import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.dag.model.HandlerCode;
import dev.perdure.internal.dag.model.TaskSpec;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Setting;
import dev.perdure.spi.change.StartedFor;
import dev.perdure.spi.change.Task;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A DAG with the types of all its outputs: what an engine registers, starts and reads. Immutable. */
public final class TypedDag {
    private final DagDefinition<?, ?> dag;
    private final Map<String, Type> types = new HashMap<>();
    private final Map<String, Integer> places = new HashMap<>();

    private TypedDag(DagDefinition<?, ?> dag, StepTypes stepTypes) {
        this.dag = dag;
        for (TaskSpec task : dag.tasks()) {
            places.put(task.name(), places.size());
            types.put(task.name(), outputType(task, resultType(task, stepTypes)));
        }
    }

    /**
     * Finds the output type of each task.
     *
     * @throws DefinitionException if a type cannot be found; the message says how to state it
     */
    public static TypedDag of(Dag<?, ?> dag, StepTypes stepTypes) {
        if (!(dag instanceof DagDefinition<?, ?> definition)) {
            throw new InvalidRequestException("The DAG is %s. Pass one that Dag.of(…) returned."
                    .formatted(dag == null ? "null" : "of " + dag.getClass()));
        }
        return new TypedDag(definition, stepTypes);
    }

    private static Type outputType(TaskSpec task, Type result) {
        return switch (task.work()) {
            case TaskSpec.Once once -> result;
            case TaskSpec.ForEach each -> {
                Type item = result == void.class ? Void.class : result;
                yield ResolvedType.of(List.class, each.collects() ? ResolvedType.of(Collected.class, item) : item);
            }
        };
    }

    private Type resultType(TaskSpec task, StepTypes stepTypes) {
        return switch (task.result()) {
            case TaskSpec.Stated stated -> stated.type();
            case TaskSpec.Inferred inferred -> inferred(task, inferred.body(), stepTypes);
        };
    }

    private Type inferred(TaskSpec task, Serializable body, StepTypes stepTypes) {
        try {
            return stepTypes.of(
                    body,
                    "task '%s' of DAG '%s'".formatted(task.name(), dag.name()),
                    "add .returning(new TypeRef<…>() {}) to the task");
        } catch (PayloadException unusable) {
            throw new DefinitionException(String.valueOf(unusable.getMessage()), unusable);
        }
    }

    /** Its name. */
    public String name() {
        return dag.name();
    }

    /** Its name and types. */
    public Target target() {
        return new Target(name(), dag.inputType(), resultType());
    }

    /** What a start starts: the DAG with its tasks. */
    public CallTarget callee() {
        return CallTarget.of(target(), this::tasks);
    }

    /** The same for a start inside a run, which cannot wait for every kind of result. */
    public CallTarget calleeOfRun() {
        if (resultTask().isEmpty()) {
            throw new InvalidRequestException(
                    "The result of DAG '%s' is the outputs of all its leaves, and a run cannot wait for that. Define it with Dag.of and a task as its result."
                            .formatted(name()));
        }
        return callee();
    }

    private Type resultType() {
        return resultTask().map(this::typeOf).orElse(LeafOutputs.class);
    }

    /** The task whose output is the result; empty if the result is the outputs of all leaves. */
    public Optional<String> resultTask() {
        return dag.resultTask();
    }

    /** The names of its tasks, each after all tasks that it comes after. */
    public List<String> tasks() {
        return dag.tasks().stream().map(TaskSpec::name).toList();
    }

    /** The type of a task's output. */
    public Type typeOf(String task) {
        Type type = types.get(task);
        if (type == null) {
            throw new DefinitionException("DAG '%s' has no task '%s'.".formatted(name(), task));
        }
        return type;
    }

    /** Whether its runs start a handler when their tasks have ended. */
    public boolean hasHandlers() {
        return has(DagDraft.ON_FAILURE) || has(DagDraft.ON_SUCCESS);
    }

    boolean has(String handler) {
        return handler.equals(DagDraft.ON_FAILURE)
                ? dag.onFailure().isPresent()
                : dag.onSuccess().isPresent();
    }

    Target handlerTarget(String handler) {
        return new Target(
                RunNames.definition(name(), handler), ResolvedType.of(HandlerInput.class, dag.inputType()), void.class);
    }

    /** The type of the items of a task. */
    Type itemType(TaskSpec task) {
        return ResolvedType.argumentOf(typeOf(task.parents().getFirst()));
    }

    Target itemTarget(TaskSpec task) {
        Type result = ResolvedType.argumentOf(typeOf(task.name()));
        boolean collects = task.work() instanceof TaskSpec.ForEach each && each.collects();
        return new Target(
                RunNames.itemDefinition(name(), task.name()),
                ResolvedType.of(ForEachItem.class, dag.inputType(), itemType(task)),
                collects ? ResolvedType.argumentOf(result) : result);
    }

    // ---- registering

    /** The definitions of all its runs. */
    public List<Registered> definitions() {
        List<Registered> all = new ArrayList<>();
        all.add(new Registered(target(), "the DAG '" + name() + "'", new DagFunction(this)));
        for (TaskSpec task : dag.tasks()) {
            Target target = new Target(RunNames.definition(name(), task.name()), dag.inputType(), typeOf(task.name()));
            all.add(registered(target, new TaskFunction(this, task)));
            if (task.work() instanceof TaskSpec.ForEach) {
                all.add(registered(itemTarget(task), new ItemFunction(this, task)));
            }
        }
        dag.onFailure().ifPresent(code -> all.add(handler(DagDraft.ON_FAILURE, code)));
        dag.onSuccess().ifPresent(code -> all.add(handler(DagDraft.ON_SUCCESS, code)));
        return all;
    }

    private Registered handler(String name, HandlerCode code) {
        return registered(handlerTarget(name), new HandlerFunction(name, code));
    }

    private Registered registered(Target target, Registered.Function function) {
        return new Registered(target, "the DAG '" + name() + "', as '" + target.name() + "'", function);
    }

    // ---- starting

    /** The tasks that start with a run of this DAG. */
    public List<Task> tasks(NewRun run) {
        return dag.tasks().stream().map(task -> task(run, task)).toList();
    }

    private Task task(NewRun run, TaskSpec task) {
        StepOptions step = task.step();
        boolean hasDeadline = task.work() instanceof TaskSpec.Once && task.isWorkflow();
        NewRun own = new NewRun(
                        RunNames.task(run.id(), task.name()),
                        RunNames.definition(name(), task.name()),
                        run.input(),
                        run.seed() + 1 + place(task.name()),
                        run.queue(),
                        task.priority().orElse(0),
                        null,
                        hasDeadline ? step.timeout().orElse(null) : null)
                .startedFor(StartedFor.TASK, run, chosen(task));
        if (task.work() instanceof TaskSpec.ForEach) { // The runs of its items take places and units.
            own = own.withAdmission(own.admission().weighing(Admission.NOTHING));
        }
        return new Task(own, task.after().stream().map(this::place).toList());
    }

    /** The settings that a task chooses for itself and for its items. */
    static Set<Setting> chosen(TaskSpec task) {
        return task.priority().isPresent() ? Set.of(Setting.PRIORITY) : Set.of();
    }

    private int place(String task) {
        return places.getOrDefault(task, -1);
    }
}
