package dev.perdure.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.StoreException;
import dev.perdure.postgres.PostgresStore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which database, and as whom. */
final class DatabaseOptions {
    private static final int POOL_SIZE = 4;
    private static final long CONNECT_MILLIS = 5_000;

    @Option(
            names = "--url",
            required = true,
            defaultValue = "${env:PERDURE_URL}",
            paramLabel = "JDBC-URL",
            description = "The database, such as jdbc:postgresql://localhost/app. Default: $PERDURE_URL.")
    private String url = "";

    @Option(
            names = "--user",
            defaultValue = "${env:PGUSER}",
            description = "The database user, if the URL does not name it. Default: $PGUSER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            defaultValue = "${env:PGPASSWORD}",
            description = "The password, if the URL does not have it. Default: $PGPASSWORD.")
    private @Nullable String password;

    @Option(names = "--schema", defaultValue = "perdure", description = "The schema. Default: ${DEFAULT-VALUE}.")
    private String schema = "perdure";

    DatabaseOptions() {}

    String schema() {
        return schema;
    }

    /** Does something with an engine that runs nothing itself. */
    <T> T withClient(Function<Perdure, T> work) {
        return withStore(false, store -> {
            try (Perdure client = Perdure.on(store).client()) {
                return work.apply(client);
            }
        });
    }

    /** Does something with an open store. */
    <T> T withStore(boolean migrate, Function<PostgresStore, T> work) {
        try (HikariDataSource pool = new HikariDataSource(config());
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .migrate(migrate)
                        .open()) {
            return work.apply(store);
        }
    }

    private HikariConfig config() {
        if (!url.startsWith("jdbc:postgresql:")) {
            throw new StoreException(
                    StoreException.Kind.UNUSABLE,
                    "'%s' is not a PostgreSQL URL. Write jdbc:postgresql://host:port/database.".formatted(url),
                    null);
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setInitializationFailTimeout(-1);
        return config;
    }
}
