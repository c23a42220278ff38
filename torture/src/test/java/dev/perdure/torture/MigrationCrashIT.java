package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.StopMode;
import dev.perdure.error.PerdureException;
import dev.perdure.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** PostgreSQL crashes while a store migrates: the next start goes on, and the schema is that of a migration without a crash. */
@Tag("thorough")
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class MigrationCrashIT {
    private static final int TRIES = 10;
    private static final Definition<Integer, Integer> DOUBLE = Definition.of(
            "double", Integer.class, Integer.class, (ctx, number) -> ctx.step("double", () -> 2 * number));

    private static final String IS_MIGRATING = """
            SELECT count(*) > 0 FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%%CREATE TABLE%%%s.%%'
            """;
    private static final String SHAPE = """
            SELECT md5(string_agg(format('%%s %%s %%s', table_name, column_name, data_type), ',' ORDER BY table_name, column_name))
            FROM information_schema.columns WHERE table_schema = '%s'
            """;

    @Test
    void the_next_start_goes_on_with_the_migration() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
            open(server, "sound").close();
            String schema = crashed(server);
            try (PostgresStore store = open(server, schema);
                    Perdure perdure = Perdure.on(store).register(DOUBLE).start()) {
                assertThat(perdure.start(Invocation.of(DOUBLE, 21)).result(Duration.ofSeconds(30)))
                        .isEqualTo(42);
            }
            assertThat(text(server, SHAPE.formatted(schema)))
                    .isNotNull()
                    .isEqualTo(text(server, SHAPE.formatted("sound")));
        }
    }

    /** Stops and starts the server until that was in the middle of a migration; gives the schema that was migrated. */
    private static String crashed(EmbeddedPostgres server) throws Exception {
        for (int number = 0; number < TRIES; number++) {
            String schema = "crashed_" + number;
            CompletableFuture<Boolean> migrated = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> {
                try {
                    open(server, schema).close();
                    migrated.complete(true);
                } catch (PerdureException crashed) {
                    migrated.complete(false);
                }
            });
            while (!migrated.isDone()
                    && !text(server, IS_MIGRATING.formatted(schema)).equals("t")) {
                Thread.onSpinWait();
            }
            server.stop(StopMode.IMMEDIATE);
            server.restart();
            if (!migrated.get(1, TimeUnit.MINUTES)) {
                return schema;
            }
        }
        throw new AssertionError("No crash was in the middle of a migration.");
    }

    private static PostgresStore open(EmbeddedPostgres server, String schema) {
        return PostgresStore.on(server.dataSource()).schema(schema).open();
    }

    private static String text(EmbeddedPostgres server, String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
