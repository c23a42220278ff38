package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Somebody replicates the whole database: another team's publication for all tables, with a subscriber. */
final class ReplicaIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void workers_go_on_beside_a_publication_of_all_tables_and_its_subscriber_has_what_they_write() throws SQLException {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
            ctx.sleep(Duration.ofMillis(1));
            return ctx.step("shout", () -> in + "!");
        });
        var settings = EmbeddedPostgres.options().setting("wal_level", "logical");
        try (EmbeddedPostgres server = EmbeddedPostgres.start(settings);
                EmbeddedPostgres replica = EmbeddedPostgres.start(EmbeddedPostgres.options());
                PostgresStore store = PostgresStore.on(server.dataSource()).open()) {
            PostgresStore.on(replica.dataSource()).open().close();
            execute(
                    replica.dataSource(),
                    "TRUNCATE perdure.migration, perdure.secret, perdure.inbox_lock, perdure.retention");
            execute(server.dataSource(), "CREATE PUBLICATION everything FOR ALL TABLES");
            execute(
                    replica.dataSource(),
                    "CREATE SUBSCRIPTION copy CONNECTION 'host=127.0.0.1 port=%d dbname=postgres user=%s password=%s' PUBLICATION everything"
                            .formatted(server.port(), server.user(), server.password()));
            try (Perdure perdure =
                    Perdure.on(store).register(flow).warmWindow(Duration.ZERO).start()) {
                List<Run<String>> runs = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    runs.add(perdure.start(Invocation.of(flow, "a" + i), id("r-" + i)));
                }
                assertThat(runs)
                        .allSatisfy(run -> assertThat(run.result(PATIENCE)).endsWith("!"));
            }
            String ended = "SELECT count(*) FROM perdure.run WHERE state = 6";
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(query(replica.dataSource(), ended)).isEqualTo("20"));
            assertThat(query(replica.dataSource(), "SELECT count(*) FROM perdure.ready"))
                    .isEqualTo("0");
            execute(replica.dataSource(), "DROP SUBSCRIPTION copy");
        }
    }

    private static void execute(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
