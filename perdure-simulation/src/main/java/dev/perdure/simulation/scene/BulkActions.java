package dev.perdure.simulation.scene;

import dev.perdure.Invocation;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditFilter;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.TerminalException;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Runs, some of which fail, and bulk actions of every kind over them. */
public final class BulkActions implements Scene {
    private static final String DEFINITION = "errand";
    private static final Queue ASIDE = Queue.named("aside").concurrency(1);
    private static final Queue BACK = Queue.named("back");
    private static final RunFilter ERRANDS = RunFilter.all().definition(DEFINITION);
    private static final int MOST_ENTRIES = 1_000;

    private final Cast cast;
    private final int count;
    /** The runs whose shop is closed when they come for the first time. */
    private final Set<String> closed = new TreeSet<>();

    /** For one history. */
    public BulkActions(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(2, 6);
    }

    /** The workflow. */
    public static final class Code {
        private final BulkActions scene;

        Code(BulkActions scene) {
            this.scene = scene;
        }

        /** Sleeps, and buys if the shop is open. */
        @Workflow("errand")
        public int errand(WorkflowContext ctx, int number) {
            ctx.sleep(Duration.ofMillis(number * 40L));
            return ctx.step("buy", () -> scene.buy(ctx.runId().value(), number));
        }
    }

    private int buy(String run, int number) {
        cast.pause();
        if (closed.remove(run)) {
            throw new TerminalException("The shop is closed.");
        }
        return number;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
        cast.declare(ASIDE);
        cast.declare(BACK);
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            int number = i;
            String id = "errand-" + i;
            if (cast.choices().oneIn(2)) {
                closed.add(id);
            }
            cast.call(perdure -> perdure.start(Invocation.of(Code::errand, number), StartOptions.id(id)));
        }
        int rounds = (int) cast.choices().between(1, 4) + (cast.isAimedAt("Change.Reassign") ? 4 : 0);
        for (int i = 0; i < rounds; i++) {
            cast.pauseUpTo(Duration.ofMillis(100));
            BulkAction action = action();
            cast.call(perdure -> perdure.runs(ERRANDS).start(action));
        }
    }

    private BulkAction action() {
        return switch (cast.isAimedAt("Change.Reassign") ? 6 : cast.choices().pick(7)) {
            case 0 -> BulkAction.cancel("not needed");
            case 1 -> BulkAction.kill("not needed");
            case 2 -> BulkAction.pause("for a while");
            case 3 -> BulkAction.resume();
            case 4 -> BulkAction.retry();
            case 5 -> BulkAction.delete();
            default ->
                BulkAction.moveToQueue(cast.choices().pick(List.of(ASIDE, BACK)).name());
        };
    }

    @Override
    public void check() {
        List<AuditEntry> audit = cast.perdure().audit().list(AuditFilter.all().limit(MOST_ENTRIES));
        for (RunInfo bulk : cast.runs("perdure.bulk")) {
            List<AuditEntry> entries = audit.stream()
                    .filter(entry -> (entry.detail() + ":").startsWith("in " + bulk.id() + ":"))
                    .toList();
            Set<String> changed = entries.stream().map(AuditEntry::name).collect(Collectors.toSet());
            Cast.must(changed.size() == entries.size(), "%s changed a run twice: %s", bulk.id(), entries);
            if (bulk.state() == RunState.COMPLETED) {
                BulkReport report = cast.result(bulk.id().value(), BulkReport.class);
                Cast.must(
                        report.changed() == entries.size(),
                        "%s reports %s, and the audit has %s",
                        bulk.id(),
                        report,
                        entries);
            }
            entries.forEach(this::checkDeleted);
        }
        for (RunInfo run : cast.runs(DEFINITION)) {
            checkErrand(run);
            audit.stream() // newest first
                    .filter(entry -> entry.action() == Action.MOVE
                            && entry.name().equals(run.id().value()))
                    .findFirst()
                    .ifPresent(this::checkMoved);
        }
    }

    /** A copy of its start that arrives after that makes another run: the id is free. */
    private void checkDeleted(AuditEntry entry) {
        Cast.must(
                entry.action() != Action.DELETE
                        || cast.info(entry.name())
                                .filter(run -> !run.createdAt().isAfter(entry.at()))
                                .isEmpty(),
                "%s was deleted, and it is there.",
                entry.name());
    }

    private void checkMoved(AuditEntry last) {
        String queue = last.detail().substring(last.detail().lastIndexOf(' ') + 1);
        List<RunInfo> there = cast.store().runs().list(ERRANDS.queue(queue));
        Cast.must(
                there.stream().anyMatch(run -> run.id().value().equals(last.name())),
                "%s was moved to %s last, where these are: %s",
                last.name(),
                queue,
                there);
    }

    private void checkErrand(RunInfo run) {
        String id = run.id().value();
        int number = Integer.parseInt(id.substring(id.indexOf('-') + 1));
        Cast.must(
                run.state() != RunState.COMPLETED || cast.result(id, Integer.class) == number,
                "%s has the result of another run.",
                id);
    }
}
