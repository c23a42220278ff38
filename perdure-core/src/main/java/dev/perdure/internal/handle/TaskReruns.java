package dev.perdure.internal.handle;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunActiveException;
import dev.perdure.internal.command.Commands;
import dev.perdure.internal.dag.RunNames;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Runs tasks of a DAG's run again. The rows of the run say which tasks come after which, so no DAG is needed. */
public record TaskReruns(RunHandle.Services services) {
    /** Those that failed or were cancelled, and all tasks that come after them. */
    public void failed(RunRef run) {
        rerun(
                run,
                task -> task.info().state() == RunState.FAILED || task.info().state() == RunState.CANCELLED,
                "has no task that failed or was cancelled");
    }

    /** A task, and all tasks that come after it. */
    public void of(RunRef run, String task) {
        Texts.requireGiven("name of the task", task);
        rerun(run, row -> RunNames.taskOf(row.run().id()).equals(task), "has no task '%s'".formatted(task));
    }

    private void rerun(RunRef run, Predicate<Runs.TaskRow> chosen, String otherwise) {
        Runs runs = services.settings().store().runs();
        RunState state =
                runs.find(run.id()).map(found -> found.info().state()).orElseThrow(() -> Commands.unknown(run.id()));
        if (!state.isTerminal()) {
            throw new RunActiveException(
                    "Run '%s' is %s. Tasks can be begun anew only when it has ended: wait, or cancel it."
                            .formatted(run.id(), state));
        }
        List<Runs.TaskRow> rows = runs.tasks(run);
        boolean[] anew = new boolean[rows.size()];
        List<RunId> tasks = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) { // Each task is listed after all tasks that it comes after.
            anew[i] = chosen.test(rows.get(i)) || rows.get(i).after().stream().anyMatch(place -> anew[place]);
            if (anew[i]) {
                tasks.add(rows.get(i).run().id());
            }
        }
        if (tasks.isEmpty()) {
            throw new InvalidRequestException("Run '%s' %s. Look at its status().".formatted(run.id(), otherwise));
        }
        services.commands()
                .rerun(new Change.Rerun(
                        run.id(), tasks, services.settings().clockwork().random()));
    }
}
