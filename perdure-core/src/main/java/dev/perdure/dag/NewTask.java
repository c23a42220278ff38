package dev.perdure.dag;

import dev.perdure.TypeRef;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskDraft;
import dev.perdure.internal.dag.model.TaskSpec;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A task while its DAG is being defined.
 *
 * @param <T> its output
 * @param <C> a condition of the task
 */
public final class NewTask<T extends @Nullable Object, C extends TaskBody> extends TaskOptions<T, C, NewTask<T, C>> {
    NewTask(TaskDraft draft, Function<C, TaskCode.Body> conditions) {
        super(draft, conditions);
    }

    @Override
    NewTask<T, C> self() {
        return this;
    }

    /** Says what the task returns, where its lambda cannot: {@code .returning(new TypeRef<List<Line>>() {})}. */
    public NewTask<T, C> returning(TypeRef<? extends T> type) {
        requireGiven("type passed to returning(…)", type);
        draft().result(new TaskSpec.Stated(type.type()));
        return this;
    }
}
