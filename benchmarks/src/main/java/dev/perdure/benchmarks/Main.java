package dev.perdure.benchmarks;

import dev.perdure.Perdure;
import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.report.Goals;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code ./perdure bench}. */
@Command(
        name = "perdure bench",
        description = "Measure the raw database, Perdure and its peers side by side, on one PostgreSQL.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = {
            GoalsCommand.class,
            ListCommand.class,
            MicroCommand.class,
            DisturbCommand.class,
            HelpCommand.class
        },
        footer = {
            "",
            "Prints a line 'contender metric value unit' per figure, then tables of ratios, costs and goals. Writes all of"
                    + " it and a chart into the folder. All workloads take tens of minutes; with --quick a few minutes.",
            "Run nothing else on the machine."
        })
public final class Main implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(
            paramLabel = "WORKLOAD",
            arity = "0..*",
            description = "The workloads to run, such as w2 w4; see 'perdure bench list'. Default: all.")
    private List<Workload> workloads = List.of();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "CONTENDER",
            description = "The contenders to measure: ${COMPLETION-CANDIDATES}. Raw is always measured. Default: all.")
    private List<Contender> only = List.of();

    @Mixin
    private RunOptions options = new RunOptions();

    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String... args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((thrown, command, parsed) -> {
                    command.getErr().println(command.getColorScheme().errorText(String.valueOf(thrown.getMessage())));
                    return 1;
                });
    }

    @Override
    public Integer call() throws Exception {
        return options.run(
                Objects.requireNonNull(spec).commandLine(),
                Scale.FULL,
                workloads(),
                contenders(),
                figures -> new Goals(figures).lines());
    }

    private Set<Workload> workloads() {
        return workloads.isEmpty() ? EnumSet.allOf(Workload.class) : EnumSet.copyOf(workloads);
    }

    private Set<Contender> contenders() {
        Set<Contender> contenders = only.isEmpty() ? EnumSet.allOf(Contender.class) : EnumSet.copyOf(only);
        contenders.add(Contender.RAW);
        return contenders;
    }

    /** The version that the build wrote into the jar of the engine. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Perdure.class.getPackage().getImplementationVersion();
            return new String[] {version == null ? "unknown, because the engine was not loaded from a jar" : version};
        }
    }
}
