package dev.perdure.cli;

import dev.perdure.HistoryEvent;
import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.spi.Runs;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** Prints all there is to say of one run. */
final class RunPage {
    private final PrintWriter out;

    RunPage(PrintWriter out) {
        this.out = out;
    }

    /** The run, its tasks if it is that of a graph, and its history. */
    void print(Run<?> run, List<Runs.TaskRow> tasks) {
        head(run.info());
        if (!tasks.isEmpty()) {
            out.println();
            tasks.forEach(task -> line(run, task, tasks));
        }
        out.println();
        run.history().forEach(this::line);
    }

    private void head(RunInfo info) {
        out.printf("run         %s%n", info.id());
        out.printf("definition  %s%n", info.definition());
        out.printf("state       %s%n", info.state());
        info.reason().ifPresent(reason -> out.printf("reason      %s%n", reason));
        out.printf("created     %s%n", info.createdAt());
        out.printf("changed     %s%n", info.changedAt());
        info.wakeAt().ifPresent(wakeAt -> out.printf("wakes       %s%n", wakeAt));
        out.printf("recoveries  %d%n", info.recoveries());
    }

    private void line(Run<?> graph, Runs.TaskRow task, List<Runs.TaskRow> tasks) {
        String after = task.after().stream()
                .map(place -> name(graph, tasks.get(place)))
                .collect(Collectors.joining(", "));
        String line = "task  %-20s %-12s %s  %s"
                .formatted(
                        name(graph, task),
                        task.info().state(),
                        after.isEmpty() ? "" : "after " + after,
                        task.info().reason().orElse(""));
        out.println(line.stripTrailing());
    }

    /** The run of a task has the id of its graph, a slash and the task's name. */
    private static String name(Run<?> graph, Runs.TaskRow task) {
        return task.run().id().value().substring(graph.id().value().length() + 1);
    }

    private void line(HistoryEvent event) {
        out.printf("%-30s %5s  %s%n", event.at(), event.position() == 0 ? "" : "#" + event.position(), event.what());
    }
}
