package dev.perdure.dashboard;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pages show their data at once, however many runs there are. */
@Tag("thorough")
class MillionRunsPagesIT {
    private static final int MOST_MILLIS = 500;
    private static final int VISITS = 5;

    /** A million runs of the last 30 days. Of a thousand, one has failed; the others have completed. */
    private static final String GENERATED = """
            INSERT INTO perdure.run (key, seed, epoch, created_at, changed_at, wake_at, priority, partition, state, id, definition, queue, reason)
            SELECT i * 256, i, 1, at, at + interval '3 seconds', NULL, 0, 0, CASE WHEN i % 1000 = 17 THEN 7 ELSE 6 END,
                   'run-' || md5(i::text), CASE WHEN i % 20 = 0 THEN 'order' ELSE 'definition-' || i % 20 END, 'default',
                   CASE WHEN i % 1000 = 17 THEN 'Error: ' || i % 7 END
            FROM (
                SELECT i, now() - interval '30 days' * (1 - i::float / 1000000) AS at
                FROM generate_series(1::bigint, 1000000) AS i
            ) AS generated
            """;

    @Test
    void every_page_shows_its_data_within_500_ms() throws SQLException {
        Optional<Path> program = Chromium.find();
        assumeThat(program).as("a Chromium").isPresent();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = pool(postgres);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new TestShop(), new TestShop.Shelf(), TestShop.CHAIN)
                        .start();
                Dashboard dashboard = Dashboard.on(perdure).start();
                Chromium chromium = Chromium.start(program.orElseThrow());
                Tab tab = chromium.open(1280, 900)) {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(GENERATED);
                statement.execute("VACUUM ANALYZE perdure.run");
            }
            perdure.start(TestShop::order, "a lamp", id("order-1")).result();
            perdure.start(TestShop.CHAIN, "x", id("chain-1")).result();
            tab.go(dashboard.address());
            tab.sees("Overview");
            Map<String, Long> millis = new LinkedHashMap<>();
            for (String page : List.of(
                    "/",
                    "/runs",
                    "/runs?state=FAILED",
                    "/runs?definition=order",
                    "/runs/order-1",
                    "/runs/chain-1",
                    "/definitions",
                    "/definitions/order",
                    "/objects",
                    "/queues",
                    "/schedules",
                    "/workers",
                    "/database")) {
                millis.put(page, best(tab, dashboard, page));
            }
            System.out.println("Milliseconds until a page shows its data, with 1,000,000 runs: " + millis);
            assertThat(millis)
                    .allSatisfy((page, taken) -> assertThat(taken).as(page).isLessThan(MOST_MILLIS));
        }
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(20);
        return new HikariDataSource(config);
    }

    /** The shortest of some visits, from the click until no panel of the page waits for data. */
    private static long best(Tab tab, Dashboard dashboard, String page) {
        long best = Long.MAX_VALUE;
        for (int visit = 0; visit < VISITS; visit++) {
            tab.go("http://%s%s".formatted(dashboard.address().getAuthority(), page));
            tab.awaits("document.querySelector('h1') && !document.querySelector('.load')");
            best = Math.min(best, tab.evaluate("Math.round(performance.now())").asLong());
        }
        return best;
    }
}
