package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskDraft;
import dev.perdure.internal.dag.model.TaskSpec;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A task for each item of a list that lets the other items continue when an item fails, while its DAG is being defined.
 * Its output is how each item ended, in the order of the items.
 *
 * @param <T> what the code returns for an item
 * @param <C> a condition of the task
 */
public final class NewCollectingForEach<T extends @Nullable Object, C extends TaskBody>
        extends TaskOptions<List<Collected<T>>, C, NewCollectingForEach<T, C>> {
    NewCollectingForEach(TaskDraft draft, Function<C, TaskCode.Body> conditions) {
        super(draft, conditions);
    }

    @Override
    NewCollectingForEach<T, C> self() {
        return this;
    }

    /** Runs this many items at a time; the default is {@value NewForEach#DEFAULT_PARALLELISM}. */
    public NewCollectingForEach<T, C> parallelism(int count) {
        draft().parallelism(count);
        return this;
    }

    /**
     * Says what the code returns for an item, where its lambda cannot: {@code .returning(new TypeRef<List<Line>>()
     * {})}.
     */
    public NewCollectingForEach<T, C> returning(TypeRef<? extends T> type) {
        requireGiven("type passed to returning(…)", type);
        draft().result(new TaskSpec.Stated(type.type()));
        return this;
    }
}
