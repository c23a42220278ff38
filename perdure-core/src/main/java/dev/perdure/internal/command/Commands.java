package dev.perdure.internal.command;

import dev.perdure.Repair;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunActiveException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.worker.Listeners;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The commands of one operator: cancel, kill, pause, resume, retry, fork, rerun. */
public final class Commands {
    private final Commits commits;
    private final Listeners listeners;
    private final Runs runs;
    private final Auditor auditor;

    public Commands(Commits commits, Listeners listeners, Runs runs, Auditor auditor) {
        this.commits = commits;
        this.listeners = listeners;
        this.runs = runs;
        this.auditor = auditor;
    }

    /** The same commands of another operator. */
    public Commands of(Auditor other) {
        return new Commands(commits, listeners, runs, other);
    }

    public void send(RunRef run, Change.CommandKind kind, String reason) {
        Texts.requireReason(reason);
        Optional<RunInfo> before = runs.find(run.id()).map(Runs.Found::info);
        Audit audit = auditor.run(Action.valueOf(kind.name()), run.id().value(), reason);
        Outcome outcome = commits.commitAll(List.of(new Change.Command(run.id(), kind, reason, audit)))
                .getFirst();
        switch (outcome) {
            case Outcome.UnknownRun none -> throw unknown(run.id());
            case Outcome.Commanded commanded -> {
                if (commanded.changed()) {
                    before.ifPresent(info -> tell(info, commanded.state(), reason));
                }
                if (kind == Change.CommandKind.KILL) {
                    boolean late = !commanded.changed() && commanded.state().isTerminal();
                    killChildren(List.of(run), reason, late);
                }
            }
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    /** What is thrown if a run is not there any more. */
    public static UnknownRunException unknown(RunId run) {
        return new UnknownRunException("There is no run '%s'. Check the id.".formatted(run));
    }

    /** Runs tasks of a run again. */
    public void rerun(Change.Rerun rerun) {
        String tasks = rerun.tasks().stream().map(RunId::value).collect(Collectors.joining(", "));
        Audit audit = auditor.run(Action.RERUN, rerun.run().value(), tasks);
        Outcome outcome = commits.commitAll(
                        List.of(new Change.Rerun(rerun.run(), rerun.tasks(), rerun.seed(), null, audit)))
                .getFirst();
        switch (outcome) {
            case Outcome.Applied applied -> {}
            case Outcome.AlreadyThere there -> {}
            case Outcome.Refused refused ->
                throw new RunActiveException(
                        "Tasks of run '%s' were not begun anew: %s".formatted(rerun.run(), refused.reason()));
            case Outcome.UnknownRun none -> throw unknown(rerun.run());
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    /** Lets a run that has ended begin anew, with all its tasks. */
    public void beginAnew(RunRef run, long seed) {
        RunInfo before = runs.find(run.id()).map(Runs.Found::info).orElseThrow(() -> unknown(run.id()));
        List<RunId> tasks =
                runs.tasks(run).stream().map(task -> task.run().id()).toList();
        Audit audit = auditor.run(Action.RERUN, run.id().value(), "");
        Outcome outcome = commits.commitAll(List.of(new Change.Rerun(run.id(), tasks, seed, null, audit)))
                .getFirst();
        switch (outcome) {
            case Outcome.Applied applied -> tell(before, applied.state(), "");
            case Outcome.AlreadyThere there -> {}
            case Outcome.Refused refused ->
                throw new RetryRefusedException(
                        "Run '%s' does not begin anew. %s".formatted(run.id(), refused.reason()));
            case Outcome.UnknownRun none -> throw unknown(run.id());
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    /** Lets a run that has ended continue. */
    public void retry(RunRef run) {
        RunInfo before = runs.find(run.id()).map(Runs.Found::info).orElseThrow(() -> unknown(run.id()));
        if (!before.state().isTerminal()) {
            throw new RetryRefusedException("Run '%s' is %s. Only a run that failed or was cancelled is retried."
                    .formatted(run.id(), before.state()));
        }
        Audit audit = auditor.run(Action.RETRY, run.id().value(), "");
        Outcome outcome = commits.commitAll(List.of(new Change.Retry(run.id(), before.changedAt(), audit)))
                .getFirst();
        switch (outcome) {
            case Outcome.Applied applied -> tell(before, applied.state(), "");
            case Outcome.AlreadyThere there -> {}
            case Outcome.Refused refused ->
                throw new RetryRefusedException("Run '%s' is not retried. %s".formatted(run.id(), refused.reason()));
            case Outcome.UnknownRun none -> throw unknown(run.id());
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    /** Replaces what a step of a run has recorded. */
    public void repair(RunRef run, Repair repair, Payload payload) {
        Entry.Status status = repair.failure().isPresent() ? Entry.Status.FAILURE : Entry.Status.VALUE;
        Audit audit = auditor.of(
                Action.REPAIR,
                Subject.RUN,
                run.id().value(),
                repair.position(),
                "%s: %s".formatted(status, repair.why()));
        Change change = new Change.Repair(run.id(), repair.position(), status, payload, audit);
        Outcome outcome = commits.commitAll(List.of(change)).getFirst();
        switch (outcome) {
            case Outcome.Applied applied -> {}
            case Outcome.AlreadyThere there -> {}
            case Outcome.Refused refused ->
                throw new InvalidRequestException("Run '%s' is not repaired. %s".formatted(run.id(), refused.reason()));
            case Outcome.UnknownRun none -> throw unknown(run.id());
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    /** Starts a run with a part of the journal of another one; empty if the fork lacks what that has recorded since. */
    public Optional<RunRef> fork(Change.Fork fork) {
        Audit audit = auditor.of(
                Action.FORK, Subject.RUN, fork.from().value(), fork.position(), "as run '%s'".formatted(fork.id()));
        Change audited = fork.auditedBy(audit);
        Outcome outcome = commits.commitAll(List.of(audited)).getFirst();
        return switch (outcome) {
            case Outcome.Started started -> Optional.of(started.run());
            case Outcome.Outdated outdated -> Optional.empty();
            case Outcome.Existing existing ->
                throw new RunConflictException(
                        "The id '%s' is taken by another run. Fork '%s' under another id."
                                .formatted(fork.id(), fork.from()),
                        existing.run().id());
            case Outcome.Refused refused ->
                throw new RetryRefusedException("Run '%s' is not forked. %s".formatted(fork.from(), refused.reason()));
            case Outcome.UnknownRun none -> throw unknown(fork.from());
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        };
    }

    /** Kills the children of these runs, which have been killed with entries in the audit, and those below them. */
    public void killChildren(Collection<RunRef> parents, String reason) {
        killChildren(parents, reason, false);
    }

    /**
     * Kills the whole tree, from the top, because a killed run starts no more children. Sent again after a crash, it finds
     * what is left below the runs that it has killed. A child that its parent starts between the command and the moment
     * when the parent's worker obeys is not found, and continues.
     *
     * @param late whether the run at the top had ended before. Then it has no audit entry, and each child has its own
     */
    private void killChildren(Collection<RunRef> parents, String reason, boolean late) {
        List<RunRef> children = runs.liveChildren(parents);
        if (!children.isEmpty()) {
            commits.commitAll(children.stream()
                    .map(RunRef::id)
                    .<Change>map(child -> new Change.Command(
                            child,
                            Change.CommandKind.KILL,
                            reason,
                            late ? auditor.run(Action.KILL, child.value(), reason) : null))
                    .toList());
            killChildren(children, reason, late);
        }
    }

    /**
     * Reports the change. A command that waits on the row for the run's worker, or that came too late, has changed no
     * state.
     */
    private void tell(RunInfo run, RunState state, String reason) {
        Optional<String> why = Optional.of(reason).filter(text -> !text.isEmpty());
        listeners.tell(new RunChange(run.id(), run.definition(), state, why));
    }
}
