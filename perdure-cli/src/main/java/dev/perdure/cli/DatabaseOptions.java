package dev.perdure.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.audit.Operator;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresStore;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a command that connects to a database. */
final class DatabaseOptions {
    private static final int POOL_SIZE = 4;
    private static final long CONNECT_MILLIS = 5_000;

    @Option(
            names = "--url",
            defaultValue = "${env:PERDURE_URL}",
            paramLabel = "JDBC-URL",
            description = "The database, such as jdbc:postgresql://localhost/app. Default: $PERDURE_URL.")
    private @Nullable String url;

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

    @Option(
            names = "--by",
            paramLabel = "NAME",
            description = "The operator whom the audit records. Default: the user of this machine.")
    private @Nullable String operator;

    DatabaseOptions() {}

    String schema() {
        return schema;
    }

    /** Brings the schema up to date. */
    void migrate() {
        try (HikariDataSource pool = new HikariDataSource(config())) {
            open(pool, true).close();
        }
    }

    /** Whom the audit records. */
    Operator operator() {
        Operator user = Operator.ofProcess();
        return operator == null ? user : new Operator(operator, user.origin());
    }

    /** Calls a function with the database, which is open until it returns. */
    <T> T with(Function<OpenDatabase, T> work) {
        try (HikariDataSource pool = new HikariDataSource(config());
                PostgresStore store = open(pool, false);
                Perdure perdure = Perdure.on(store).operator(operator()).client()) {
            return work.apply(new OpenDatabase(store, perdure, OpenDatabase.clockOf(pool)));
        }
    }

    private PostgresStore open(HikariDataSource pool, boolean migrate) {
        return PostgresStore.on(pool)
                .schema(schema)
                .notifications(false)
                .migrate(migrate)
                .open();
    }

    private HikariConfig config() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(checkedUrl());
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(CONNECT_MILLIS);
        config.setInitializationFailTimeout(-1);
        return config;
    }

    private String checkedUrl() {
        if (url == null || url.isEmpty()) {
            throw new InvalidRequestException(
                    "No database is given. Use --url jdbc:postgresql://host:port/database, or set PERDURE_URL.");
        }
        try {
            DriverManager.getDriver(url); // PostgreSQL's is the only driver on the class path
        } catch (SQLException noDriver) {
            throw new InvalidRequestException(
                    "'%s' is not a PostgreSQL URL. Write jdbc:postgresql://host:port/database.".formatted(url));
        }
        return url;
    }
}
