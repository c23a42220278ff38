package dev.perdure.internal.dag.model;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A task while its DAG is being defined. */
public final class TaskDraft {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final DagDraft dag;
    private final String name;
    private final List<String> parents;
    private final Set<String> after;
    private final List<TaskCode.Body> onlyIf = new ArrayList<>();
    private final List<TaskCode.Body> cancelIf = new ArrayList<>();
    private final List<TaskSpec.Wait> waits = new ArrayList<>();
    private TaskSpec.Work work;
    private TaskSpec.Result result;
    private @Nullable RetryPolicy retry;
    private @Nullable Duration timeout;
    private @Nullable Integer priority;

    TaskDraft(DagDraft dag, String name, List<TaskDraft> parents, TaskSpec.Work work, TaskSpec.Result result) {
        this.dag = dag;
        this.name = name;
        this.parents = parents.stream().map(TaskDraft::name).toList();
        this.after = new LinkedHashSet<>(this.parents);
        this.work = work;
        this.result = result;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** The DAG that it is part of. */
    public DagDraft dag() {
        return dag;
    }

    /** Adds a task that it comes after, without its output. */
    public void after(TaskDraft other) {
        requireOpen();
        after.add(other.name());
    }

    /** Sets its retry policy. */
    public void retry(RetryPolicy policy) {
        requireOpen();
        if (work.code() instanceof TaskCode.Workflow) {
            throw dag.refuse("task '%s' is a workflow, which is not retried as a whole. Set the retry of its steps."
                    .formatted(name));
        }
        retry = policy;
    }

    /** Sets how long an attempt may take, or a whole workflow. */
    public void timeout(Duration limit) {
        requireOpen();
        if (limit == null || limit.isNegative() || limit.isZero() || limit.compareTo(LONGEST) > 0) {
            throw dag.refuse("task '%s' has a timeout of %s; it must be longer than zero and at most %s days."
                    .formatted(name, limit, LONGEST.toDays()));
        }
        timeout = limit;
    }

    /** Sets its own priority. */
    public void priority(int value) {
        requireOpen();
        priority = value;
    }

    /** Sets what its code returns. */
    public void result(TaskSpec.Result stated) {
        requireOpen();
        result = stated;
    }

    /** Adds a condition without which it is skipped. */
    public void onlyIf(TaskCode.Body condition) {
        requireOpen();
        onlyIf.add(condition);
    }

    /** Adds a condition that cancels it. */
    public void cancelIf(TaskCode.Body condition) {
        requireOpen();
        cancelIf.add(condition);
    }

    /** Adds a wait for the first of these. */
    public void waits(Optional<Duration> duration, Optional<String> event) {
        requireOpen();
        duration.filter(time -> time.isNegative() || time.compareTo(LONGEST) > 0)
                .ifPresent(time -> {
                    throw dag.refuse("task '%s' waits for %s; a wait cannot be negative and is at most %s days."
                            .formatted(name, time, LONGEST.toDays()));
                });
        event.ifPresent(text -> dag.requireName("event name", text));
        waits.add(new TaskSpec.Wait(duration, event));
    }

    /** Sets how many items run at a time. */
    public void parallelism(int count) {
        requireOpen();
        if (count < 1) {
            throw dag.refuse("task '%s' has a parallelism of %s; it must be at least 1.".formatted(name, count));
        }
        TaskSpec.ForEach each = forEach();
        work = new TaskSpec.ForEach(each.code(), count, each.collects());
    }

    /** Lets the other items continue when one fails. */
    public void collect() {
        requireOpen();
        TaskSpec.ForEach each = forEach();
        work = new TaskSpec.ForEach(each.code(), each.parallelism(), true);
    }

    /** Whether the other items continue when one fails. */
    public boolean collects() {
        return work instanceof TaskSpec.ForEach each && each.collects();
    }

    private TaskSpec.ForEach forEach() {
        return (TaskSpec.ForEach) work;
    }

    private void requireOpen() {
        dag.requireOpen(name);
    }

    TaskSpec spec() {
        StepOptions step = retry == null ? StepOptions.defaults() : StepOptions.retry(retry);
        return new TaskSpec(
                name,
                parents,
                List.copyOf(after),
                work,
                result,
                timeout == null ? step : step.timeout(timeout),
                priority == null ? OptionalInt.empty() : OptionalInt.of(priority),
                new TaskSpec.Gate(List.copyOf(onlyIf), List.copyOf(cancelIf), List.copyOf(waits)));
    }
}
