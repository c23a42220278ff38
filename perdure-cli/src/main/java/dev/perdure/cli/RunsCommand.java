package dev.perdure.cli;

import dev.perdure.ForkOptions;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.cli.output.ExactJson;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.cli.run.ReportPage;
import dev.perdure.cli.run.RunPage;
import dev.perdure.cli.run.StatisticsPage;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunEndedException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.report.LogFilter;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;

/** Lists and shows the runs of a database, and commands one. */
@Command(
        name = "runs",
        mixinStandardHelpOptions = true,
        description =
                "List, count, measure, show, export, cancel, kill, pause, resume, retry and fork the runs of a database.",
        subcommands = {BulkCommand.class, ExportCommand.class, ReencryptCommand.class},
        synopsisSubcommandLabel = "COMMAND")
final class RunsCommand {
    private static final Fields<RunInfo> RUN = RunPage.ROW;

    RunsCommand() {}

    /** One run of a database. */
    static final class NamedRun {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(index = "0", paramLabel = "ID", description = "The run.")
        private String id = "";
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List runs, newest first.")
    int list(
            @Mixin DatabaseOptions database,
            @Mixin LiveOutput output,
            @Mixin FilterOptions options,
            @Option(names = "--oldest-first", description = "List the oldest runs first.") boolean oldestFirst,
            @Option(
                            names = "--limit",
                            defaultValue = "50",
                            description = "The number of runs at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        RunFilter all = options.filter().limit(limit);
        RunFilter filter = oldestFirst ? all.oldestFirst() : all;
        return database.with(open -> output.print(() -> {
            List<RunInfo> runs = open.perdure().runs(filter).list();
            Page page = open.page().many("runs", RUN, runs, noRuns(database, options));
            return runs.size() < limit
                    ? page
                    : page.note("These are the %s %s. Raise --limit to see %s ones."
                            .formatted(oldestFirst ? "oldest" : "newest", limit, oldestFirst ? "newer" : "older"));
        }));
    }

    private static String noRuns(DatabaseOptions database, FilterOptions options) {
        return options.isEmpty()
                ? "No runs in schema %s. Start one in your application, or name another --schema."
                        .formatted(database.schema())
                : "No run matches. Leave out conditions to see others.";
    }

    @Command(name = "count", mixinStandardHelpOptions = true, description = "Count runs by state.")
    int count(@Mixin DatabaseOptions database, @Mixin LiveOutput output, @Mixin FilterOptions options) {
        return database.with(open -> output.print(() -> open.page()
                .many(
                        "counts",
                        BulkCommand.COUNT,
                        List.copyOf(
                                open.perdure().runs(options.filter()).count().entrySet()),
                        noRuns(database, options))));
    }

    @Command(
            name = "statistics",
            mixinStandardHelpOptions = true,
            description =
                    "Show how the newest runs have ended, how long they and their steps took, and what runs failed with.")
    int statistics(@Mixin DatabaseOptions database, @Mixin LiveOutput output, @Mixin FilterOptions options) {
        return database.with(open -> output.print(() -> {
            SelectedRuns runs = open.perdure().runs(options.filter());
            return StatisticsPage.add(open.page(), runs.statistics(), runs.failures());
        }));
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description =
                    "Show one run with its input, its result or failure, its history, and its tasks if it is a DAG.")
    int show(@Mixin NamedRun named, @Mixin LiveOutput output) {
        return named.database.with(open -> output.print(() -> {
            Run<Void> run = run(open, named.id);
            return new RunPage(open.store().runs()).add(open.page(), run, ref(open.store(), run.id()));
        }));
    }

    @Command(name = "log", mixinStandardHelpOptions = true, description = "Show what the steps of a run have logged.")
    int log(
            @Mixin NamedRun named,
            @Mixin LiveOutput output,
            @Option(
                            names = "--limit",
                            defaultValue = "1000",
                            description = "The number of lines at most, the newest. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        LogFilter newest = LogFilter.newest(limit);
        return named.database.with(open -> output.print(() -> {
            Page page = open.page();
            ReportPage.addLog(
                    page,
                    run(open, named.id).log(newest),
                    "No log lines. Workers keep them if dev.perdure.logback.RunLogAppender is in their logback.xml.");
            return page;
        }));
    }

    private static RunRef ref(PostgresStore store, RunId id) {
        return store.runs().find(id).orElseThrow().ref();
    }

    @Command(
            name = "cancel",
            mixinStandardHelpOptions = true,
            description = "Cancel a run. Its workflow can compensate.")
    int cancel(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "cancelled by an operator", description = "The reason.")
                    String reason) {
        return order(named, output, run -> run.cancel(reason), "The cancel of run %s is recorded. The run is %s.");
    }

    @Command(
            name = "kill",
            mixinStandardHelpOptions = true,
            description = "End a run and its children without letting them compensate.")
    int kill(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "killed by an operator", description = "The reason.")
                    String reason) {
        return order(named, output, run -> run.kill(reason), "The kill of run %s is recorded. The run is %s.");
    }

    @Command(name = "pause", mixinStandardHelpOptions = true, description = "Pause a run until it is resumed.")
    int pause(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return order(named, output, run -> run.pause(reason), "The pause of run %s is recorded. The run is %s.");
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Let a paused run continue.")
    int resume(@Mixin NamedRun named, @Mixin Output output) {
        return order(named, output, Run::resume, "Run %s is %s.");
    }

    @Command(
            name = "retry",
            mixinStandardHelpOptions = true,
            description = "Let a run that failed or was cancelled continue from the step that failed.")
    int retry(@Mixin NamedRun named, @Mixin Output output) {
        return change(named, output, Run::retry, "Run %s is %s.");
    }

    @Command(
            name = "rerun",
            mixinStandardHelpOptions = true,
            description = {
                "Let a run that failed or was cancelled begin anew under its id, also one that has compensated.",
                "All its steps run again. Its history still shows its former life."
            })
    int rerun(@Mixin NamedRun named, @Mixin Output output) {
        return named.database.with(open -> {
            RunId id = RunId.of(named.id);
            open.perdure().rerun(id);
            RunInfo now = run(open, named.id).info();
            return output.print(open.page()
                    .message("Run %s begins anew. It is %s.".formatted(id, now.state()))
                    .data("run", RUN, now));
        });
    }

    @Command(
            name = "repair",
            mixinStandardHelpOptions = true,
            description = {
                "Replace the recorded result of a step, or give a step that is stuck its outcome.",
                "The run is paused, or it failed or was cancelled and is retried afterwards."
            })
    int repair(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Parameters(
                            index = "1",
                            paramLabel = "POSITION",
                            description = "The position of the step, as 'runs show' prints it after #.")
                    int position,
            @Option(names = "--value", paramLabel = "JSON", description = "What the step returned.") @Nullable
                    String value,
            @Option(names = "--fail", paramLabel = "TEXT", description = "What the step failed with.") @Nullable
                    String failure,
            @Option(names = "--why", paramLabel = "TEXT", required = true, description = "The reason, for the audit.")
                    String why) {
        if ((value == null) == (failure == null)) {
            throw new InvalidRequestException(
                    "Give the outcome of the step: either --value JSON or --fail TEXT, for example --value '\"paid\"'.");
        }
        Repair repair = value == null
                ? Repair.failure(position, Objects.requireNonNull(failure), why)
                : Repair.result(position, json(value), why);
        return change(named, output, refusable(run -> run.repair(repair)), "The step is repaired. Run %s is %s.");
    }

    @Command(
            name = "fork",
            mixinStandardHelpOptions = true,
            description = "Start another run with what a run has recorded before a position.")
    int fork(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Option(
                            names = "--from",
                            required = true,
                            description = "The position at which it continues, as 'runs show' prints it after #.")
                    int position,
            @Option(names = "--id", description = "The id of the new run. Default: a new one.") @Nullable String newId,
            @Option(names = "--input", description = "Another input, as JSON.") @Nullable String input,
            @Option(names = "--allow-compensated", description = "Take over steps that the saga of the run has undone.")
                    boolean allowCompensated) {
        ForkOptions plain = ForkOptions.from(position);
        ForkOptions from = allowCompensated ? plain.allowCompensated() : plain;
        ForkOptions withId = newId == null ? from : from.id(newId);
        ForkOptions options = input == null ? withId : withId.input(json(input));
        return named.database.with(open -> {
            RunInfo forked = run(open, named.id).fork(options).info();
            return output.print(open.page()
                    .message("Run %s is forked. Run %s is %s.".formatted(named.id, forked.id(), forked.state()))
                    .data("run", RUN, forked));
        });
    }

    @Command(
            name = "resolve",
            mixinStandardHelpOptions = true,
            description = "Resolve an awakeable of a run without its token. The run's history records the operator.")
    int resolve(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Parameters(
                            index = "1",
                            paramLabel = "POSITION",
                            description = "The position of the awakeable, as 'runs show' prints it after #.")
                    int position,
            @Option(
                            names = "--value",
                            defaultValue = "null",
                            description = "The value as JSON. Default: ${DEFAULT-VALUE}.")
                    String value) {
        Object answer = json(value);
        return order(
                named,
                output,
                refusable(run -> run.resolveAwakeable(position, answer)),
                "The awakeable is resolved. Run %s is %s.");
    }

    @Command(
            name = "reject",
            mixinStandardHelpOptions = true,
            description = "Reject an awakeable of a run without its token. The run's history records the operator.")
    int reject(
            @Mixin NamedRun named,
            @Mixin Output output,
            @Parameters(
                            index = "1",
                            paramLabel = "POSITION",
                            description = "The position of the awakeable, as 'runs show' prints it after #.")
                    int position,
            @Option(names = "--reason", defaultValue = "rejected by an operator", description = "The reason.")
                    String reason) {
        return order(
                named,
                output,
                refusable(run -> run.rejectAwakeable(position, reason)),
                "The awakeable is rejected. Run %s is %s.");
    }

    private static @Nullable Object json(String text) {
        try {
            return ExactJson.MAPPER.readValue(text, Object.class);
        } catch (JacksonException | NumberFormatException wrong) {
            String why =
                    wrong instanceof JacksonException json ? json.getOriginalMessage() : "a number is out of bounds";
            throw new InvalidRequestException(
                    "The value %s is not JSON: %s. Write a text with quotes: --value '\"yes\"'.".formatted(text, why));
        }
    }

    /** A command that names a position: whether it is the right one depends on the run. */
    private static Consumer<Run<Void>> refusable(Consumer<Run<Void>> command) {
        return run -> {
            try {
                command.accept(run);
            } catch (InvalidRequestException refusal) {
                throw new CommandRefusedException(refusal);
            }
        };
    }

    private static int order(NamedRun named, Output output, Consumer<Run<Void>> order, String done) {
        return change(
                named,
                output,
                run -> {
                    RunState before = run.state();
                    if (before.isTerminal()) {
                        throw new RunEndedException(
                                "Run '%s' has ended (%s); nothing was done.".formatted(named.id, before));
                    }
                    order.accept(run);
                },
                done);
    }

    private static int change(NamedRun named, Output output, Consumer<Run<Void>> change, String done) {
        return named.database.with(open -> {
            Run<Void> run = run(open, named.id);
            change.accept(run);
            RunInfo now = run.info();
            return output.print(
                    open.page().message(done.formatted(now.id(), now.state())).data("run", RUN, now));
        });
    }

    private static Run<Void> run(OpenDatabase open, String id) {
        return open.perdure().run(RunId.of(id), TypeRef.of(Void.class));
    }
}
