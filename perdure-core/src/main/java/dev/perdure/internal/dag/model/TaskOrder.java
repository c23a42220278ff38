package dev.perdure.internal.dag.model;

import dev.perdure.error.DefinitionException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** Sorts tasks so that each stands after all tasks that it comes after, or refuses a cycle by name. */
final class TaskOrder {
    private final Function<String, DefinitionException> refusal;

    TaskOrder(Function<String, DefinitionException> refusal) {
        this.refusal = refusal;
    }

    List<TaskSpec> of(List<TaskSpec> tasks) {
        Map<String, TaskSpec> waiting = new LinkedHashMap<>();
        Map<String, Integer> open = new HashMap<>();
        Map<String, List<TaskSpec>> next = new HashMap<>();
        for (TaskSpec task : tasks) {
            waiting.put(task.name(), task);
            open.put(task.name(), task.after().size());
            task.after()
                    .forEach(parent -> next.computeIfAbsent(parent, unseen -> new ArrayList<>())
                            .add(task));
        }
        Deque<TaskSpec> free = new ArrayDeque<>();
        tasks.stream().filter(task -> task.after().isEmpty()).forEach(free::add);
        List<TaskSpec> ordered = new ArrayList<>();
        while (!free.isEmpty()) {
            TaskSpec task = free.poll();
            ordered.add(task);
            waiting.remove(task.name());
            for (TaskSpec child : next.getOrDefault(task.name(), List.of())) {
                if (open.merge(child.name(), -1, Integer::sum) == 0) {
                    free.add(child);
                }
            }
        }
        if (!waiting.isEmpty()) {
            throw refusal.apply("its tasks wait for each other in a cycle: %s. Remove one of these dependencies."
                    .formatted(cycle(waiting)));
        }
        return ordered;
    }

    /** Every task that is left comes after another task that is left, so a walk back reaches some task twice. */
    private static String cycle(Map<String, TaskSpec> left) {
        List<String> path = new ArrayList<>();
        TaskSpec at = left.values().iterator().next();
        while (!path.contains(at.name())) {
            path.add(at.name());
            at = at.after().stream()
                    .flatMap(parent -> Stream.ofNullable(left.get(parent)))
                    .findFirst()
                    .orElseThrow();
        }
        List<String> forward = new ArrayList<>(
                path.subList(path.indexOf(at.name()), path.size()).reversed());
        forward.addFirst(at.name());
        return String.join(" → ", forward);
    }
}
