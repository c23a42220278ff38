package dev.perdure;

import dev.perdure.error.PerdureException;
import dev.perdure.error.TimedOutException;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something that a workflow has begun and can wait for: a parallel step, a timer, a child, a message, a promise or an
 * awakeable. A long wait holds neither a thread nor heap, whether the workflow waits for one future or for several
 * through {@link WorkflowContext#all} and the other combinators. Use it only from the workflow's own thread, like its
 * context.
 *
 * @param <T> the type of its value
 */
public interface DurableFuture<T extends @Nullable Object> {
    /**
     * Waits for the value. Calling it again returns the same value.
     *
     * @throws PerdureException if it failed; every replay throws the same exception
     */
    T await();

    /**
     * A future of the value that this function returns. Every replay calls the function again, so it must return the
     * same value each time and have no side effects.
     */
    <R extends @Nullable Object> DurableFuture<R> map(Function<? super T, ? extends R> function);

    /**
     * A future that fails with {@link TimedOutException} unless this one settles within the limit, counted from this
     * call. The timeout does not stop the step, child or wait behind this future.
     */
    DurableFuture<T> orTimeout(Duration limit);
}
