package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the catalogue of the server says of the schema: rules for everything in it, also for what comes. */
final class CatalogueIT {
    private static final String SCHEMA = TestServer.newSchema();

    @BeforeAll
    static void migrate() {
        PostgresStore.on(TestServer.plain()).schema(SCHEMA).open().close();
    }

    @Test
    void every_table_has_a_primary_key() {
        assertThat(TestServer.query("SELECT count(*) > 30 FROM pg_tables WHERE schemaname = '%s'".formatted(SCHEMA)))
                .isEqualTo("t");
        assertThat(TestServer.query("""
                        SELECT c.relname FROM pg_class c WHERE c.relnamespace = '%s'::regnamespace AND c.relkind IN ('r', 'p')
                          AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')""".formatted(SCHEMA))).isEmpty();
    }

    @Test
    void no_function_that_catches_exceptions_runs_in_parallel_plans() {
        String catching = """
                SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
                WHERE pronamespace = '%s'::regnamespace AND prosrc ~ 'EXCEPTION\\s+WHEN' AND (proparallel = 'u') = %s""";
        assertThat(TestServer.query(catching.formatted(SCHEMA, "true"))).contains("payload_json", "payload_text");
        assertThat(TestServer.query(catching.formatted(SCHEMA, "false"))).isEqualTo("null");
    }
}
