package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.text.Names;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A graph of tasks, with types carried from task to task. Each task is a run of its own: it has retries, timeouts and
 * recovery, any worker can take it, and nothing is in memory between two tasks. Tasks need not be deterministic.
 *
 * <pre>{@code
 * static final Dag<Order, Receipt> FULFILMENT = Dag.of("fulfilment", Order.class, dag -> {
 *     var validate = dag.task("validate", t -> check(t.input()));
 *     var charge = dag.task("charge", validate, (t, order) -> charge(order)).retry(5);
 *     var pack = dag.task("pack", validate, (t, order) -> pack(order));
 *     var ship = dag.task("ship", charge, pack, (t, payment, parcel) -> ship(payment, parcel));
 *     dag.onFailure(t -> refund(t.errors()));
 *     return ship;
 * });
 * }</pre>
 *
 * <p>What cannot be a graph (a circle, a task of another graph, a name given twice, no task at all) is a
 * {@link DefinitionException} here, not later. Immutable.
 *
 * @param <I> what a run takes
 * @param <O> what a run gives
 */
public final class Dag<I extends @Nullable Object, O extends @Nullable Object> {
    /** The longest name of a graph, in characters: a task is stored under the names of both. */
    public static final int MAX_NAME_LENGTH = 80;

    private final String name;
    private final Type inputType;
    private final List<TaskSpec> tasks;
    private final @Nullable DagTask<O> result;
    private final DagBuilder<I> definition;

    private Dag(String name, Type inputType, DagBuilder<I> definition, @Nullable DagTask<O> result) {
        this.name = name;
        this.inputType = inputType;
        this.tasks = definition.finish();
        this.result = result;
        this.definition = definition;
    }

    /** A graph whose result is the output of the task that the function returns. */
    public static <I extends @Nullable Object, O extends @Nullable Object> Dag<I, O> of(
            String name, Class<I> input, Function<DagBuilder<I>, DagTask<O>> define) {
        return of(name, TypeRef.of(input), define);
    }

    /** A graph whose input has generics, and whose result is the output of the task that the function returns. */
    public static <I extends @Nullable Object, O extends @Nullable Object> Dag<I, O> of(
            String name, TypeRef<I> input, Function<DagBuilder<I>, DagTask<O>> define) {
        DagBuilder<I> builder = builder(name);
        DagTask<O> result = define.apply(builder);
        builder.own(result, "its result is");
        return new Dag<>(name, input.type(), builder, result);
    }

    /** A graph whose result is what all the tasks gave that no other comes after. */
    public static <I extends @Nullable Object> Dag<I, Outputs> ofLeaves(
            String name, Class<I> input, Consumer<DagBuilder<I>> define) {
        DagBuilder<I> builder = builder(name);
        define.accept(builder);
        return new Dag<>(name, input, builder, null);
    }

    private static <I extends @Nullable Object> DagBuilder<I> builder(String name) {
        return new DagBuilder<>(Names.require("graph name", name, MAX_NAME_LENGTH));
    }

    /** The name that runs are stored under. */
    public String name() {
        return name;
    }

    /** What a run takes. */
    public Type inputType() {
        return inputType;
    }

    /** Its tasks, each after all it comes after. */
    public List<TaskSpec> tasks() {
        return tasks;
    }

    /** The task whose output is the result; empty if it is that of all leaves. */
    public Optional<DagTask<O>> result() {
        return Optional.ofNullable(result);
    }

    /** What runs when a task has failed. */
    public Optional<DagBuilder.FailureHandler<I>> onFailure() {
        return definition.onFailure();
    }

    /** What runs when all went well. */
    public Optional<DagBuilder.SuccessHandler<I>> onSuccess() {
        return definition.onSuccess();
    }

    // ---- rendering

    /** The graph as lines of text. */
    public String toText() {
        return drawing().text();
    }

    /** The graph as a Mermaid flowchart. */
    public String toMermaid() {
        return drawing().mermaid();
    }

    /** The graph in the language of Graphviz. */
    public String toGraphviz() {
        return drawing().graphviz();
    }

    private DagDrawing drawing() {
        List<DagDrawing.Node> nodes = new ArrayList<>();
        Set<String> leaves = new LinkedHashSet<>();
        for (TaskSpec task : tasks) { // each stands after all it comes after
            nodes.add(new DagDrawing.Node(task.name(), null, task.after(), ""));
            leaves.add(task.name());
            task.after().forEach(leaves::remove);
        }
        onFailure().ifPresent(handler -> nodes.add(handler(DagBuilder.ON_FAILURE, leaves, "if a task has failed")));
        onSuccess()
                .ifPresent(handler ->
                        nodes.add(handler(DagBuilder.ON_SUCCESS, leaves, "if none has failed or was cancelled")));
        return new DagDrawing(name, nodes);
    }

    private static DagDrawing.Node handler(String name, Set<String> leaves, String when) {
        return new DagDrawing.Node(name, null, List.copyOf(leaves), when);
    }

    @Override
    public String toString() {
        return "Dag[" + name + "]";
    }
}
