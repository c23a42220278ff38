package dev.perdure.internal.dag;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.dag.Collected;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.dag.model.TaskSpec;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.execution.child.Children;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.StartedFor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task for each item of a list: one child per item, up to the parallelism at a time, and the results in the order of
 * the items. The transition that records the start of a child also starts it, so after a crash no child is missing and
 * none is started twice.
 */
final class ForEachTask {
    /** A child that has not ended, and the index of its item. */
    private record Open(int place, Child<@Nullable Object> child) {}

    private final EngineContext ctx;
    private final TypedDag dag;
    private final TaskSpec task;
    private final TaskSpec.ForEach each;
    private final Target item;
    private final ChildOptions options;
    private final Children.Behalf behalf;
    private final List<Open> open = new ArrayList<>();
    private @Nullable NewRun dagRun;

    ForEachTask(EngineContext ctx, TypedDag dag, TaskSpec task, TaskSpec.ForEach each) {
        this.ctx = ctx;
        this.dag = dag;
        this.task = task;
        this.each = each;
        this.item = dag.itemTarget(task);
        ChildOptions defaults = task.priority().isPresent()
                ? ChildOptions.defaults().priority(task.priority().getAsInt())
                : ChildOptions.defaults();
        this.options =
                task.isWorkflow() ? task.step().timeout().map(defaults::timeout).orElse(defaults) : defaults;
        this.behalf = new Children.Behalf(StartedFor.ITEM, this::settingsOfDag, TypedDag.chosen(task));
    }

    /** Settings of a run with tasks do not change, so they are read once. */
    private NewRun settingsOfDag() {
        NewRun read = dagRun == null ? ctx.settingsOf(RunNames.dagRunOf(ctx.runId())) : dagRun;
        dagRun = read;
        return read;
    }

    List<@Nullable Object> over(List<?> items, RunningTask situation) {
        @Nullable Object[] results = new @Nullable Object[items.size()];
        int next = 0;
        while (next < items.size() || !open.isEmpty()) {
            while (open.size() < each.parallelism() && next < items.size()) {
                ForEachItem<?, ?> input = new ForEachItem<@Nullable Object, @Nullable Object>(
                        situation.runId().value(), situation.input(), items.get(next));
                open.add(new Open(next, start(next, input)));
                next++;
            }
            int first =
                    DurableFuture.any(open.stream().map(Open::child).toList()).await();
            Open settled = open.remove(first);
            results[settled.place()] = resultOf(settled);
        }
        return Arrays.asList(results);
    }

    /** Starts the run of an item. Each gets the DAG's input too, and both together may be too large. */
    private Child<@Nullable Object> start(int place, ForEachItem<?, ?> input) {
        try {
            return ctx.startChild(item, input, options, behalf);
        } catch (PayloadException refused) {
            Throwable reason = refused.getCause() instanceof PayloadException cause ? cause : refused;
            throw new PayloadException(
                    "Item %s of task '%s' of DAG '%s' cannot be stored together with the input of the DAG: %s"
                            .formatted(place, task.name(), dag.name(), reason.getMessage()),
                    refused);
        }
    }

    private @Nullable Object resultOf(Open settled) {
        try {
            @Nullable Object value = settled.child().await();
            return each.collects() ? new Collected<>(value, null) : value;
        } catch (RunFailedException failed) {
            if (DagDeadline.ended(failed)) { // It ends this task too, whichever of the two gets it first.
                throw DagDeadline.ends(ctx, new DeadlineExceededException(String.valueOf(failed.getMessage())));
            }
            if (each.collects()) {
                Throwable cause = failed.getCause();
                return new Collected<>(null, cause == null ? failed.getMessage() : cause.toString());
            }
            ctx.cancel(
                    open.stream().map(other -> other.child().id()).toList(),
                    "item %s failed".formatted(settled.place()));
            throw failed;
        }
    }
}
