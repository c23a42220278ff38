package dev.perdure.internal.dag;

import dev.perdure.StepOptions;
import dev.perdure.dag.Collected;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagBuilder;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.FailureContext;
import dev.perdure.dag.TaskAction;
import dev.perdure.dag.TaskSpec;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.execution.CallTarget;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Task;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A graph with the types of all its outputs: what an engine registers, starts and reads. Immutable. */
public final class TypedDag {
    private final Dag<?, ?> dag;
    private final Map<String, Type> types = new HashMap<>();
    private final Map<String, Integer> places = new HashMap<>();

    private TypedDag(Dag<?, ?> dag, StepTypes stepTypes) {
        this.dag = dag;
        for (TaskSpec task : dag.tasks()) {
            places.put(task.name(), places.size());
            types.put(task.name(), find(task, stepTypes));
        }
    }

    /**
     * Finds what each task gives.
     *
     * @throws DefinitionException if that cannot be known; says how to write it
     */
    public static TypedDag of(Dag<?, ?> dag, StepTypes stepTypes) {
        return new TypedDag(dag, stepTypes);
    }

    private Type find(TaskSpec task, StepTypes stepTypes) {
        if (task.type().isPresent()) {
            return task.type().get();
        }
        try {
            Type type = typeOf(task, stepTypes);
            return switch (task.work()) {
                case TaskSpec.Mapped mapped
                when mapped.collects() -> ResolvedType.of(List.class, ResolvedType.of(Collected.class, type));
                case TaskSpec.Mapped mapped -> ResolvedType.of(List.class, type);
                case TaskSpec.Plain plain -> type;
                case TaskSpec.Durable durable -> type;
            };
        } catch (PayloadException unusable) {
            throw new DefinitionException(String.valueOf(unusable.getMessage()), unusable);
        }
    }

    private Type typeOf(TaskSpec task, StepTypes stepTypes) {
        if (task.work().body() instanceof TaskAction) { // of each item of a map
            return Void.class;
        }
        return stepTypes.of(
                task.work().body(),
                "task '%s' of graph '%s'".formatted(task.name(), dag.name()),
                "dag.task(\"" + task.name() + "\", …).returning(new TypeRef<…>() {})");
    }

    /** Its name. */
    public String name() {
        return dag.name();
    }

    /** What a start needs to know of it. */
    public Target target() {
        return new Target(name(), dag.inputType(), resultType());
    }

    /** What is started, with its tasks. */
    public CallTarget callee() {
        return CallTarget.of(target(), this::tasks);
    }

    /** The same from a run, which cannot take everything for a result. */
    public CallTarget calleeOfRun() {
        if (resultTask().isEmpty()) {
            throw new InvalidRequestException(
                    "Graph '%s' gives what all its leaves gave, which is not a result that a run can wait for. Define it with Dag.of and a task as its result."
                            .formatted(name()));
        }
        return callee();
    }

    private Type resultType() {
        return resultTask().map(this::typeOf).orElse(LeafOutputs.class);
    }

    /** The task whose output is the result; empty if it is that of all leaves. */
    public Optional<String> resultTask() {
        return dag.result().map(DagTask::name);
    }

    /** The names of its tasks, each after all it comes after. */
    public List<String> tasks() {
        return dag.tasks().stream().map(TaskSpec::name).toList();
    }

    /** What a task gives. */
    public Type typeOf(String task) {
        Type type = types.get(task);
        if (type == null) {
            throw new DefinitionException("Graph '%s' has no task '%s'.".formatted(name(), task));
        }
        return type;
    }

    /** Whether its runs start others when their tasks have ended. */
    public boolean hasHandlers() {
        return has(RunNames.ON_FAILURE) || has(RunNames.ON_SUCCESS);
    }

    boolean has(String handler) {
        return handler.equals(RunNames.ON_FAILURE)
                ? dag.onFailure().isPresent()
                : dag.onSuccess().isPresent();
    }

    Target handlerTarget(String handler) {
        return new Target(
                RunNames.definition(name(), handler), ResolvedType.of(HandlerInput.class, dag.inputType()), void.class);
    }

    Target itemTarget(TaskSpec task) {
        Type items = typeOf(task.parents().getFirst());
        Type result = ResolvedType.argumentOf(typeOf(task.name()));
        boolean collects = task.work() instanceof TaskSpec.Mapped mapped && mapped.collects();
        return new Target(
                RunNames.itemDefinition(name(), task.name()),
                ResolvedType.of(MapItem.class, dag.inputType(), ResolvedType.argumentOf(items)),
                collects ? ResolvedType.argumentOf(result) : result);
    }

    // ---- registering

    /** Everything that its runs run. */
    public List<Registered> definitions() {
        List<Registered> all = new ArrayList<>();
        all.add(new Registered(target(), "the graph '" + name() + "'", new DagFunction(this)));
        for (TaskSpec task : dag.tasks()) {
            Target target = new Target(RunNames.definition(name(), task.name()), dag.inputType(), typeOf(task.name()));
            all.add(registered(target, new TaskFunction(this, task)));
            if (task.work() instanceof TaskSpec.Mapped mapped) {
                Target item = itemTarget(task);
                all.add(registered(item, new ItemFunction(task, mapped, item.resultType())));
            }
        }
        handlers(dag, all);
        return all;
    }

    private <I extends @Nullable Object> void handlers(Dag<I, ?> typed, List<Registered> all) {
        typed.onFailure().ifPresent(handler -> all.add(handler(RunNames.ON_FAILURE, failureHandler(handler))));
        typed.onSuccess().ifPresent(handler -> all.add(handler(RunNames.ON_SUCCESS, successHandler(handler))));
    }

    @SuppressWarnings("unchecked") // the input was decoded as the graph's own input type
    private static HandlerFunction.Handler failureHandler(DagBuilder.FailureHandler<?> handler) {
        DagBuilder.FailureHandler<@Nullable Object> typed = (DagBuilder.FailureHandler<@Nullable Object>) handler;
        return (FailureContext<@Nullable Object> situation) -> typed.run(situation);
    }

    @SuppressWarnings("unchecked") // the input was decoded as the graph's own input type
    private static HandlerFunction.Handler successHandler(DagBuilder.SuccessHandler<?> handler) {
        DagBuilder.SuccessHandler<@Nullable Object> typed = (DagBuilder.SuccessHandler<@Nullable Object>) handler;
        return (FailureContext<@Nullable Object> situation) -> typed.run(situation);
    }

    private Registered handler(String name, HandlerFunction.Handler handler) {
        return registered(handlerTarget(name), new HandlerFunction(name, handler));
    }

    private Registered registered(Target target, Registered.Function function) {
        return new Registered(target, "the graph '" + name() + "', as '" + target.name() + "'", function);
    }

    // ---- starting

    /** The tasks that are born with a run of this graph. */
    public List<Task> tasks(NewRun run) {
        return dag.tasks().stream().map(task -> task(run, task)).toList();
    }

    private Task task(NewRun run, TaskSpec task) {
        StepOptions step = task.step();
        boolean durable = task.work() instanceof TaskSpec.Durable;
        NewRun own = new NewRun(
                RunNames.task(run.id(), task.name()),
                RunNames.definition(name(), task.name()),
                run.input(),
                run.seed() + 1 + place(task.name()),
                run.queue(),
                task.priority().orElse(run.priority()),
                run.version(),
                durable ? step.timeout().orElse(null) : null);
        return new Task(own, task.after().stream().map(this::place).toList());
    }

    private int place(String task) {
        return places.getOrDefault(task, -1);
    }
}
