package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Updates of runs stay on their page and touch no index, also when whole pages of them are updated at once. */
final class HotUpdatesIT {
    private static final int RUNS = 2_000;
    private static final Definition<Integer, Integer> JOB =
            Definition.of("job", Integer.class, Integer.class, (ctx, number) -> number);

    private final String schema = TestServer.schemaOf(HotUpdatesIT.class);

    @Test
    @SuppressWarnings("try") // the worker does its work by being there
    void claims_and_ends_of_many_runs_touch_no_index() {
        try (HikariDataSource pool = TestServer.pool(4);
                PostgresStore store = PostgresStore.on(pool).schema(schema).open()) {
            try (Perdure client = Perdure.on(store).client()) {
                client.startAll(
                        IntStream.range(0, RUNS).boxed().toList(),
                        number -> Invocation.of(JOB, number),
                        number -> StartOptions.defaults());
            }
            try (Perdure worker = Perdure.on(store).register(JOB).start()) {
                await().until(() ->
                        number("SELECT count(*) FROM %s.ready") + number("SELECT count(*) FROM %s.held") == 0);
            }
        }
        // Sessions report what they counted when they end, which is a moment after the pool was closed.
        await().untilAsserted(() -> assertThat(updates("n_tup_upd")).isEqualTo(2 * RUNS));
        // A transaction that is open beside them, also another test's, keeps some old versions where they are.
        assertThat(updates("n_tup_hot_upd"))
                .as("claimed and ended in their places")
                .isGreaterThan(2 * RUNS * 3 / 4);
    }

    private long updates(String kind) {
        return number("SELECT %s FROM pg_stat_all_tables WHERE schemaname = '%%s' AND relname = 'run'".formatted(kind));
    }

    private long number(String question) {
        return Long.parseLong(TestServer.query(question.formatted(schema)).strip());
    }
}
