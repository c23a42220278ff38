package dev.perdure.cli;

import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Keeps an embedded server running for development. */
@Command(
        name = "dev",
        mixinStandardHelpOptions = true,
        description = "Run an embedded PostgreSQL until Ctrl-C, and print its JDBC URL.")
final class DevCommand implements Callable<Integer> {
    @Mixin
    private Output output = new Output();

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
            String url = "%s?user=%s&password=%s".formatted(postgres.jdbcUrl(), postgres.user(), postgres.password());
            output.print(new Page(Instant.now())
                    .value("url", url)
                    .value("folder", folder.toAbsolutePath())
                    .note(url)
                    .note("Press Ctrl-C to stop. The data stay in " + folder.toAbsolutePath() + "."));
            new CountDownLatch(1).await();
        }
        return 0;
    }
}
