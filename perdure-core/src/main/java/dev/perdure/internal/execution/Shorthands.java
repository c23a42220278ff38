package dev.perdure.internal.execution;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import org.jspecify.annotations.Nullable;

/** The short forms of context calls. Each calls a longer form with default arguments and does nothing else. */
interface Shorthands extends EngineContext {
    @Override
    default <T extends @Nullable Object> T step(String name, StepBody<T> body) {
        return step(name, body, StepOptions.defaults());
    }

    @Override
    default void step(String name, StepAction body) {
        step(name, body, StepOptions.defaults());
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
    default DurableFuture<@Nullable Void> stepAsync(String name, StepAction body) {
        return stepAsync(name, body, StepOptions.defaults());
    }

    @Override
    default <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation) {
        return startChild(invocation, ChildOptions.defaults());
    }

    @Override
    default <T> Awakeable<T> awakeable(Class<T> type) {
        return awakeable(TypeRef.of(type));
    }
}
