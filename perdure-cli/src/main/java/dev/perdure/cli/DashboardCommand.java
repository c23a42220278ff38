package dev.perdure.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.cli.dashboard.SampleTraffic;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.dashboard.Dashboard;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves the dashboard until Ctrl-C. */
@Command(
        name = "dashboard",
        mixinStandardHelpOptions = true,
        description = "Serve the dashboard of a database until Ctrl-C, and print its address.")
final class DashboardCommand implements Callable<Integer> {
    private static final int DEMO_CONNECTIONS = 24;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private Output output = new Output();

    @Option(
            names = "--port",
            defaultValue = "8080",
            description = "The port on loopback. Default: ${DEFAULT-VALUE}; 0 takes a free one.")
    private int port;

    @Option(
            names = "--demo",
            description = "Start an embedded PostgreSQL with two workers and a busy sample shop, and show that.")
    private boolean demo;

    DashboardCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        return demo ? demo() : database.with(open -> serve(open.perdure()));
    }

    private int demo() {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = pool(postgres);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure first = SampleTraffic.worker(store, "2026.11.4").start();
                Perdure second = SampleTraffic.worker(store, "2026.11.3").start();
                SampleTraffic traffic = new SampleTraffic(second)) {
            traffic.start();
            return serve(first);
        }
    }

    private int serve(Perdure perdure) {
        try (Dashboard dashboard = Dashboard.on(perdure)
                .port(port)
                .caller(database.operator().name())
                .start()) {
            output.print(
                    new Page(Instant.now())
                            .value("address", dashboard.address())
                            .note(dashboard.address().toString())
                            .note(
                                    "Open it in a browser. It has the token that allows actions: keep it to yourself. Press Ctrl-C to stop."));
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(DEMO_CONNECTIONS);
        return new HikariDataSource(config);
    }
}
