package dev.perdure.dag;

import dev.perdure.RetryPolicy;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskDraft;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The options that every task has while its DAG is being defined. Each method returns the same task, so options can be
 * set in any order.
 *
 * <pre>{@code
 * var charge = dag.after(check).task("charge", (task, order) -> charge(order)).retry(5).timeout(Duration.ofSeconds(10));
 * }</pre>
 *
 * @param <T> the output of the task
 * @param <C> a condition of the task: it has the parameters of the task's code and returns a {@code Boolean}
 * @param <S> the type of the task itself
 */
public abstract sealed class TaskOptions<T extends @Nullable Object, C extends TaskBody, S extends TaskOptions<T, C, S>>
        implements DagTask<T> permits NewTask, NewForEach, NewCollectingForEach {
    private final TaskDraft draft;
    private final Function<C, TaskCode.Body> conditions;

    TaskOptions(TaskDraft draft, Function<C, TaskCode.Body> conditions) {
        this.draft = draft;
        this.conditions = conditions;
    }

    final TaskDraft draft() {
        return draft;
    }

    final Function<C, TaskCode.Body> conditions() {
        return conditions;
    }

    abstract S self();

    final void requireGiven(String what, @Nullable Object argument) {
        draft.dag().requireGiven("the %s of task '%s'".formatted(what, name()), argument);
    }

    /** Refuses a task of another DAG, and a task whose output type has changed since. */
    static TaskDraft requireOwn(DagDraft dag, @Nullable DagTask<?> task, String use) {
        TaskDraft draft = dag.requireOwn(task instanceof TaskOptions<?, ?, ?> known ? known.draft : null, use);
        if (task instanceof NewForEach<?, ?> && draft.collects()) {
            throw dag.refuse(
                    "%s '%s' as it was before collect(), which has changed its output. Use the task that collect() returns."
                            .formatted(use, draft.name()));
        }
        return draft;
    }

    @Override
    public final String name() {
        return draft.name();
    }

    /** Makes this many attempts at most, with the standard back-off. A workflow cannot be retried as a whole. */
    public final S retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /** Retries by this policy. A workflow cannot be retried as a whole. */
    public final S retry(RetryPolicy policy) {
        requireGiven("retry policy", policy);
        draft.retry(policy);
        return self();
    }

    /**
     * Interrupts an attempt that takes longer, and counts it as failed. If the task is a workflow, delivers
     * {@link DeadlineExceededException} into it when the whole workflow takes longer. In a task for each item, the
     * limit applies to each item.
     */
    public final S timeout(Duration limit) {
        requireGiven("timeout", limit);
        draft.timeout(limit);
        return self();
    }

    /** Tasks with a higher priority go first when workers are busy. The default is the priority of the run. */
    public final S priority(int value) {
        draft.priority(value);
        return self();
    }

    /** Comes after these tasks too, without getting their outputs. */
    public final S alsoAfter(DagTask<?>... others) {
        requireGiven("list of alsoAfter(…)", others);
        for (DagTask<?> other : others) {
            draft.after(requireOwn(draft.dag(), other, "task '" + name() + "' comes after"));
        }
        return self();
    }

    /**
     * Runs only if this returns true, and is skipped otherwise. A worker evaluates it once, when all tasks that this
     * task comes after have ended, and records the answer. If it throws, the task fails. If there are several, all must
     * return true.
     */
    public final S onlyIf(C condition) {
        requireGiven("condition", condition);
        draft.onlyIf(conditions.apply(condition));
        return self();
    }

    /**
     * Is cancelled, with all tasks that come after it, if this returns true and the task is not skipped. Evaluated like
     * {@link #onlyIf}.
     */
    public final S cancelIf(C condition) {
        requireGiven("condition", condition);
        draft.cancelIf(conditions.apply(condition));
        return self();
    }

    /** Waits this long after the tasks that it comes after have ended. */
    public final S waitFor(Duration duration) {
        requireGiven("wait", duration);
        draft.waits(Optional.of(duration), Optional.empty());
        return self();
    }

    /**
     * Waits for an event of this name, with or without a key, emitted after the tasks that it comes after have ended.
     */
    public final S waitForEvent(String event) {
        requireGiven("event name", event);
        draft.waits(Optional.empty(), Optional.of(event));
        return self();
    }

    /** Waits this long or for an event of this name, whichever comes first, and for all other waits of this task. */
    public final S waitForEither(Duration duration, String event) {
        requireGiven("wait", duration);
        requireGiven("event name", event);
        draft.waits(Optional.of(duration), Optional.of(event));
        return self();
    }
}
