package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Runs that come after other runs. Each counts its open premises. The transition that closes the last premise makes the
 * run ready, or hands it over to the same worker.
 */
final class DependentRuns {
    private final Tables tables;

    DependentRuns(Tables tables) {
        this.tables = tables;
    }

    // ---- birth

    /** The first of these ids that another run has, or null. */
    @Nullable
    RunId taken(List<Task> tasks) {
        return tasks.stream()
                .map(task -> task.run().id())
                .filter(tables.byId::containsKey)
                .findFirst()
                .orElse(null);
    }

    /** Adds the tasks of a run that is about to enter its first state. The run itself comes after the leaves. */
    void add(Row dag, Change.Start start) {
        Parent parent = new Parent(dag.ref, 0, false);
        dag.tasks = start.tasks().stream()
                .map(task -> tables.add(task.run().withParent(parent)))
                .toList();
        for (int i = 0; i < dag.tasks.size(); i++) {
            tie(
                    dag.tasks.get(i),
                    start.tasks().get(i).after().stream().map(dag.tasks::get).toList());
        }
        tie(dag, dag.tasks.stream().filter(task -> !task.isTask()).toList());
        dag.state = RunState.PENDING;
        Duration delay = start.run().delay();
        for (Row task : dag.tasks) {
            task.bound = dag.deadline();
            if (task.open > 0) {
                task.state = RunState.PENDING;
            } else if (start.owner() != null && !tables.queues.isLimited(task)) {
                task.born(start.owner());
            } else if (delay != null) {
                task.state = RunState.SUSPENDED;
                task.wakeAt = dag.createdAt.plus(delay);
                task.begins = task.wakeAt;
            }
            tables.entered(task, null);
        }
    }

    private static void tie(Row row, List<Row> premises) {
        row.premises = premises;
        row.open = premises.size();
        premises.forEach(premise -> premise.dependents.add(row));
    }

    /** Tasks that this worker holds from their start. */
    List<Claimed> heldFromBirth(Row dag, @Nullable WorkerId worker) {
        return dag.tasks.stream()
                .filter(task -> task.premises.isEmpty() && task.isHeldBy(worker, Outcome.Started.FIRST_EPOCH))
                .map(Row::claimed)
                .toList();
    }

    // ---- what ends lets others begin

    /**
     * A run is about to end: its worker takes over up to this many of the runs that waited only for it, if it can run
     * them.
     */
    List<Row> take(Row ending, int takes) {
        Tables.Worker worker = tables.workers.get(ending.owner);
        if (worker == null || tables.queues.isLimited(ending)) {
            return List.of();
        }
        List<Row> taken = ending.dependents.stream()
                .filter(row -> row.state == RunState.PENDING && row.open == 1)
                .filter(row -> row.start.queue().equals(ending.start.queue()) && worker.takesOver(row))
                .limit(takes)
                .toList();
        for (Row row : taken) {
            row.open = 0;
            begins(row);
            tables.take(row, worker.joining.id());
        }
        return taken;
    }

    /** A run has ended: each run that comes after it, and that no worker took over, has one open premise less. */
    void ended(Row row) {
        for (Row dependent : row.dependents) {
            if (dependent.open > 0 && --dependent.open == 0) {
                begins(dependent);
                if (dependent.state == RunState.PENDING) {
                    tables.change(dependent, RunState.READY, null);
                }
            }
        }
    }

    private void begins(Row row) {
        if (row.isTask()) {
            row.begins = tables.now();
        }
    }

    // ---- another life

    /** @param told the run that has got the outcome, or null */
    Outcome rerun(Change.Rerun rerun, Row dag, @Nullable RunId told, MemoryStartKeys keys) {
        Instant ended = rerun.ended();
        if (dag.start.seed() == rerun.seed()
                || (ended != null && !(dag.state.isTerminal() && dag.changedAt.equals(ended)))) {
            return new Outcome.AlreadyThere(dag.changedAt, dag.state);
        }
        String refusal = Change.Rerun.refusal(
                rerun.run(),
                dag.state,
                !dag.tasks.isEmpty(),
                dag.isTask(),
                dag.start.object() != null,
                told == null ? null : told.value());
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        if (dag.stripped) {
            return Outcome.Refused.removed(rerun.run());
        }
        SequencedSet<Row> renewed = new LinkedHashSet<>();
        for (RunId id : rerun.tasks()) {
            Row task = tables.byId.get(id);
            if (task == null || !dag.tasks.contains(task)) {
                return Outcome.Refused.noTaskOf(id, rerun.run());
            }
            if (!task.state.isTerminal()) {
                return Outcome.Refused.active(id, task.state);
            }
            renewed.add(task);
        }
        Row rival = keys.rival(dag);
        if (rival != null) {
            return new Outcome.Refused(Change.Rerun.keyTaken(
                    rerun.run(),
                    Objects.requireNonNull(dag.startKey),
                    rival.ref.id().value()));
        }
        keys.takeBack(dag);
        tables.post.untell(dag);
        renewed.add(dag);
        renewed.forEach(row -> renew(row, row == dag ? rerun.seed() : rerun.seedOf(row.start.seed())));
        dag.tasks.forEach(task -> task.bound = dag.deadline());
        reopen(renewed);
        tables.audits.add(rerun.audit());
        return new Outcome.Applied(tables.now(), dag.state);
    }

    private void renew(Row row, long seed) {
        row.mailbox.drop();
        row.keepLife();
        tables.renew(row);
        row.start = row.start.withSeed(seed);
        row.outcome = null;
        row.control = new Control(0, row.control.mails(), null, null, null);
        row.begins = tables.now();
    }

    private void reopen(SequencedSet<Row> renewed) {
        for (Row row : renewed) {
            row.open = (int) row.premises.stream()
                    .filter(premise -> renewed.contains(premise) || !premise.state.isTerminal())
                    .count();
        }
        for (Row row : renewed) {
            tables.change(row, row.open > 0 ? RunState.PENDING : RunState.READY, null);
        }
    }
}
