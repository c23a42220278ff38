package dev.perdure.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Lists the benchmarks in the help. The script {@code ./perdure} starts them from a module of their own, because they
 * need the peers on the class path, and this tool must not have them.
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
