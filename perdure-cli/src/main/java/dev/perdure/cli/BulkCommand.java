package dev.perdure.cli;

import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.cli.run.RunPage;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes all runs that a filter selects, by a run of its own. */
@Command(
        name = "bulk",
        mixinStandardHelpOptions = true,
        description = {
            "Cancel, kill, pause, resume, retry, rerun, fork, delete or move all runs that the conditions select.",
            "A worker of the application does it, page by page, also if this command ends."
        })
final class BulkCommand implements Callable<Integer> {
    /** How many runs there are in a state. */
    static final Fields<Map.Entry<RunState, RunCount>> COUNT = Fields.<Map.Entry<RunState, RunCount>>of()
            .and("state", Map.Entry::getKey)
            .text("runs", count -> count.getValue().toString())
            .json("runs", count -> count.getValue().runs())
            .json("more", count -> count.getValue().more());

    private static final Fields<BulkReport> REPORT = Fields.<BulkReport>of()
            .and("changed", BulkReport::changed)
            .and("skipped", BulkReport::skipped)
            .and("refused", BulkReport::refused);

    private static final Fields<BulkReport.Refusal> REFUSAL = Fields.<BulkReport.Refusal>of()
            .text("refused", BulkReport.Refusal::run)
            .json("id", BulkReport.Refusal::run)
            .and("reason", BulkReport.Refusal::reason);

    private static final List<BulkAction.Kind> REASONED = List.of(
            BulkAction.Kind.CANCEL,
            BulkAction.Kind.KILL,
            BulkAction.Kind.PAUSE,
            BulkAction.Kind.RETRY,
            BulkAction.Kind.RERUN);

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private Output output = new Output();

    @Mixin
    private FilterOptions conditions = new FilterOptions();

    @Parameters(
            index = "0",
            paramLabel = "ACTION",
            description = {
                "One of cancel, kill, pause, resume, retry, rerun, fork, delete, move-to-queue and",
                "move-to-version."
            })
    private String action = "";

    @Option(names = "--all", description = "All runs that the action is for, if no condition is given.")
    private boolean all;

    @Option(
            names = "--why",
            paramLabel = "TEXT",
            description = "The reason of a cancel, a kill, a pause, a retry or a rerun, for the audit.")
    private @Nullable String why;

    @Option(names = "--to", paramLabel = "NAME", description = "The queue or the version to which runs are moved.")
    private @Nullable String to;

    @Option(
            names = "--from",
            paramLabel = "POSITION",
            description = "The position at which forks continue. Default: 1, from the beginning.")
    private int from = 1;

    @Option(names = "--dry-run", description = "Count the runs by state, and change nothing.")
    private boolean dryRun;

    @Option(names = "--wait", description = "Wait until it has ended, and print its report. Ctrl-C does not stop it.")
    private boolean waits;

    @Override
    public Integer call() {
        BulkAction wanted = action();
        if (conditions.isEmpty() && !all) {
            throw new InvalidRequestException(
                    "No condition is given, so this would be for all runs. Give one, such as --definition NAME, or --all.");
        }
        return database.with(open -> {
            SelectedRuns runs = open.perdure().runs(conditions.filter());
            return output.print(dryRun ? counted(open, runs, wanted) : started(open, runs, wanted));
        });
    }

    private BulkAction action() {
        BulkAction.Kind kind = kind();
        if (why != null && !REASONED.contains(kind)) {
            throw new InvalidRequestException("The action %s takes no reason. Leave --why out.".formatted(action));
        }
        if (to != null && !kind.moves()) {
            throw new InvalidRequestException("The action %s moves nothing. Leave --to out.".formatted(action));
        }
        return switch (kind) {
            case CANCEL -> BulkAction.cancel(reason("cancelled by an operator"));
            case KILL -> BulkAction.kill(reason("killed by an operator"));
            case PAUSE -> BulkAction.pause(reason("paused by an operator"));
            case RESUME -> BulkAction.resume();
            case RETRY -> BulkAction.retry(reason(""));
            case RERUN -> BulkAction.rerun(reason(""));
            case FORK -> BulkAction.fork(from);
            case DELETE -> BulkAction.delete();
            case MOVE_TO_QUEUE -> BulkAction.moveToQueue(target());
            case MOVE_TO_VERSION -> BulkAction.moveToVersion(target());
        };
    }

    private String target() {
        if (to == null) {
            throw new InvalidRequestException("The action %s needs a target. Give --to NAME.".formatted(action));
        }
        return to;
    }

    private String reason(String standard) {
        return Objects.requireNonNullElse(why, standard);
    }

    private BulkAction.Kind kind() {
        return Arrays.stream(BulkAction.Kind.values())
                .filter(kind -> named(kind).equals(action.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("There is no action '%s'. Choose one of %s."
                        .formatted(
                                action,
                                Arrays.stream(BulkAction.Kind.values())
                                        .map(BulkCommand::named)
                                        .collect(Collectors.joining(", ")))));
    }

    private static String named(BulkAction.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Page counted(OpenDatabase open, SelectedRuns runs, BulkAction wanted) {
        return open.page()
                .many(
                        "counts",
                        COUNT,
                        List.copyOf(runs.dryRun(wanted).entrySet()),
                        "The action is for none of the runs that the conditions select.")
                .note("Nothing was changed. Leave out --dry-run to do it.");
    }

    /** Null if workers encrypt, and it cannot be read here: what the action did is in the status of its run as well. */
    private static @Nullable BulkReport report(Run<BulkReport> run) {
        try {
            return run.result();
        } catch (PayloadException encrypted) {
            return null;
        }
    }

    private Page started(OpenDatabase open, SelectedRuns runs, BulkAction wanted) {
        Run<BulkReport> run = runs.start(wanted);
        BulkReport report = waits ? report(run) : null;
        RunInfo now = run.info();
        if (waits && report == null) {
            return open.page()
                    .message("The bulk action %s has ended: %s. Its report is encrypted, and this command has no key."
                            .formatted(now.id(), now.description().status().orElse("")))
                    .data("run", RunPage.ROW, now);
        }
        if (report == null) {
            return open.page()
                    .message(
                            "The bulk action %s is started. A worker of the application does it; './perdure runs show %s --watch' shows how far it is."
                                    .formatted(now.id(), now.id()))
                    .data("run", RunPage.ROW, now);
        }
        return open.page()
                .message("The bulk action %s has ended: %s.".formatted(now.id(), report))
                .data("run", RunPage.ROW, now)
                .data("report", REPORT, report)
                .many("refusals", REFUSAL, report.refusals(), "");
    }
}
