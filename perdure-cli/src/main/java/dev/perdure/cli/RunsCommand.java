package dev.perdure.cli;

import dev.perdure.ForkOptions;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunEndedException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.change.RunRef;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Lists and shows the runs of a database, and commands one. */
@Command(
        name = "runs",
        mixinStandardHelpOptions = true,
        description = "List, show, cancel, kill, pause, resume, retry and fork the runs of a database.",
        synopsisSubcommandLabel = "COMMAND")
final class RunsCommand {
    @Spec
    private @Nullable CommandSpec spec;

    RunsCommand() {}

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List runs, newest first.")
    int list(
            @Mixin DatabaseOptions database,
            @Option(names = "--state", description = "Only runs in this state: ${COMPLETION-CANDIDATES}.") @Nullable
                    RunState state,
            @Option(names = "--definition", description = "Only runs of this definition.") @Nullable String definition,
            @Option(
                            names = "--limit",
                            defaultValue = "50",
                            description = "The number of runs at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        RunFilter all = RunFilter.all().limit(limit);
        RunFilter inState = state == null ? all : all.state(state);
        RunFilter filter = definition == null ? inState : inState.definition(definition);
        List<RunInfo> runs = database.withClient((store, client) -> client.list(filter));
        for (RunInfo run : runs) {
            out().printf(
                            "%-38s %-20s %-12s %s  %s%n",
                            run.id(),
                            run.definition(),
                            run.state(),
                            run.createdAt(),
                            run.reason()
                                    .orElse(
                                            run.awaited().isEmpty()
                                                    ? ""
                                                    : "waits for " + String.join(", ", run.awaited())));
        }
        out().flush();
        return 0;
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description =
                    "Show one run with its input, its result or failure, its history, and its tasks if it is a DAG.")
    int show(@Mixin DatabaseOptions database, @Parameters(paramLabel = "ID", description = "The run.") String id) {
        return onRun(database, id, (store, run) -> new RunPage(out(), store.runs()).print(run, ref(store, run.id())));
    }

    private static RunRef ref(PostgresStore store, RunId id) {
        return store.runs().find(id).orElseThrow().ref();
    }

    @Command(
            name = "cancel",
            mixinStandardHelpOptions = true,
            description = "Cancel a run. Its workflow can compensate.")
    int cancel(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Option(names = "--reason", defaultValue = "cancelled by an operator", description = "The reason.")
                    String reason) {
        return order(database, id, run -> run.cancel(reason), "The cancel of run %s is recorded. The run is %s.%n");
    }

    @Command(
            name = "kill",
            mixinStandardHelpOptions = true,
            description = "End a run and its children without letting them compensate.")
    int kill(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Option(names = "--reason", defaultValue = "killed by an operator", description = "The reason.")
                    String reason) {
        return order(database, id, run -> run.kill(reason), "The kill of run %s is recorded. The run is %s.%n");
    }

    @Command(name = "pause", mixinStandardHelpOptions = true, description = "Pause a run until it is resumed.")
    int pause(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return order(database, id, run -> run.pause(reason), "The pause of run %s is recorded. The run is %s.%n");
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Let a paused run continue.")
    int resume(@Mixin DatabaseOptions database, @Parameters(paramLabel = "ID", description = "The run.") String id) {
        return order(database, id, Run::resume, "Run %s is %s.%n");
    }

    @Command(
            name = "retry",
            mixinStandardHelpOptions = true,
            description = "Let a run that failed or was cancelled continue from the step that failed.")
    int retry(@Mixin DatabaseOptions database, @Parameters(paramLabel = "ID", description = "The run.") String id) {
        return onRun(database, id, (store, run) -> {
            run.retry();
            out().printf("Run %s is %s.%n", id, run.state());
        });
    }

    @Command(
            name = "fork",
            mixinStandardHelpOptions = true,
            description = "Start another run with what a run has recorded before a position.")
    int fork(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Option(
                            names = "--from",
                            required = true,
                            description = "The position at which it continues, as 'runs show' prints it after #.")
                    int position,
            @Option(names = "--id", description = "The id of the new run. Default: a new one.") @Nullable String newId,
            @Option(names = "--input", description = "Another input, as JSON.") @Nullable String input) {
        ForkOptions from = ForkOptions.from(position);
        ForkOptions named = newId == null ? from : from.id(newId);
        ForkOptions options = input == null ? named : named.input(json(input));
        return onRun(database, id, (store, run) -> {
            Run<Void> forked = run.fork(options);
            out().printf("Run %s is forked. Run %s is %s.%n", id, forked.id(), forked.state());
        });
    }

    @Command(
            name = "resolve",
            mixinStandardHelpOptions = true,
            description = "Resolve an awakeable of a run without its token. The run's history records the operator.")
    int resolve(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Parameters(
                            paramLabel = "POSITION",
                            description = "The position of the awakeable, as 'runs show' prints it after #.")
                    int position,
            @Option(
                            names = "--value",
                            defaultValue = "null",
                            description = "The value as JSON. Default: ${DEFAULT-VALUE}.")
                    String value,
            @Option(
                            names = "--by",
                            defaultValue = "${sys:user.name}",
                            description =
                                    "The name of the operator. Default: the user of this machine, ${DEFAULT-VALUE}.")
                    String operator) {
        Object answer = json(value);
        return order(
                database,
                id,
                run -> run.resolveAwakeable(position, answer, operator),
                "The awakeable is resolved. Run %s is %s.%n");
    }

    @Command(
            name = "reject",
            mixinStandardHelpOptions = true,
            description = "Reject an awakeable of a run without its token. The run's history records the operator.")
    int reject(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Parameters(
                            paramLabel = "POSITION",
                            description = "The position of the awakeable, as 'runs show' prints it after #.")
                    int position,
            @Option(names = "--reason", defaultValue = "rejected by an operator", description = "The reason.")
                    String reason,
            @Option(
                            names = "--by",
                            defaultValue = "${sys:user.name}",
                            description =
                                    "The name of the operator. Default: the user of this machine, ${DEFAULT-VALUE}.")
                    String operator) {
        return order(
                database,
                id,
                run -> run.rejectAwakeable(position, reason, operator),
                "The awakeable is rejected. Run %s is %s.%n");
    }

    private static @Nullable Object json(String text) {
        try {
            return new JsonMapper().readValue(text, Object.class);
        } catch (JacksonException wrong) {
            throw new InvalidRequestException(
                    "The value %s is not JSON: %s. Write a text with quotes: --value '\"yes\"'."
                            .formatted(text, wrong.getOriginalMessage()));
        }
    }

    private int order(DatabaseOptions database, String id, Consumer<Run<Void>> order, String done) {
        return onRun(database, id, (store, run) -> {
            RunState before = run.state();
            if (before.isTerminal()) {
                throw new RunEndedException("Run '%s' has ended (%s); nothing was done.".formatted(id, before));
            }
            order.accept(run);
            out().printf(done, id, run.state());
        });
    }

    private int onRun(DatabaseOptions database, String id, BiConsumer<PostgresStore, Run<Void>> action) {
        database.withClient((store, client) -> {
            action.accept(store, client.run(RunId.of(id), TypeRef.of(Void.class)));
            return id;
        });
        out().flush();
        return 0;
    }
}
