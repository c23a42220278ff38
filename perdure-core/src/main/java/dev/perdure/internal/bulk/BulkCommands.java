package dev.perdure.internal.bulk;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.internal.bulk.BulkPage.Selected;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.Commands;
import dev.perdure.internal.command.Commits;
import dev.perdure.internal.worker.Listeners;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.RunRef;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends the command of a bulk action to the runs of a page. Sent again after a crash, it changes nothing more and gives
 * the same report.
 */
public final class BulkCommands {
    private static final Set<Action> CONTINUES = Set.of(Action.RETRY, Action.RERUN);

    private static final int MOST_FORK_TRIES = 8;

    private final Commits commits;
    private final Commands commands;
    private final Forks forks;
    private final Runs runs;
    private final Removals removals;
    private final Listeners listeners;

    /** Makes the change that forks a run. */
    @FunctionalInterface
    public interface Forks {
        /**
         * The fork from a position.
         *
         * @param seed tells the fork from others; its id follows from that
         */
        Change.Fork fork(RunRef from, int position, long seed);
    }

    public BulkCommands(Commits commits, Commands commands, Forks forks, Store store, Listeners listeners) {
        this.forks = forks;
        this.commits = commits;
        this.commands = commands;
        this.runs = store.runs();
        this.removals = store.removals();
        this.listeners = listeners;
    }

    BulkReport apply(RunId bulk, BulkState state, List<Selected> page) {
        return switch (state.action().kind()) {
            case CANCEL -> commanded(bulk, state, page, CommandKind.CANCEL);
            case KILL -> killed(bulk, state, page);
            case PAUSE -> commanded(bulk, state, page, CommandKind.PAUSE);
            case RESUME -> commanded(bulk, state, page, CommandKind.RESUME);
            case RETRY -> retried(bulk, state, page);
            case RERUN -> begunAnew(bulk, state, page);
            case FORK -> forked(bulk, state, page);
            case DELETE -> deleted(bulk, state, page);
            case MOVE_TO_QUEUE -> moved(bulk, state, page, state.action().text(), null);
            case MOVE_TO_VERSION ->
                moved(bulk, state, page, null, state.action().text());
        };
    }

    // ---- cancel, kill, pause, resume

    private BulkReport commanded(RunId bulk, BulkState state, List<Selected> page, CommandKind kind) {
        return report(state, page, command(bulk, state, page, kind));
    }

    private List<Outcome> command(RunId bulk, BulkState state, List<Selected> page, CommandKind kind) {
        String reason = state.action().text();
        Action action = Action.valueOf(kind.name());
        return commits.commitAll(page.stream()
                .<Change>map(
                        run -> new Change.Command(run.id(), kind, reason, audit(bulk, state, action, run), run.seen()))
                .toList());
    }

    private BulkReport report(BulkState state, List<Selected> page, List<Outcome> outcomes) {
        BulkReport report = BulkReport.NOTHING;
        for (int i = 0; i < page.size(); i++) {
            report = report.plus(
                    switch (outcomes.get(i)) {
                        case Outcome.Commanded commanded -> {
                            if (commanded.changed()) {
                                tell(
                                        page.get(i),
                                        commanded.state(),
                                        state.action().text());
                            }
                            yield commanded.accepted() ? changed() : skipped();
                        }
                        case Outcome.UnknownRun unknown -> skipped();
                        default -> throw new IllegalStateException("Unexpected outcome " + outcomes.get(i));
                    });
        }
        return report;
    }

    /** The children of each run end with it. Those of a run that ended by itself, or was retried since, live on. */
    private BulkReport killed(RunId bulk, BulkState state, List<Selected> page) {
        List<Outcome> outcomes = command(bulk, state, page, CommandKind.KILL);
        List<RunRef> parents = new ArrayList<>();
        for (int i = 0; i < page.size(); i++) {
            Selected run = page.get(i);
            if (outcomes.get(i) instanceof Outcome.Commanded commanded && commanded.accepted()) {
                runs.find(run.id())
                        .filter(found -> found.info().createdAt().equals(run.createdAt()))
                        .filter(found -> found.info().state() == RunState.CANCELLED
                                || !isContinued(audit(bulk, state, Action.KILL, run)))
                        .map(Runs.Found::ref)
                        .ifPresent(parents::add);
            }
        }
        commands.killChildren(parents, state.action().text());
        return report(state, page, outcomes);
    }

    /** Whether the run has been given more to do since the command with this entry. */
    private boolean isContinued(Audit audit) {
        return since(audit).orElse(List.of()).stream().map(AuditEntry::action).anyMatch(CONTINUES::contains);
    }

    // ---- retry, delete, move

    private BulkReport retried(RunId bulk, BulkState state, List<Selected> page) {
        return alone(bulk, state, page, Action.RETRY, (run, audit) -> {
            Outcome outcome = commit(new Change.Retry(run.id(), run.changedAt(), audit));
            if (outcome instanceof Outcome.Applied applied) {
                tell(run, applied.state(), "");
            }
            return outcome;
        });
    }

    /** The seed follows from the bulk action and the run, too: sent again, the store knows it. */
    private BulkReport begunAnew(RunId bulk, BulkState state, List<Selected> page) {
        return alone(bulk, state, page, Action.RERUN, (run, audit) -> {
            List<RunId> tasks = runs.find(run.id()).stream()
                    .flatMap(found -> runs.tasks(found.ref()).stream())
                    .map(task -> task.run().id())
                    .toList();
            long seed = audit.id().getLeastSignificantBits();
            Outcome outcome = commit(new Change.Rerun(run.id(), tasks, seed, run.changedAt(), audit));
            if (outcome instanceof Outcome.Applied applied) {
                tell(run, applied.state(), "");
            }
            return outcome;
        });
    }

    /** So do the id and the seed of a fork. */
    private BulkReport forked(RunId bulk, BulkState state, List<Selected> page) {
        int position = Integer.parseInt(state.action().text());
        return alone(bulk, state, page, Action.FORK, (run, audit) -> {
            RunRef from = runs.find(run.id())
                    .filter(found -> run.seen()
                            .equals(new Change.Seen(
                                    found.info().createdAt(), found.info().changedAt())))
                    .map(Runs.Found::ref)
                    .orElse(null);
            if (from == null) {
                return new Outcome.UnknownRun();
            }
            Outcome outcome = new Outcome.Outdated();
            for (int tries = 0; tries < MOST_FORK_TRIES && outcome instanceof Outcome.Outdated; tries++) {
                outcome = commit(forks.fork(from, position, audit.id().getLeastSignificantBits())
                        .auditedBy(audit));
            }
            return switch (outcome) {
                case Outcome.Started started -> new Outcome.Applied(started.at(), RunState.READY);
                case Outcome.Existing existing ->
                    new Outcome.Refused("The id of the fork is taken by the run '%s'. Fork it under another id."
                            .formatted(existing.run().id()));
                case Outcome.Outdated outdated ->
                    new Outcome.Refused("The run '%s' changes while it is copied. Fork it alone.".formatted(run.id()));
                default -> outcome;
            };
        });
    }

    private BulkReport deleted(RunId bulk, BulkState state, List<Selected> page) {
        return alone(bulk, state, page, Action.DELETE, (run, audit) -> removals.delete(run.id(), run.seen(), audit));
    }

    private BulkReport moved(
            RunId bulk, BulkState state, List<Selected> page, @Nullable String queue, @Nullable String version) {
        return alone(
                bulk,
                state,
                page,
                Action.MOVE,
                (run, audit) -> commit(new Change.Reassign(run.id(), queue, version, audit, run.seen())));
    }

    private Outcome commit(Change change) {
        return commits.commitAll(List.of(change)).getFirst();
    }

    /** One after the other: each is a transaction of its own, and others share the batches of this worker. */
    private BulkReport alone(
            RunId bulk,
            BulkState state,
            List<Selected> page,
            Action action,
            BiFunction<Selected, Audit, Outcome> command) {
        BulkReport report = BulkReport.NOTHING;
        for (Selected run : page) {
            Audit audit = audit(bulk, state, action, run);
            Outcome outcome = command.apply(run, audit);
            report = report.plus(
                    switch (outcome) {
                        case Outcome.Applied applied -> changed();
                        case Outcome.Refused refused -> refused(run, refused.reason());
                        case Outcome.AlreadyThere there -> before(audit);
                        case Outcome.UnknownRun unknown -> before(audit);
                        default -> throw new IllegalStateException("Unexpected outcome " + outcome);
                    });
        }
        return report;
    }

    /** A run that needs no command any more: this bulk action has changed it before a crash, or another command has. */
    private BulkReport before(Audit audit) {
        return since(audit).isPresent() ? changed() : skipped();
    }

    /** The entries of a run that are newer than this one, the newest first; nothing if this one is not there. */
    private Optional<List<AuditEntry>> since(Audit audit) {
        List<AuditEntry> newer = new ArrayList<>();
        AuditFilter filter = AuditFilter.run(audit.name());
        List<AuditEntry> page = runs.audited(filter);
        while (!page.isEmpty()) {
            for (AuditEntry entry : page) {
                if (entry.id().equals(audit.id())) {
                    return Optional.of(newer);
                }
                newer.add(entry);
            }
            page = runs.audited(filter.after(page.getLast()));
        }
        return Optional.empty();
    }

    // ---- what they share

    /** The id follows from the bulk action and the run, so that a page that is sent again has the same entries. */
    private static Audit audit(RunId bulk, BulkState state, Action action, Selected run) {
        UUID id = UUID.nameUUIDFromBytes((bulk + "\n" + run.id()).getBytes(StandardCharsets.UTF_8));
        BulkAction asked = state.action();
        String detail = asked.text().isEmpty() ? "in " + bulk : "in %s: %s".formatted(bulk, asked.text());
        return new Audit(id, state.operator(), action, Subject.RUN, run.id().value(), 0, Auditor.shortened(detail));
    }

    private void tell(Selected run, RunState state, String reason) {
        Optional<String> why = Optional.of(reason).filter(text -> !text.isEmpty());
        listeners.tell(new RunChange(run.id(), run.definition(), state, why));
    }

    private static BulkReport changed() {
        return new BulkReport(1, 0, 0, List.of());
    }

    private static BulkReport skipped() {
        return new BulkReport(0, 1, 0, List.of());
    }

    private static BulkReport refused(Selected run, String reason) {
        return new BulkReport(0, 0, 1, List.of(new BulkReport.Refusal(run.id(), reason)));
    }
}
