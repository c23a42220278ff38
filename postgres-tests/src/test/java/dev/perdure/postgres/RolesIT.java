package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Hints;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the roles of the documentation may do, and what they may not, by what the server says and by trying it. */
final class RolesIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String DENIED = "42501";

    private static final String SCHEMA = TestServer.newSchema();
    private static final String WORKER = "worker_" + SCHEMA;
    private static final String VIEWER = "viewer_" + SCHEMA;
    private static final String STRANGER = "stranger_" + SCHEMA;

    @BeforeAll
    static void createRoles() {
        PostgresStore.on(TestServer.plain()).schema(SCHEMA).open().close();
        for (String role : List.of(WORKER, VIEWER, STRANGER)) {
            TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(role));
        }
        TestServer.execute(PostgresStore.grants(SCHEMA, WORKER, VIEWER));
    }

    /** The relations of the schema on which a role has one of these rights. */
    private static List<String> relations(String role, String rights) {
        return TestServer.query("""
                SELECT c.relname FROM pg_class c
                WHERE c.relnamespace = '%s'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
                  AND has_table_privilege('%s', c.oid, '%s') ORDER BY 1""".formatted(SCHEMA, role, rights)).lines().toList();
    }

    private static List<String> views() {
        return TestServer.query("SELECT viewname FROM pg_views WHERE schemaname = '%s' ORDER BY 1".formatted(SCHEMA))
                .lines()
                .toList();
    }

    private static void assertDenied(String role, String... statements) throws SQLException {
        for (String each : statements) {
            String sql = each.replace("${schema}", SCHEMA);
            try (Connection connection = TestServer.plain(role, "secret").getConnection();
                    Statement statement = connection.createStatement()) {
                SQLException refused = catchThrowableOfType(SQLException.class, () -> statement.execute(sql));
                assertThat(refused == null ? "done" : refused.getSQLState())
                        .as("%s as %s: %s", sql, role, refused)
                        .isEqualTo(DENIED);
            }
        }
    }

    @Test
    void a_viewer_reads_all_views_and_nothing_else_and_writes_nothing() {
        assertThat(views()).hasSizeGreaterThan(15);
        assertThat(relations(VIEWER, "SELECT")).isEqualTo(views());
        assertThat(relations(VIEWER, "INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER"))
                .isEmpty();
        assertThat(TestServer.query("""
                        SELECT count(*) FROM pg_class c WHERE c.relnamespace = '%s'::regnamespace
                          AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege('%s', c.oid, 'USAGE, SELECT, UPDATE') END""".formatted(SCHEMA, VIEWER))).isEqualTo("0");
        assertThatThrownBy(() -> PostgresStore.on(TestServer.plain(VIEWER, "secret"))
                        .schema(SCHEMA)
                        .open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("The role lacks rights: let the owner migrate and grant them");
    }

    @Test
    void a_viewer_starts_nothing_through_functions_and_changes_no_schema() throws SQLException {
        assertDenied(
                VIEWER,
                "SELECT ${schema}.start_run('order', 'o-1')",
                "SELECT ${schema}.send_message('o-1', 'approved', '1')",
                "SELECT value FROM ${schema}.secret",
                "SELECT * FROM ${schema}.journal",
                "CREATE TABLE ${schema}.mine ()",
                "CREATE OR REPLACE VIEW ${schema}.runs AS SELECT 1",
                "DROP VIEW ${schema}.runs");
        assertThat(TestServer.query("SELECT count(*) FROM %s.inbox".formatted(SCHEMA)))
                .isEqualTo("0");
    }

    @Test
    void functions_with_the_rights_of_the_owner_only_read_and_look_nowhere_else() {
        String definers = "pronamespace = '%s'::regnamespace AND prosecdef".formatted(SCHEMA);
        assertThat(TestServer.query("SELECT count(*) > 5 FROM pg_proc WHERE " + definers))
                .isEqualTo("t");
        assertThat(TestServer.query("SELECT proname FROM pg_proc WHERE %s AND (provolatile = 'v' OR proconfig IS NULL)"
                        .formatted(definers)))
                .isEmpty();
    }

    @Test
    void functions_that_choose_where_to_look_look_into_the_temporary_schema_of_the_caller_last() {
        assertThat(TestServer.query("""
                        SELECT DISTINCT path FROM pg_proc, unnest(proconfig) AS path
                        WHERE pronamespace = '%s'::regnamespace AND path LIKE 'search_path=%%'""".formatted(SCHEMA))).isEqualTo("search_path=pg_catalog, pg_temp");
    }

    @Test
    void a_worker_cannot_change_the_schema_the_secret_or_what_was_migrated() throws SQLException {
        assertThat(relations(WORKER, "TRUNCATE, REFERENCES, TRIGGER")).isEmpty();
        assertDenied(
                WORKER,
                "CREATE TABLE ${schema}.mine ()",
                "ALTER TABLE ${schema}.run ADD COLUMN mine text",
                "DROP TABLE ${schema}.run",
                "TRUNCATE ${schema}.run",
                "CREATE INDEX ON ${schema}.run (memo)",
                "CREATE OR REPLACE FUNCTION ${schema}.state_name(state smallint) RETURNS text LANGUAGE sql AS 'SELECT ''x'''",
                "DROP FUNCTION ${schema}.state_name(smallint)",
                "CREATE TRIGGER t AFTER INSERT ON ${schema}.run EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                "UPDATE ${schema}.secret SET value = '\\x00'",
                "DELETE FROM ${schema}.secret",
                "INSERT INTO ${schema}.migration (version) VALUES (999)",
                "DELETE FROM ${schema}.migration",
                "DELETE FROM ${schema}.retention",
                "DROP SCHEMA ${schema} CASCADE",
                "CREATE ROLE mine",
                "SELECT pg_read_file('/etc/passwd')",
                "COPY ${schema}.run TO PROGRAM 'cat'");
    }

    @Test
    void a_role_without_grants_and_a_worker_of_another_schema_get_in_nowhere() throws SQLException {
        String elsewhere = TestServer.newSchema();
        PostgresStore.on(TestServer.plain()).schema(elsewhere).open().close();
        assertDenied(
                STRANGER,
                "SELECT * FROM ${schema}.runs",
                "SELECT ${schema}.state_name(1::smallint)",
                "SELECT ${schema}.start_run('order', 'o-1')");
        assertDenied(
                WORKER,
                "SELECT * FROM %s.runs".formatted(elsewhere),
                "SELECT value FROM %s.secret".formatted(elsewhere));
    }

    @Test
    void what_any_role_notifies_is_a_hint_and_harms_nobody() throws Exception {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> in + "!");
        try (HikariDataSource pool = TestServer.pool(TestServer.plain(WORKER, "secret"), 6);
                PostgresStore store = PostgresStore.on(pool).schema(SCHEMA).open();
                Perdure perdure = Perdure.on(store).register(flow).start()) {
            List<Hints.Hint> heard = new CopyOnWriteArrayList<>();
            store.hints().subscribe(heard::add);
            store.awaitListening();
            Random random = new Random(11);
            List<String> pieces = List.of(
                    "ended h-1",
                    "shows h-1",
                    "worker ",
                    "worker x",
                    "mail",
                    "mail a b c d e",
                    "ready",
                    "watching",
                    "ended ",
                    "\t",
                    "\n\n",
                    "mail 00000000-0000-0000-0000-000000000001 9999999999999999999 1 1 1",
                    "mail 00000000-0000-0000-0000-000000000001 1 1 1 1",
                    "x".repeat(2_000),
                    "ended \uD83D\uDE00");
            try (Connection connection = TestServer.plain(STRANGER, "secret").getConnection();
                    PreparedStatement notify = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
                notify.setString(1, "perdure_" + SCHEMA);
                for (int i = 0; i < 200; i++) {
                    notify.setString(
                            2,
                            pieces.get(random.nextInt(pieces.size())) + "\n"
                                    + pieces.get(random.nextInt(pieces.size())) + "\n"
                                    + pieces.get(random.nextInt(pieces.size())));
                    notify.execute();
                }
                notify.setString(2, "somebody\nended the-last");
                notify.execute();
            }
            await().until(() -> heard.contains(new Hints.RunEnded(RunId.of("the-last"))));
            assertThat(perdure.start(Invocation.of(flow, "a"), id("h-1")).result(PATIENCE))
                    .isEqualTo("a!");
        }
    }
}
