package dev.perdure.benchmarks.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Server;
import dev.perdure.benchmarks.workload.StepRunner;
import org.junit.jupiter.api.Test;

/** Runs that the benchmark writes with SQL do not differ from runs of the engine. */
final class FinishedRunsIT {
    private static final String INDEXES = """
            SELECT string_agg(indexdef, E'\\n' ORDER BY indexdef) FROM pg_indexes WHERE schemaname = 'perdure'
            """;

    /** All columns but those that name a run, and times. */
    private static final String RUN = """
            SELECT (to_jsonb(r) - '{key,seed,id,partition,created_at,changed_at,owner}'::text[])::text
            FROM perdure.run r WHERE id %s 'done-%%' ORDER BY key DESC LIMIT 1
            """;

    private static final String JOURNAL = """
            SELECT string_agg((to_jsonb(j) - '{key,partition,at,payload}'::text[])::text, E'\\n' ORDER BY position)
            FROM perdure.journal j WHERE key = (SELECT key FROM perdure.run WHERE id %s 'done-%%' ORDER BY key DESC LIMIT 1)
            """;

    @Test
    void written_runs_look_like_those_that_have_run_and_all_indexes_are_there_again() throws Exception {
        try (Server server = Server.embedded()) {
            BenchDatabase database = server.fresh("finished");
            try (StepRunner runner = PerdureSteps.open(database)) {
                runner.run(1);
            }
            String indexes = database.text(INDEXES);
            FinishedRuns.write(database, 300);
            assertThat(database.text(INDEXES)).isEqualTo(indexes);
            assertThat(database.number("SELECT count(*) FROM perdure.run")).isEqualTo(301);
            assertThat(database.number("SELECT count(*) FROM perdure.event")).isZero();
            assertThat(database.text(RUN.formatted("LIKE"))).isEqualTo(database.text(RUN.formatted("NOT LIKE")));
            assertThat(database.text(JOURNAL.formatted("LIKE")))
                    .isEqualTo(database.text(JOURNAL.formatted("NOT LIKE")));
            try (StepRunner runner = PerdureSteps.open(database)) {
                runner.run(1);
            }
            assertThat(database.number("SELECT count(*) FROM perdure.run")).isEqualTo(302);
        }
    }
}
