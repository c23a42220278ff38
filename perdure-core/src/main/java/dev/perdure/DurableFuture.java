package dev.perdure;

import dev.perdure.error.PerdureException;
import dev.perdure.error.TimedOutException;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something a workflow has begun and can wait for: a step beside others, a timer, a child, a message, a promise, an
 * awakeable. Waiting for it, alone or joined with others by {@link WorkflowContext#all} and its like, holds no thread and
 * no heap once it takes longer. Belongs to the workflow's own thread, as its context does.
 *
 * @param <T> what it gives
 */
public interface DurableFuture<T extends @Nullable Object> {
    /**
     * Waits for it. Twice is fine.
     *
     * @throws PerdureException what it failed with; the same on every replay
     */
    T await();

    /**
     * A future of what this function makes of the value. The function is called again on every replay, so it must give the
     * same each time and do nothing else.
     */
    <R extends @Nullable Object> DurableFuture<R> map(Function<? super T, ? extends R> function);

    /**
     * A future that fails with {@link TimedOutException} unless this one settles in time. The clock starts now. What this
     * future stands for goes on.
     */
    DurableFuture<T> orTimeout(Duration limit);
}
