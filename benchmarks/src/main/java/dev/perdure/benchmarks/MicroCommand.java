package dev.perdure.benchmarks;

import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Measures pure code with JMH. */
@Command(
        name = "micro",
        mixinStandardHelpOptions = true,
        description = "Measure pure code with JMH: the codec, the committer, a replay. Takes some minutes.")
final class MicroCommand implements Callable<Integer> {
    private static final String ALL = "dev.perdure.benchmarks.micro";

    @Parameters(
            paramLabel = "NAME",
            arity = "0..*",
            description = "The benchmarks to run, such as Codec. Default: all.")
    private List<String> names = List.of();

    MicroCommand() {}

    @Override
    public Integer call() throws Exception {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .forks(1)
                .warmupIterations(3)
                .warmupTime(TimeValue.seconds(2))
                .measurementIterations(5)
                .measurementTime(TimeValue.seconds(2))
                .shouldFailOnError(true);
        (names.isEmpty() ? List.of(ALL) : names).forEach(options::include);
        new Runner(options.build()).run();
        return 0;
    }
}
