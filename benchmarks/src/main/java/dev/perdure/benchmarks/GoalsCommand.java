package dev.perdure.benchmarks;

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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures what the goals need, and tells which of them are reached. */
@Command(
        name = "goals",
        mixinStandardHelpOptions = true,
        description = "Measure only what the performance goals need, and print each goal with what was seen, with"
                + " defaults and tuned. A goal whose workload is left out is printed as not measured.")
final class GoalsCommand implements Callable<Integer> {
    private static final Set<Workload> WORKLOADS = EnumSet.of(
            Workload.W1,
            Workload.W2,
            Workload.W3,
            Workload.W4,
            Workload.W5,
            Workload.W6,
            Workload.W7,
            Workload.W8,
            Workload.OBJECTS,
            Workload.WORKERS,
            Workload.FOOTPRINT);

    /** No goal compares Perdure with JobRunr. */
    private static final Set<Contender> CONTENDERS = EnumSet.complementOf(EnumSet.of(Contender.JOBRUNR));

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private RunOptions options = new RunOptions();

    @Parameters(
            paramLabel = "WORKLOAD",
            arity = "0..*",
            description = "The workloads to run. Default: all that a goal needs.")
    private List<Workload> workloads = List.of();

    GoalsCommand() {}

    @Override
    public Integer call() throws Exception {
        return options.run(
                Objects.requireNonNull(spec).commandLine(),
                Scale.GOALS,
                workloads.isEmpty() ? WORKLOADS : EnumSet.copyOf(workloads),
                CONTENDERS,
                figures -> new Goals(figures).all());
    }
}
