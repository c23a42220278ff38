package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.TypeRef;
import dev.perdure.audit.Operator;
import dev.perdure.error.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokens of awakeables: a role that reads tables or views cannot use one. */
final class AwakeableTokensIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String schema = TestServer.newSchema();
    private final String worker = "worker_" + schema;
    private final String viewer = "viewer_" + schema;
    private final BlockingQueue<String> tokens = new LinkedBlockingQueue<>();
    private final Definition<String, String> waiter =
            Definition.of("waiter", String.class, String.class, (ctx, name) -> {
                var awakeable = ctx.awakeable(String.class);
                ctx.step("hand over", () -> tokens.add(awakeable.token()));
                return awakeable.await();
            });
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    @BeforeEach
    void open() {
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(worker));
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(viewer));
        TestServer.execute(PostgresStore.grants(schema, worker, viewer));
        pool = TestServer.pool(TestServer.plain(worker, "secret"), 6);
        store = PostgresStore.on(pool).schema(schema).open();
        perdure = Perdure.on(store).register(waiter).start();
    }

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    private String handedOver() throws InterruptedException {
        return tokens.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Where it can be read, by this role, in any way that bytes are shown in. */
    private List<String> whereItCanBeRead(String token, String user) throws SQLException {
        byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
        List<String> ways = List.of(
                token, HexFormat.of().formatHex(bytes), Base64.getEncoder().encodeToString(bytes));
        List<String> found = new ArrayList<>();
        try (Connection connection = user.isEmpty()
                        ? TestServer.plain().getConnection()
                        : TestServer.plain(user, "secret").getConnection();
                Statement statement = connection.createStatement()) {
            List<String> relations = column(statement, """
                SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = '%s' AND c.relkind IN ('r', 'v') AND has_table_privilege(c.oid, 'SELECT')
                """.formatted(schema));
            assertThat(relations).contains("journals", "mails", "runs");
            for (String relation : relations) {
                String rows =
                        String.join("\n", column(statement, "SELECT t::text FROM %s.%s t".formatted(schema, relation)));
                if (ways.stream().anyMatch(rows::contains)) {
                    found.add(relation);
                }
            }
        }
        return found;
    }

    private static List<String> column(Statement statement, String question) throws SQLException {
        List<String> values = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(question)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }

    @Test
    void no_table_and_no_view_shows_a_token_before_or_after_its_answer() throws Exception {
        Run<String> run = perdure.start(Invocation.of(waiter, "a"), id("a"));
        String token = handedOver();
        assertThat(whereItCanBeRead(token, viewer)).isEmpty();
        assertThat(whereItCanBeRead(token, worker)).isEmpty();
        assertThat(whereItCanBeRead(token, "")).isEmpty();
        assertThat(run.history()).noneMatch(event -> event.text().contains(token));
        perdure.resolve(token, "answered");
        assertThat(run.result(PATIENCE)).isEqualTo("answered");
        assertThat(whereItCanBeRead(token, "")).isEmpty();
    }

    @Test
    void only_the_owner_and_workers_read_the_secret() throws Exception {
        String question = "SELECT value FROM %s.secret".formatted(schema);
        for (String user : List.of(viewer, worker)) {
            try (Connection connection = TestServer.plain(user, "secret").getConnection();
                    Statement statement = connection.createStatement()) {
                if (user.equals(worker)) {
                    assertThat(column(statement, question)).hasSize(1);
                    assertThatThrownBy(() -> statement.execute("DELETE FROM %s.secret".formatted(schema)))
                            .isInstanceOf(SQLException.class);
                } else {
                    assertThatThrownBy(() -> statement.executeQuery(question)).isInstanceOf(SQLException.class);
                }
            }
        }
    }

    @Test
    void every_process_on_a_schema_has_the_same_secret_and_another_schema_another() {
        try (PostgresStore beside =
                        PostgresStore.on(TestServer.plain()).schema(schema).open();
                PostgresStore elsewhere = PostgresStore.on(TestServer.plain())
                        .schema(TestServer.newSchema())
                        .open()) {
            assertThat(beside.mailboxes().secret())
                    .isEqualTo(store.mailboxes().secret())
                    .isNotEqualTo(elsewhere.mailboxes().secret());
        }
    }

    @Test
    void a_viewer_sees_who_answered_in_place_of_the_holder_of_the_token() throws Exception {
        Run<String> run = perdure.start(Invocation.of(waiter, "a"), id("a"));
        String token = handedOver();
        perdure.as(Operator.named("anna"))
                .run(run.id(), TypeRef.of(String.class))
                .resolveAwakeable(1, "by hand");
        assertThat(run.result(PATIENCE)).isEqualTo("by hand");
        try (Connection connection = TestServer.plain(viewer, "secret").getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(column(
                            statement,
                            "SELECT concat_ws(' ', name, position, action, operator) FROM %s.audits".formatted(schema)))
                    .containsExactly("a 1 RESOLVE anna");
        }
        assertThat(whereItCanBeRead(token, "")).isEmpty();
    }

    @Test
    void a_token_in_a_journal_of_an_earlier_version_is_not_shown_and_still_works() throws Exception {
        Run<String> run = perdure.start(Invocation.of(waiter, "a"), id("a"));
        handedOver();
        String old = "awk_" + "A".repeat(32);
        TestServer.execute("""
            UPDATE %1$s.journal SET payload = '%2$s' WHERE kind = 9;
            UPDATE %1$s.awakeable SET hash = translate(encode(sha256('%2$s'), 'base64'), '+/=', '-_')
            """.formatted(schema, old));
        assertThat(whereItCanBeRead(old, viewer)).isEmpty();
        perdure.resolve(old, "still");
        assertThat(run.result(PATIENCE)).isEqualTo("still");
    }

    @Test
    void a_schema_without_its_secret_is_refused_with_the_remedy() {
        TestServer.execute("DELETE FROM %s.secret".formatted(schema));
        PostgresStoreBuilder builder = PostgresStore.on(TestServer.plain()).schema(schema);
        assertThatThrownBy(builder::open)
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("The table '%s.secret' is empty".formatted(schema))
                .hasMessageContaining("INSERT INTO %s.secret DEFAULT VALUES".formatted(schema));
        TestServer.execute("INSERT INTO %s.secret DEFAULT VALUES".formatted(schema));
        builder.open().close();
    }
}
