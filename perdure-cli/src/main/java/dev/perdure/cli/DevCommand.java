package dev.perdure.cli;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Keeps an embedded server running for development. */
@Command(
        name = "dev",
        mixinStandardHelpOptions = true,
        description = "Run an embedded PostgreSQL until Ctrl-C, and print its JDBC URL.")
final class DevCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--folder",
            defaultValue = ".perdure/dev",
            description = "The data folder, kept between runs. Default: ${DEFAULT-VALUE}.")
    private Path folder = Path.of(".perdure/dev");

    @Option(names = "--port", defaultValue = "0", description = "The port on loopback. Default: a free one.")
    private int port;

    DevCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        Options options = EmbeddedPostgres.options().dataFolder(folder);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(port == 0 ? options : options.port(port))) {
            PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
            out.printf("%s?user=%s&password=%s%n", postgres.jdbcUrl(), postgres.user(), postgres.password());
            out.println("Press Ctrl-C to stop. The data stay in " + folder.toAbsolutePath() + ".");
            out.flush();
            new CountDownLatch(1).await();
        }
        return 0;
    }
}
