package dev.perdure.benchmarks;

import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Workload;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the workloads. */
@Command(name = "list", mixinStandardHelpOptions = true, description = "List the workloads and their contenders.")
final class ListCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    ListCommand() {}

    @Override
    public void run() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        for (Workload workload : Workload.values()) {
            String contenders = Arrays.stream(Contender.values())
                    .filter(contender -> Catalog.find(contender, workload).isPresent())
                    .map(Contender::toString)
                    .collect(Collectors.joining(", "));
            out.printf("%-10s %s%n%-10s   for %s%n", workload, workload.description(), "", contenders);
        }
        out.flush();
    }
}
