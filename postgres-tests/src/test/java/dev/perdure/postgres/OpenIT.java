package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.setup.Preflight;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Whatever is wrong with the set-up is said when the store opens, with the remedy. */
final class OpenIT {
    private static AbstractThrowableAssert<?, ? extends Throwable> opening(PostgresStoreBuilder builder, Kind kind) {
        return assertThatThrownBy(() -> builder.open().close())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.kind()).isEqualTo(kind));
    }

    @Test
    void an_unreachable_database() {
        PGSimpleDataSource nowhere = TestServer.plain();
        nowhere.setPortNumbers(new int[] {1});

        opening(PostgresStore.on(nowhere), Kind.UNAVAILABLE)
                .hasMessageContaining("cannot be reached")
                .hasMessageContaining("Check that PostgreSQL runs");
    }

    @Test
    void an_unreachable_database_behind_a_pool() {
        PGSimpleDataSource nowhere = TestServer.plain();
        nowhere.setPortNumbers(new int[] {1});
        try (HikariDataSource pool = TestServer.lazyPool(nowhere)) {
            opening(PostgresStore.on(pool), Kind.UNAVAILABLE).hasMessageContaining("cannot be reached");
        }
    }

    @Test
    void a_user_that_is_refused() {
        opening(PostgresStore.on(TestServer.plain("nobody", "wrong")), Kind.UNUSABLE)
                .hasMessageContaining("Check user and password");
        try (HikariDataSource pool = TestServer.lazyPool(TestServer.plain("nobody", "wrong"))) {
            opening(PostgresStore.on(pool), Kind.UNUSABLE).hasMessageContaining("Check user and password");
        }
    }

    @Test
    void a_database_that_does_not_exist() {
        PGSimpleDataSource source = TestServer.plain();
        source.setDatabaseName("missing");

        opening(PostgresStore.on(source), Kind.UNUSABLE).hasMessageContaining("The database does not exist");
    }

    @Test
    void too_few_connections() {
        try (HikariDataSource pool = TestServer.pool(2)) {
            opening(PostgresStore.on(pool).schema(TestServer.newSchema()), Kind.UNUSABLE)
                    .hasMessage(
                            "The DataSource provided 2 connections at once; Perdure needs 3 and takes up to 5. Raise the size of the pool or the limits of the server.");
            opening(PostgresStore.on(pool).schema(TestServer.newSchema()).lanes(6), Kind.UNUSABLE)
                    .hasMessageContaining("needs 3 and takes up to 9.");
            PostgresStore.on(pool)
                    .schema(TestServer.newSchema())
                    .notifications(false)
                    .open()
                    .close();
        }
    }

    @Test
    void a_pooler_that_mixes_up_prepared_statements() {
        for (int connections : new int[] {1, 2, 3}) {
            try (TransactionPooler pooler = new TransactionPooler(connections)) {
                PGSimpleDataSource prepares = pooler.source();
                prepares.setPrepareThreshold(5);
                opening(PostgresStore.on(prepares).schema(TestServer.newSchema()), Kind.UNUSABLE)
                        .hasMessageContaining("prepared statement")
                        .hasMessageContaining("add prepareThreshold=0");
            }
        }
    }

    @Test
    void an_illegal_schema_name() {
        for (String name : new String[] {"", "Perdure", "a b", "1a", "a\"; DROP TABLE x", "pg_temp", "x".repeat(49)}) {
            assertThatThrownBy(() -> PostgresStore.on(TestServer.plain()).schema(name))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Use up to 48 of a-z, 0-9 and _");
        }
        assertThatThrownBy(() -> PostgresStore.on(TestServer.plain()).lanes(0))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void a_server_that_is_too_old() {
        assertThatThrownBy(() -> Preflight.requireVersion(13, "13.9"))
                .isInstanceOf(StoreException.class)
                .hasMessage("The server is PostgreSQL 13.9; Perdure needs 14 or newer. Upgrade the server.");
        Preflight.requireVersion(14, "14.0");
    }

    @Test
    void synchronous_commit_off_unless_allowed() {
        PGSimpleDataSource source = TestServer.plain();
        source.setOptions("-c synchronous_commit=off");

        opening(PostgresStore.on(source).schema(TestServer.newSchema()), Kind.UNUSABLE)
                .hasMessageContaining("synchronous_commit is off")
                .hasMessageContaining("allowUnsafeCommit()");
        PostgresStore.on(source)
                .schema(TestServer.newSchema())
                .allowUnsafeCommit()
                .open()
                .close();
    }

    @Test
    void a_pool_of_read_only_connections() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(TestServer.plain());
        config.setReadOnly(true);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            opening(PostgresStore.on(pool).schema(TestServer.newSchema()), Kind.UNUSABLE)
                    .hasMessage(
                            "The DataSource returns read-only connections, and Perdure writes. Turn readOnly off in the pool or the URL, or pass another DataSource.");
        }
    }

    @Test
    void a_schema_that_citus_manages() throws SQLException {
        try (SharedPostgres.Fresh database = SharedPostgres.database("citus")) {
            PostgresStoreBuilder store = PostgresStore.on(database.dataSource()).notifications(false);
            store.schema("plain").open().close();
            store.schema("sharded").open().close();
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                // Citus itself is in no package for tests. Its catalogs have these names and columns.
                statement.execute("SET allow_system_table_mods = on");
                statement.execute(
                        "CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod \"char\")");
                statement.execute("CREATE TABLE pg_catalog.pg_dist_schema (schemaid oid, colocationid int)");
                statement.execute("INSERT INTO pg_dist_partition VALUES ('sharded.journal', 'h')");
                statement.execute("CREATE SCHEMA tenant");
                statement.execute("INSERT INTO pg_dist_schema VALUES ('tenant'::regnamespace, 1)");
            }
            for (String schema : new String[] {"sharded", "tenant"}) {
                opening(store.schema(schema), Kind.UNUSABLE)
                        .hasMessage(
                                "Citus manages tables of the schema '%s', and its planner cannot run the statements of Perdure. Use a schema that Citus does not manage, or a PostgreSQL without Citus."
                                        .formatted(schema));
            }
            store.schema("plain").open().close();
        }
    }

    @Test
    void a_schema_from_the_future() {
        String schema = TestServer.newSchema();
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute("INSERT INTO %s.migration VALUES (999, 'V999__x.sql', 'x')".formatted(schema));

        opening(PostgresStore.on(TestServer.plain()).schema(schema), Kind.UNUSABLE)
                .hasMessageContaining("has version 999, but this library knows only up to ")
                .hasMessageContaining("Update the library");
    }

    @Test
    void a_schema_of_a_development_version() {
        String schema = TestServer.newSchema();
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        String message =
                "A development version from before 0.1 made the schema '%1$s': this library does not have its migration %2$s, and no migration leads from there. Drop the schema with its runs (DROP SCHEMA %1$s CASCADE), or point the library at another schema.";

        TestServer.execute("INSERT INTO %s.migration VALUES (999, 'V999__x.sql', 'x')".formatted(schema));
        TestServer.execute("INSERT INTO %s.migration VALUES (0, 'V000__x.sql', 'x')".formatted(schema));
        opening(PostgresStore.on(TestServer.plain()).schema(schema), Kind.UNUSABLE)
                .hasMessage(message.formatted(schema, "V000__x.sql"));

        String renamed = "V001__runs_and_journals.sql";
        TestServer.execute("DELETE FROM %s.migration WHERE version <> 1".formatted(schema));
        TestServer.execute("UPDATE %s.migration SET name = '%s'".formatted(schema, renamed));
        opening(PostgresStore.on(TestServer.plain()).schema(schema).migrate(false), Kind.UNUSABLE)
                .hasMessage(message.formatted(schema, renamed));

        TestServer.execute("DROP SCHEMA %s CASCADE".formatted(schema));
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
    }

    @Test
    void a_migration_that_was_edited() {
        String schema = TestServer.newSchema();
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute("UPDATE %s.migration SET checksum = 'other'".formatted(schema));

        opening(PostgresStore.on(TestServer.plain()).schema(schema), Kind.UNUSABLE)
                .hasMessageContaining("was applied from another text");
    }

    @Test
    void a_schema_that_is_not_migrated_and_must_not_be() {
        String schema = TestServer.newSchema();

        opening(PostgresStore.on(TestServer.plain()).schema(schema).migrate(false), Kind.UNUSABLE)
                .hasMessageContaining("has not been migrated")
                .hasMessageContaining("PostgresStore.migrations(\"%s\")".formatted(schema));
    }

    @Test
    void a_role_without_rights() {
        String schema = TestServer.newSchema();
        String role = "role_" + schema;
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(role));
        opening(PostgresStore.on(TestServer.plain(role, "secret")).schema(schema), Kind.UNUSABLE)
                .hasMessageContaining("lacks rights");

        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute("GRANT USAGE ON SCHEMA %s TO %s".formatted(schema, role));
        TestServer.execute("GRANT SELECT ON %s.migration TO %s".formatted(schema, role));
        opening(PostgresStore.on(TestServer.plain(role, "secret")).schema(schema), Kind.UNUSABLE)
                .hasMessageContaining("The role '%s' lacks rights on the schema '%s'".formatted(role, schema))
                .hasMessageContaining("PostgresStore.grants");
    }

    /** All that {@link PostgresStore#grants} gives to a worker, one by one. */
    @Test
    void a_role_that_lacks_one_right() throws SQLException {
        String schema = TestServer.newSchema();
        String role = "role_" + schema;
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(role));
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute(PostgresStore.grants(schema, role, role));
        String rights = TestServer.query("""
                SELECT string_agg(g.privilege_type || ' on ' || g.table_name, ',')
                FROM information_schema.role_table_grants g
                JOIN pg_tables t ON t.schemaname = g.table_schema AND t.tablename = g.table_name
                WHERE g.grantee = '%s' AND g.table_name <> 'migration'""".formatted(role));
        Database database = new Database(Connections.from(TestServer.plain(role, "secret"), 1), () -> null);
        Preflight.requireRights(database, new Schema(schema));
        try (Connection owner = TestServer.plain().getConnection();
                Statement statement = owner.createStatement()) {
            for (String right : rights.split(",", -1)) {
                String on = right.replace(" on ", " ON %s.".formatted(schema));
                statement.execute("REVOKE %s FROM %s".formatted(on, role));
                assertThatThrownBy(() -> Preflight.requireRights(database, new Schema(schema)))
                        .isInstanceOf(StoreException.class)
                        .hasMessage(
                                "The role '%s' lacks rights on the schema '%s': %s. Let its owner grant them: PostgresStore.grants(…) prints the statements."
                                        .formatted(role, schema, right));
                statement.execute("GRANT %s TO %s".formatted(on, role));
            }
            statement.execute("REVOKE USAGE ON SEQUENCE %s.key_block FROM %s".formatted(schema, role));
            assertThatThrownBy(() -> Preflight.requireRights(database, new Schema(schema)))
                    .hasMessageContaining(": USAGE on key_block. ");
        }
    }
}
