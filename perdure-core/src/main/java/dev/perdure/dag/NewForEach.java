package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskDraft;
import dev.perdure.internal.dag.model.TaskSpec;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A task for each item of a list, while its DAG is being defined. Each item is a run of its own. The output is the list
 * of what the items returned, in the order of the items. The first item that fails fails the task and cancels the other
 * items.
 *
 * @param <T> what the code returns for an item
 * @param <C> a condition of the task
 */
public final class NewForEach<T extends @Nullable Object, C extends TaskBody>
        extends TaskOptions<List<T>, C, NewForEach<T, C>> {
    /** How many items run at a time by default. */
    public static final int DEFAULT_PARALLELISM = 100;

    NewForEach(TaskDraft draft, Function<C, TaskCode.Body> conditions) {
        super(draft, conditions);
    }

    @Override
    NewForEach<T, C> self() {
        return this;
    }

    /** Runs this many items at a time; the default is {@value #DEFAULT_PARALLELISM}. */
    public NewForEach<T, C> parallelism(int count) {
        draft().parallelism(count);
        return this;
    }

    /** Lets the other items continue when an item fails. The output is how each item ended. */
    public NewCollectingForEach<T, C> collect() {
        draft().collect();
        return new NewCollectingForEach<>(draft(), conditions());
    }

    /**
     * Says what the code returns for an item, where its lambda cannot: {@code .returning(new TypeRef<List<Line>>()
     * {})}.
     */
    public NewForEach<T, C> returning(TypeRef<? extends T> type) {
        requireGiven("type passed to returning(…)", type);
        draft().result(new TaskSpec.Stated(type.type()));
        return this;
    }
}
