package dev.perdure.dag;

import dev.perdure.RetryPolicy;
import dev.perdure.TypeRef;
import dev.perdure.error.DeadlineExceededException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A task while its graph is being defined: says how it is run. Each method gives the same task again.
 *
 * <pre>{@code
 * var charge = dag.task("charge", validate, (t, order) -> charge(order)).retry(5).timeout(Duration.ofSeconds(10));
 * }</pre>
 *
 * @param <T> what it gives
 * @param <C> what a condition on it looks like: as its body, and it says yes or no
 */
public sealed class NewTask<T extends @Nullable Object, C extends TaskCondition> implements DagTask<T> permits NewMap {
    private final TaskDraft draft;

    NewTask(TaskDraft draft) {
        this.draft = draft;
    }

    final TaskDraft draft() {
        return draft;
    }

    @Override
    public final String name() {
        return draft.name();
    }

    /** Tries this often in all, with the standard back-off. */
    public final NewTask<T, C> retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /** Tries again by this policy. */
    public final NewTask<T, C> retry(RetryPolicy policy) {
        draft.retry(policy);
        return this;
    }

    /**
     * Interrupts an attempt that takes longer, and counts it as failed. Of a durable function: delivers
     * {@link DeadlineExceededException} into it when it takes longer in all.
     */
    public final NewTask<T, C> timeout(Duration limit) {
        draft.timeout(limit);
        return this;
    }

    /** Higher goes first, when workers are busy. That of the run unless said otherwise. */
    public final NewTask<T, C> priority(int value) {
        draft.priority(value);
        return this;
    }

    /** Comes after these tasks too, without getting their outputs. */
    public final NewTask<T, C> after(DagTask<?>... others) {
        for (DagTask<?> other : others) {
            draft.after(other);
        }
        return this;
    }

    /** Runs only if this holds, and is skipped otherwise. Asked for more than once: all have to hold. */
    public final NewTask<T, C> onlyIf(C condition) {
        draft.onlyIf(condition);
        return this;
    }

    /** Is cancelled, and with it what comes after it, if this holds and it is not skipped. */
    public final NewTask<T, C> cancelIf(C condition) {
        draft.cancelIf(condition);
        return this;
    }

    /** Waits this long after those it comes after have ended. */
    public final NewTask<T, C> waitFor(Duration duration) {
        draft.waits(Optional.of(duration), Optional.empty());
        return this;
    }

    /** Waits for an event of this name, with or without a key, emitted after those it comes after have ended. */
    public final NewTask<T, C> waitForEvent(String event) {
        draft.waits(Optional.empty(), Optional.of(event));
        return this;
    }

    /** Waits this long or for an event of this name, whichever comes first. What else was asked to be waited for is waited for too. */
    public final NewTask<T, C> waitForEither(Duration duration, String event) {
        draft.waits(Optional.of(duration), Optional.of(event));
        return this;
    }

    /** Says what it gives, where the lambda cannot: {@code .returning(new TypeRef<List<Line>>() {})}. */
    public final NewTask<T, C> returning(TypeRef<? extends T> type) {
        return returning(type.type());
    }

    private NewTask<T, C> returning(Type type) {
        draft.type(type);
        return this;
    }
}
