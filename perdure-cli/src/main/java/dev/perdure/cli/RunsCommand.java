package dev.perdure.cli;

import dev.perdure.HistoryEvent;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Looks at the runs of a database, and acts on one. */
@Command(
        name = "runs",
        mixinStandardHelpOptions = true,
        description = "Look at the runs of a database, and act on one.",
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
                            description = "At most this many. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        RunFilter all = RunFilter.all().limit(limit);
        RunFilter inState = state == null ? all : all.state(state);
        RunFilter filter = definition == null ? inState : inState.definition(definition);
        List<RunInfo> runs = database.withClient(client -> client.list(filter));
        for (RunInfo run : runs) {
            out().printf(
                            "%-38s %-20s %-12s %s  %s%n",
                            run.id(),
                            run.definition(),
                            run.state(),
                            run.createdAt(),
                            run.reason().orElse(""));
        }
        out().flush();
        return 0;
    }

    @Command(name = "show", mixinStandardHelpOptions = true, description = "Show one run with its history.")
    int show(@Mixin DatabaseOptions database, @Parameters(paramLabel = "ID", description = "The run.") String id) {
        return onRun(database, id, run -> {
            RunInfo info = run.info();
            out().printf("run         %s%n", info.id());
            out().printf("definition  %s%n", info.definition());
            out().printf("state       %s%n", info.state());
            info.reason().ifPresent(reason -> out().printf("reason      %s%n", reason));
            out().printf("created     %s%n", info.createdAt());
            out().printf("changed     %s%n", info.changedAt());
            info.wakeAt().ifPresent(wakeAt -> out().printf("wakes       %s%n", wakeAt));
            out().printf("recoveries  %d%n%n", info.recoveries());
            for (HistoryEvent event : run.history()) {
                out().printf(
                                "%-30s %5s  %s%n",
                                event.at(), event.position() == 0 ? "" : "#" + event.position(), event.what());
            }
        });
    }

    @Command(name = "cancel", mixinStandardHelpOptions = true, description = "Ask a run to end; it may compensate.")
    int cancel(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "ID", description = "The run.") String id,
            @Option(names = "--reason", defaultValue = "cancelled by an operator", description = "Why.")
                    String reason) {
        return onRun(database, id, run -> {
            run.cancel(reason);
            out().printf("Cancel of run %s is recorded; it is %s.%n", id, run.state());
        });
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Let a paused run go on.")
    int resume(@Mixin DatabaseOptions database, @Parameters(paramLabel = "ID", description = "The run.") String id) {
        return onRun(database, id, run -> {
            run.resume();
            out().printf("Run %s is %s.%n", id, run.state());
        });
    }

    private int onRun(DatabaseOptions database, String id, Consumer<Run<Void>> action) {
        boolean done = database.withClient(client -> {
            action.accept(client.run(RunId.of(id), TypeRef.of(Void.class)));
            return true;
        });
        out().flush();
        return done ? 0 : Main.FAILED;
    }
}
