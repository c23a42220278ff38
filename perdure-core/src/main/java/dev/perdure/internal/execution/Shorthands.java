package dev.perdure.internal.execution;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.error.TimedOutException;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The short forms of context calls: each is a longer one with what is usual, and does nothing else. */
interface Shorthands extends EngineContext {
    @Override
    default <T extends @Nullable Object> T step(String name, StepBody<T> body) {
        return step(name, body, StepOptions.defaults());
    }

    @Override
    default <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body) {
        return step(name, type, body, StepOptions.defaults());
    }

    @Override
    default void run(String name, StepAction body) {
        run(name, body, StepOptions.defaults());
    }

    @Override
    default <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body) {
        return transaction(name, source, body, TransactionOptions.defaults());
    }

    @Override
    default <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body) {
        transact(name, source, body, TransactionOptions.defaults());
    }

    @Override
    default <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body) {
        return stepAsync(name, body, StepOptions.defaults());
    }

    @Override
    default DurableFuture<@Nullable Void> runAsync(String name, StepAction body) {
        return runAsync(name, body, StepOptions.defaults());
    }

    @Override
    default <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return startChild(method, input).await();
    }

    @Override
    default <W, R extends @Nullable Object> R call(WorkflowMethod.Supplier<W, R> method) {
        return startChild(method, ChildOptions.defaults()).await();
    }

    @Override
    default <I extends @Nullable Object, R extends @Nullable Object> R call(Definition<I, R> definition, I input) {
        return startChild(definition, input).await();
    }

    @Override
    default <I extends @Nullable Object, O extends @Nullable Object> O call(Dag<I, O> graph, I input) {
        return startChild(graph, input, ChildOptions.defaults()).await();
    }

    @Override
    default <W, I extends @Nullable Object> void callVoid(WorkflowMethod.Consumer<W, I> method, I input) {
        startChildVoid(method, input, ChildOptions.defaults()).await();
    }

    @Override
    default <W, I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return startChild(method, input, ChildOptions.defaults());
    }

    @Override
    default <I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            Definition<I, R> definition, I input) {
        return startChild(definition, input, ChildOptions.defaults());
    }

    @Override
    default <T> Awakeable<T> awakeable(Class<T> type) {
        return awakeable(TypeRef.of(type));
    }

    @Override
    default <T> Optional<T> receive(Topic<T> topic, Duration timeout) {
        try {
            return Optional.ofNullable(receive(topic).orTimeout(timeout).await());
        } catch (TimedOutException none) {
            return Optional.empty();
        }
    }
}
