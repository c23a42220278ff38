package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.text.Texts;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A directed acyclic graph of tasks, with types carried from task to task. Each task is a run of its own: it has
 * retries, timeouts and recovery, any worker can take it, and nothing is in memory between two tasks. Tasks need not be
 * deterministic.
 *
 * <pre>{@code
 * static final Dag<Order, Receipt> FULFILMENT = Dag.of("fulfilment", Order.class, dag -> {
 *     var check = dag.task("check", task -> check(task.input()));
 *     var charge = dag.after(check).task("charge", (task, order) -> charge(order)).retry(5);
 *     var pack = dag.after(check).task("pack", (task, order) -> pack(order));
 *     var ship = dag.after(charge, pack).task("ship", (task, payment, parcel) -> ship(payment, parcel));
 *     dag.onFailure(task -> refund(task.errors()));
 *     return ship;
 * });
 * }</pre>
 *
 * <p>An invalid definition (a cycle, a task of another DAG, a duplicate name, no task) throws {@link
 * DefinitionException} in {@code of}. A DAG is immutable. Only the methods of this interface create one.
 *
 * @param <I> the input of a run
 * @param <O> the result of a run
 */
public interface Dag<I extends @Nullable Object, O extends @Nullable Object> {
    /** The longest name of a DAG, in characters: a task is stored under the names of both. */
    int MAX_NAME_LENGTH = 80;

    /** A DAG whose result is the output of the task that the function returns. */
    static <I extends @Nullable Object, O extends @Nullable Object> Dag<I, O> of(
            String name, Class<I> input, Function<DagBuilder<I>, DagTask<O>> define) {
        Texts.requireGiven("function that defines the DAG", define);
        Texts.requireGiven("input type", input);
        return of(name, TypeRef.of(input), define);
    }

    /** A DAG with a generic input type, whose result is the output of the task that the function returns. */
    static <I extends @Nullable Object, O extends @Nullable Object> Dag<I, O> of(
            String name, TypeRef<I> input, Function<DagBuilder<I>, DagTask<O>> define) {
        Texts.requireGiven("function that defines the DAG", define);
        Texts.requireGiven("input type", input);
        DagDraft draft = new DagDraft(name);
        DagTask<O> result = define.apply(new DagBuilder<>(draft));
        return draft.define(input.type(), TaskOptions.requireOwn(draft, result, "its result is"));
    }

    /** A DAG whose result is the outputs of all tasks that no other task comes after. */
    static <I extends @Nullable Object> Dag<I, Outputs> ofLeaves(
            String name, Class<I> input, Consumer<DagBuilder<I>> define) {
        Texts.requireGiven("function that defines the DAG", define);
        Texts.requireGiven("input type", input);
        DagDraft draft = new DagDraft(name);
        define.accept(new DagBuilder<>(draft));
        return draft.define(input, null);
    }

    /** The name under which its runs are stored. */
    String name();

    /** The DAG as lines of text. */
    String toText();

    /** The DAG as a Mermaid flowchart. */
    String toMermaid();

    /** The DAG in the language of Graphviz. */
    String toGraphviz();
}
