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
        assertThat(TestServer.query("""
                        SELECT proname FROM pg_proc WHERE pronamespace = '%s'::regnamespace
                          AND prosrc ~ 'EXCEPTION\\s+WHEN' ORDER BY 1""".formatted(SCHEMA))).isEqualTo("payload_json\npayload_text");
        assertThat(TestServer.query("""
                        SELECT proname FROM pg_proc WHERE pronamespace = '%s'::regnamespace AND proparallel <> 'u'
                          AND prosrc ~ 'EXCEPTION\\s+WHEN'""".formatted(SCHEMA))).isEmpty();
    }
}
