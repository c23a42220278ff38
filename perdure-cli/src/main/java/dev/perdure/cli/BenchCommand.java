package dev.perdure.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Stands in the list of commands for the benchmarks, which {@code ./perdure} starts from a module of their own: that one
 * has the peers on its class path, and this tool must not.
 */
@Command(name = "bench", description = "Measure Perdure and its peers side by side. See './perdure bench --help'.")
final class BenchCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    BenchCommand() {}

    @Override
    public Integer call() {
        Objects.requireNonNull(spec)
                .commandLine()
                .getErr()
                .println(
                        "The benchmarks are not part of this jar. Run './perdure bench' in a checkout of the project.");
        return Main.FAILED;
    }
}
