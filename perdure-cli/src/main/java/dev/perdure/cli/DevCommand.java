package dev.perdure.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.audit.Operator;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.dashboard.Dashboard;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import dev.perdure.postgres.PostgresStore;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Keeps an embedded server running for development, with its dashboard. */
@Command(
        name = "dev",
        mixinStandardHelpOptions = true,
        description = "Run an embedded PostgreSQL with the dashboard until Ctrl-C, and print where they are.")
final class DevCommand implements Callable<Integer> {
    private static final int CONNECTIONS = 4;

    @Mixin
    private Output output = new Output();

    @Option(
            names = "--folder",
            defaultValue = ".perdure/dev",
            description = "The data folder, kept between runs. Default: ${DEFAULT-VALUE}.")
    private Path folder = Path.of(".perdure/dev");

    @Option(names = "--port", defaultValue = "0", description = "The port on loopback. Default: a free one.")
    private int port;

    @Option(
            names = "--dashboard-port",
            defaultValue = "0",
            description = "The port of the dashboard on loopback. Default: a free one.")
    private int dashboardPort;

    DevCommand() {}

    @Override
    public Integer call() {
        Options options = EmbeddedPostgres.options().dataFolder(folder);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(port == 0 ? options : options.port(port));
                HikariDataSource pool = new HikariDataSource(config(postgres));
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).client();
                Dashboard dashboard = Dashboard.on(perdure)
                        .port(dashboardPort)
                        .caller(Operator.ofProcess().name())
                        .start()) {
            String url = "%s?user=%s&password=%s".formatted(postgres.jdbcUrl(), postgres.user(), postgres.password());
            output.print(new Page(Instant.now())
                    .value("url", url)
                    .value("dashboard", dashboard.address())
                    .value("folder", folder.toAbsolutePath())
                    .note(url)
                    .note("The dashboard is at " + dashboard.address())
                    .note("Press Ctrl-C to stop. The data stay in " + folder.toAbsolutePath() + "."));
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private static HikariConfig config(EmbeddedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setMinimumIdle(0);
        return config;
    }
}
