package dev.perdure.benchmarks;

import dev.perdure.benchmarks.perdure.Disturbance;
import dev.perdure.benchmarks.server.Server;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Counts workers that are taken for dead although they live. */
@Command(
        name = "disturb",
        mixinStandardHelpOptions = true,
        description = "Close listening connections, rotate pools and reload the server while three workers run bodies,"
                + " and count how often a worker is taken for dead. Fails if that happens once.")
final class DisturbCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--minutes", defaultValue = "1", description = "For how long. Default: ${DEFAULT-VALUE}.")
    private int minutes = 1;

    DisturbCommand() {}

    @Override
    public Integer call() throws Exception {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Server server = Server.embedded()) {
            Disturbance.Seen seen = Disturbance.during(Duration.ofMinutes(minutes), server.fresh("disturb"));
            out.printf("disturb.connections %d%n", seen.connections());
            out.printf("disturb.rotations %d%n", seen.rotations());
            out.printf("disturb.reloads %d%n", seen.reloads());
            out.printf("disturb.runs %d%n", seen.runs());
            out.printf("disturb.bodies %d%n", seen.bodies());
            out.printf("disturb.false_takeovers %d%n", seen.falseTakeovers());
            out.flush();
            return seen.falseTakeovers() == 0 && seen.bodies() == seen.runs() ? 0 : 1;
        }
    }
}
