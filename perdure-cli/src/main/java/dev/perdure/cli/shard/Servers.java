package dev.perdure.cli.shard;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresShards;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The databases of all shards. */
final class Servers {
    private static final int POOL_SIZE = 12;
    private static final long CONNECT_MILLIS = 5_000;

    @Option(
            names = "--shard",
            paramLabel = "NAME=JDBC-URL",
            description = "A shard and its database. Give all of them, one option for each.")
    private Map<String, String> urls = new LinkedHashMap<>();

    @Option(
            names = "--user",
            defaultValue = "${env:PGUSER}",
            description = "The database user, if a URL does not name it. Default: $PGUSER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            defaultValue = "${env:PGPASSWORD}",
            description = "The password, if a URL does not have it. Default: $PGPASSWORD.")
    private @Nullable String password;

    @Option(names = "--schema", defaultValue = "perdure", description = "The schema. Default: ${DEFAULT-VALUE}.")
    private String schema = "perdure";

    Servers() {}

    /** Calls a function with the servers, which are open until it returns. */
    int with(Function<PostgresShards, Integer> work) {
        if (urls.isEmpty()) {
            throw new InvalidRequestException(
                    "No shard is given. Use --shard a=jdbc:postgresql://host:port/database, once for each shard.");
        }
        Map<String, HikariDataSource> pools = new LinkedHashMap<>();
        try {
            urls.forEach((name, url) -> pools.put(name, pool(name, url)));
            try (PostgresShards shards = PostgresShards.of(Map.copyOf(pools), schema)) {
                return work.apply(shards);
            }
        } finally {
            pools.values().forEach(HikariDataSource::close);
        }
    }

    private HikariDataSource pool(String name, String url) {
        try {
            DriverManager.getDriver(url); // PostgreSQL's is the only driver on the class path
        } catch (SQLException noDriver) {
            throw new InvalidRequestException(
                    "'%s' of shard '%s' is not a PostgreSQL URL. Write jdbc:postgresql://host:port/database."
                            .formatted(url, name));
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }
}
