package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task that does the same for each item of a list, each item in a run of its own, and gives the results in the order of
 * the items. Fails with the first item that fails, and cancels the others.
 *
 * @param <T> what an item gives
 * @param <C> what a condition on it looks like
 */
public final class NewMap<T extends @Nullable Object, C extends TaskCondition> extends NewTask<List<T>, C> {
    NewMap(TaskDraft draft) {
        super(draft);
    }

    /** Works on this many items at a time; on {@value DagBuilder#DEFAULT_PARALLELISM} unless said otherwise. */
    public NewMap<T, C> parallelism(int count) {
        draft().parallelism(count);
        return this;
    }

    /** Lets the others go on when an item fails, and gives for each what came of it. */
    public NewTask<List<Collected<T>>, C> collect() {
        draft().collect();
        return new NewTask<>(draft());
    }
}
