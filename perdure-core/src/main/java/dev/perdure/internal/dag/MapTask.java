package dev.perdure.internal.dag;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.dag.Collected;
import dev.perdure.dag.TaskSpec;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.EngineContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A map: one child per item, so many at a time, and the results in the order of the items. A child's start is recorded
 * together with the child itself, so that a crash while they are started leaves neither too few nor too many.
 */
final class MapTask {
    /** A child and whose it is. */
    private record Open(int place, Child<@Nullable Object> child) {}

    private final EngineContext ctx;
    private final TaskSpec.Mapped mapped;
    private final Target item;
    private final List<Open> open = new ArrayList<>();

    MapTask(EngineContext ctx, TypedDag graph, TaskSpec task, TaskSpec.Mapped mapped) {
        this.ctx = ctx;
        this.mapped = mapped;
        this.item = graph.itemTarget(task);
    }

    List<@Nullable Object> over(List<?> items, RunningTask situation) {
        @Nullable Object[] results = new @Nullable Object[items.size()];
        int next = 0;
        while (next < items.size() || !open.isEmpty()) {
            while (open.size() < mapped.parallelism() && next < items.size()) {
                MapItem<?, ?> input = new MapItem<@Nullable Object, @Nullable Object>(
                        situation.runId().value(), situation.input(), items.get(next));
                open.add(new Open(next++, ctx.startChild(item, input, ChildOptions.defaults())));
            }
            int first = ctx.any(open.stream().map(Open::child).toList()).await();
            Open settled = open.remove(first);
            results[settled.place()] = resultOf(settled);
        }
        return Arrays.asList(results);
    }

    private @Nullable Object resultOf(Open settled) {
        try {
            @Nullable Object value = settled.child().await();
            return mapped.collects() ? new Collected<>(value, null) : value;
        } catch (RunFailedException failed) {
            if (DagDeadline.ended(failed)) { // and so is this task, whichever of the two is told first
                throw DagDeadline.ends(ctx, new DeadlineExceededException(String.valueOf(failed.getMessage())));
            }
            if (mapped.collects()) {
                Throwable cause = failed.getCause();
                return new Collected<>(null, cause == null ? failed.getMessage() : cause.toString());
            }
            ctx.cancel(
                    open.stream().map(other -> other.child().id()).toList(),
                    "item %d failed".formatted(settled.place()));
            throw failed;
        }
    }
}
