package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Task;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a run leaves in the tables, and what people see of it in the views. */
final class RowsIT {
    private static final String ROWS = """
        SELECT (SELECT count(*) FROM %1$s.journal j WHERE j.key = r.key) || ' ' ||
               (SELECT count(*) FROM %1$s.event e WHERE e.key = r.key)
        FROM %1$s.run r WHERE id = '%2$s'
        """;
    private static final String STATES =
            "SELECT string_agg(number || ' ' || state, ', ' ORDER BY number) FROM %s.events WHERE id = '%s'";
    private static final String TIMES = """
        SELECT bool_and(at >= before) FROM (
            SELECT at, lag(at, 1, at) OVER (ORDER BY number) AS before FROM %s.events WHERE id = '%s'
        ) AS in_order
        """;
    private static final String INPUT = "SELECT input FROM %s.runs WHERE id = '%s'";

    private final String schema = TestServer.schemaOf(RowsIT.class);

    @Test
    void a_run_that_waits_for_a_worker_and_completes_leaves_no_row_for_its_states() {
        try (PostgresStore store =
                PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            StoreFixture fixture = new StoreFixture(store);
            for (String id : List.of("completes", "waits")) {
                store.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun(id), null)));
            }
            List<Claimed> claimed = store.dispatch().poll(fixture.poll(5)).claimed();
            assertThat(claimed).hasSize(2);
            for (Claimed claim : claimed) {
                assertThat(ask(ROWS, claim.run().id().value())).isEqualTo("1 0");
                assertThat(ask(STATES, claim.run().id().value())).isEqualTo("0 READY, 1 RUNNING");
                assertThat(store.runs().entered(claim.run()))
                        .extracting(Runs.Entered::state)
                        .containsExactly(RunState.READY, RunState.RUNNING);
            }
            fixture.apply(StoreFixture.complete(claimed.getFirst().run()));
            fixture.apply(StoreFixture.await(claimed.getLast().run(), Channel.message("news")));
        }
        assertThat(ask(ROWS, "completes")).isEqualTo("2 0");
        assertThat(ask(STATES, "completes")).isEqualTo("0 READY, 1 RUNNING, 2 COMPLETED");
        assertThat(ask(STATES, "waits")).isEqualTo("0 READY, 1 RUNNING, 2 SUSPENDED");
    }

    private String ask(String question, String id) {
        return TestServer.query(question.formatted(schema, id)).strip();
    }

    @Test
    void a_task_that_is_handed_over_and_completes_leaves_a_run_and_an_outcome() throws Exception {
        try (HikariDataSource pool = TestServer.pool(4);
                PostgresStore store = PostgresStore.on(pool).schema(schema).open()) {
            StoreFixture fixture = new StoreFixture(store);
            List<Task> line = List.of(
                    new Task(StoreFixture.newRun("a"), List.of()), new Task(StoreFixture.newRun("b"), List.of(0)));
            Change start = new Change.Start(StoreFixture.newRun("dag"), fixture.worker, List.of(), line);
            Claimed next = ((Outcome.Started) fixture.apply(start)).handed().getFirst();
            for (int ends = 0; ends < 3; ends++) {
                List<Claimed> handed = ((Outcome.Applied) fixture.apply(StoreFixture.completeAndGoOn(next))).handed();
                next = handed.isEmpty() ? next : handed.getFirst();
            }
            assertThat(ask(ROWS, "a")).isEqualTo("1 0");
            assertThat(ask(ROWS, "b")).isEqualTo("1 0");
            assertThat(ask(ROWS, "dag")).isEqualTo("2 0");
        }
        assertThat(ask(STATES, "a")).isEqualTo("0 RUNNING, 1 COMPLETED");
        assertThat(ask(STATES, "b")).isEqualTo("0 PENDING, 1 RUNNING, 2 COMPLETED");
        assertThat(ask(STATES, "dag")).isEqualTo("0 PENDING, 1 RUNNING, 2 COMPLETED");
        for (String id : List.of("a", "b", "dag")) {
            assertThat(ask(TIMES, id)).isEqualTo("t");
            assertThat(ask(INPUT, id)).isEqualTo("{\"id\":1}");
        }
    }
}
