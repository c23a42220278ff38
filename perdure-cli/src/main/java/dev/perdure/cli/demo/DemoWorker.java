package dev.perdure.cli.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.time.Duration;

/** A worker process of the demo. Ends when its standard input does, so that it cannot outlive the demo. */
public final class DemoWorker {
    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration PACKING = Duration.ofSeconds(2);

    private DemoWorker() {}

    /** Arguments: the JDBC URL, the user; the password comes in {@code PGPASSWORD}. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = pool(args[0], args[1], System.getenv("PGPASSWORD"));
                PostgresStore store = PostgresStore.on(pool).open()) {
            OrderWorkflow workflow = new OrderWorkflow(new EffectLog(pool, PACKING));
            Perdure worker = Perdure.on(store)
                    .register(workflow, new Ticks.Code())
                    .lease(LEASE)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }

    static HikariDataSource pool(String url, String user, String password) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(6);
        return new HikariDataSource(config);
    }
}
