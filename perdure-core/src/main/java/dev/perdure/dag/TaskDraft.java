package dev.perdure.dag;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is known of a task until its graph is defined. */
final class TaskDraft {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final DagBuilder<?> graph;
    private final String name;
    private final List<String> parents = new ArrayList<>();
    private final Set<String> after = new LinkedHashSet<>();
    private final List<TaskCondition> onlyIf = new ArrayList<>();
    private final List<TaskCondition> cancelIf = new ArrayList<>();
    private final List<TaskSpec.Wait> waits = new ArrayList<>();
    private TaskSpec.Work work;
    private @Nullable Type type;
    private @Nullable RetryPolicy retry;
    private @Nullable Duration timeout;
    private @Nullable Integer priority;

    TaskDraft(DagBuilder<?> graph, String name, List<? extends DagTask<?>> parents, TaskSpec.Work work) {
        this.graph = graph;
        this.name = name;
        this.work = work;
        for (DagTask<?> parent : parents) {
            after(parent);
            this.parents.add(parent.name());
        }
    }

    String name() {
        return name;
    }

    DagBuilder<?> graph() {
        return graph;
    }

    Set<String> after() {
        return after;
    }

    void after(DagTask<?> other) {
        requireOpen();
        after.add(graph.own(other, "task '" + name + "' comes after").name());
    }

    void retry(RetryPolicy policy) {
        requireOpen();
        if (work instanceof TaskSpec.Durable) {
            throw graph.refuse(
                    "task '%s' is a durable function, which has no retry of its own. Give it to the steps inside."
                            .formatted(name));
        }
        retry = policy;
    }

    void timeout(Duration limit) {
        requireOpen();
        timeout = limit;
    }

    void priority(int value) {
        requireOpen();
        priority = value;
    }

    void type(Type written) {
        requireOpen();
        type = written;
    }

    void onlyIf(TaskCondition condition) {
        requireOpen();
        onlyIf.add(condition);
    }

    void cancelIf(TaskCondition condition) {
        requireOpen();
        cancelIf.add(condition);
    }

    void waits(Optional<Duration> duration, Optional<String> event) {
        requireOpen();
        duration.filter(time -> time.isNegative() || time.compareTo(LONGEST) > 0)
                .ifPresent(time -> {
                    throw graph.refuse("task '%s' waits for %s; that cannot be negative and is at most %d days."
                            .formatted(name, time, LONGEST.toDays()));
                });
        event.ifPresent(text -> graph.requireName("event name", text));
        waits.add(new TaskSpec.Wait(duration, event));
    }

    void parallelism(int count) {
        requireOpen();
        if (count < 1) {
            throw graph.refuse("task '%s' has a parallelism of %d; it is at least 1.".formatted(name, count));
        }
        TaskSpec.Mapped mapped = mapped();
        work = new TaskSpec.Mapped(mapped.body(), count, mapped.collects());
    }

    void collect() {
        requireOpen();
        TaskSpec.Mapped mapped = mapped();
        work = new TaskSpec.Mapped(mapped.body(), mapped.parallelism(), true);
    }

    private TaskSpec.Mapped mapped() {
        return (TaskSpec.Mapped) work;
    }

    private void requireOpen() {
        graph.requireOpen(name);
    }

    TaskSpec spec() {
        StepOptions step = retry == null ? StepOptions.defaults() : StepOptions.retry(retry);
        return new TaskSpec(
                name,
                List.copyOf(parents),
                List.copyOf(after),
                work,
                Optional.ofNullable(type),
                timeout == null ? step : step.timeout(timeout),
                priority == null ? OptionalInt.empty() : OptionalInt.of(priority),
                new TaskSpec.Gate(List.copyOf(onlyIf), List.copyOf(cancelIf), List.copyOf(waits)));
    }
}
