package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.Attribute;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.read.ObjectListSql;
import dev.perdure.postgres.read.PostgresRuns;
import dev.perdure.postgres.read.QuerySql;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every documented filter finds its first page without reading all runs. */
final class FindingRunsIT {
    private static final Instant NOW = Instant.parse("2030-01-31T00:00:00Z");
    private static final Duration MONTH = Duration.ofDays(30);

    /**
     * Runs of 30 days. Nearly all have completed; twenty are in each of the states of live runs, and of a thousand one is
     * in each of the others. One has a thousandth of the others as children, one is a schedule and has fired as many. A
     * tenth are children of another run.
     * Twenty definitions have a twentieth of the runs each; one has twenty runs, one has 2,500 that are spread evenly.
     */
    private static final String GENERATED = """
            INSERT INTO %1$s.run (key, seed, epoch, created_at, changed_at, wake_at, priority, partition, state, id, definition, queue,
                                  queue_key, version, reason, parent, parent_position)
            SELECT i * 256, i, 1, at, at + interval '3 seconds', NULL, 0, 0, state,
                   CASE i WHEN 1 THEN 'parent' WHEN 2 THEN 'schedule:nightly' ELSE 'run-' || md5(i::text) END,
                   CASE WHEN i %% (%2$s / 20) = 3 THEN 'rare' WHEN i %% (%2$s / 2500) = 13 THEN 'spread' ELSE 'definition-' || i %% 20 END,
                   CASE WHEN i %% 10000 = 4 THEN 'slow' ELSE 'default' END,
                   CASE WHEN i %% 10 = 5 THEN 'customer-' || i %% 5000 END,
                   CASE WHEN i %% 10000 = 6 THEN 'v2' END,
                   CASE WHEN state IN (5, 7, 8, 9) THEN CASE i %% 3 WHEN 0 THEN 'java.net.ConnectException: ' ELSE 'Error: ' END || i END,
                   CASE WHEN i %% 1000 = 7 THEN 256 WHEN i %% 1000 = 8 THEN 512 WHEN i %% 10 = 9 THEN 1024 END,
                   CASE WHEN i %% 1000 = 7 OR i %% 10 = 9 THEN 1 WHEN i %% 1000 = 8 THEN 0 END
            FROM (
                SELECT i, timestamptz '%3$s' - interval '30 days' * (1 - i::float / %2$s) AS at,
                       CASE WHEN i > 5 AND i %% (%2$s / 20) < 5 THEN i %% (%2$s / 20)
                            WHEN i %% 1000 IN (15, 17, 18, 19) THEN i %% 10 ELSE 6 END::smallint AS state
                FROM generate_series(1::bigint, %2$s) AS i
            ) AS generated
            """;

    /** A tenth of the runs has attributes. */
    private static final String ATTRIBUTES = """
            INSERT INTO %1$s.attribute (key, created_at, partition, at, number, name, kind, value)
            SELECT r.key, r.created_at, 0, v.at, v.number, v.name, v.kind, v.value
            FROM %1$s.run r
            CROSS JOIN LATERAL (VALUES
                ('customer', 'text', 'c-' || r.seed %% 9000, NULL::numeric, NULL::timestamptz),
                ('total', 'number', (r.seed / 10)::text, r.seed / 10, NULL),
                ('urgent', 'flag', 'true', NULL, NULL),
                ('due', 'time', 'T' || r.seed, NULL, r.created_at),
                ('tags', 'keywords', 'common', NULL, NULL),
                ('tags', 'keywords', 't-' || r.seed, NULL, NULL)) AS v (name, kind, value, number, at)
            WHERE r.seed %% 10 = 0
            """;

    /** Ten runs are children of a run of another shard, and two report to it. */
    private static final String LINKS = """
            INSERT INTO %1$s.parent_elsewhere (key, parent_key, position, life, partition, answers, parent, created_at)
            SELECT r.key, CASE WHEN r.seed <= 12 THEN 77 ELSE r.seed + 100 END, CASE WHEN r.seed <= 2 THEN 0 ELSE r.seed END, 0, 0, true,
                   'elsewhere', r.created_at
            FROM %1$s.run r WHERE r.seed <= 5000
            """;

    private static final Attribute<String> CUSTOMER = Attribute.text("customer");
    private static final Attribute<Number> TOTAL = Attribute.number("total");
    private static final Attribute<Instant> DUE = Attribute.time("due");
    private static final Attribute<List<String>> TAGS = Attribute.keywords("tags");

    private static void addAttributes(Map<String, RunFilter> filters) {
        RunFilter all = RunFilter.all();
        filters.put("text", all.where(CUSTOMER.is("c-10")));
        filters.put("no such text", all.where(CUSTOMER.is("none")));
        filters.put("number", all.where(TOTAL.is(77)));
        filters.put("all numbers", all.where(TOTAL.atLeast(1)));
        filters.put("small numbers", all.where(TOTAL.below(100)));
        filters.put("numbers between", all.where(TOTAL.atLeast(500)).where(TOTAL.below(520)));
        filters.put("flag", all.where(Attribute.flag("urgent").is(true)));
        filters.put("time", all.where(DUE.atLeast(NOW.minus(Duration.ofMinutes(30)))));
        filters.put("keyword", all.where(TAGS.contains("t-1000")));
        filters.put("common keyword", all.where(TAGS.contains("common")));
        filters.put("text and number", all.where(TOTAL.atLeast(10)).where(CUSTOMER.is("c-10")));
        filters.put("text and state", all.where(CUSTOMER.is("c-10")).state(RunState.COMPLETED));
        filters.put("text, oldest first", all.where(CUSTOMER.is("c-10")).oldestFirst());
    }

    private static Map<String, RunFilter> documented() {
        RunFilter all = RunFilter.all();
        // Before PostgreSQL 16, runs in other states are found by their creation.
        boolean summaries = Integer.parseInt(TestServer.query("SHOW server_version_num")) >= 160_000;
        Set<RunState> rare = EnumSet.of(RunState.PAUSED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED);
        Map<String, RunFilter> filters = new LinkedHashMap<>();
        filters.put("all", all);
        filters.put("oldest first", all.oldestFirst());
        for (RunState state : RunState.values()) {
            if (rare.contains(state) || summaries) {
                filters.put(state.name(), all.state(state));
            }
        }
        filters.put("several states", all.state(RunState.FAILED, RunState.PAUSED, RunState.CANCELLED));
        if (summaries) {
            filters.put("live", all.state(RunState.READY, RunState.RUNNING, RunState.SUSPENDED));
        }
        filters.put("definition", all.definition("definition-3"));
        filters.put("rare definition", all.definition("rare"));
        filters.put("spread definition", all.definition("spread"));
        filters.put("no such definition", all.definition("none"));
        filters.put("queue", all.queue("slow"));
        filters.put("default queue", all.queue("default"));
        filters.put("key", all.key("customer-15"));
        filters.put("version", all.version("v2"));
        filters.put("parent", all.parent(RunId.of("parent")));
        filters.put("root", all.root(RunId.of("parent")));
        filters.put("schedule", all.schedule("nightly"));
        filters.put("id", all.idPrefix("run-0123"));
        filters.put("common beginning of ids", all.idPrefix("run-"));
        filters.put("reason", all.reason("java.net."));
        filters.put("created", all.created(NOW.minus(Duration.ofDays(20)), NOW.minus(Duration.ofDays(19))));
        filters.put("ended", all.ended(NOW.minus(Duration.ofDays(20)), NOW.minus(Duration.ofDays(19))));
        filters.put(
                "ended in ten minutes",
                all.ended(
                        NOW.minus(Duration.ofDays(20)),
                        NOW.minus(Duration.ofDays(20)).plusSeconds(600)));
        filters.put("ended in no run's time", all.ended(NOW.minus(Duration.ofDays(90)), NOW.minus(MONTH)));
        filters.put("definition and state", all.definition("definition-3").state(RunState.FAILED));
        filters.put(
                "state and time", all.state(RunState.FAILED).created(NOW.minus(MONTH), NOW.minus(Duration.ofDays(25))));
        addAttributes(filters);
        return filters;
    }

    /** On the only connection, so that what it reads can be counted. */
    private static Runs runs(HikariDataSource pool, String schema) throws SQLException {
        Database database = new Database(Connections.from(pool, 1), () -> null);
        Schema named = new Schema(schema);
        return new PostgresRuns(
                database, new QuerySql(named), new ObjectListSql(named), new PostgresHints().waitingCallers());
    }

    private static void generate(String schema, int runs) throws SQLException {
        try (HikariDataSource pool = TestServer.pool(3)) {
            PostgresStore.on(pool).schema(schema).notifications(false).open().close();
        }
        TestServer.withoutAutovacuum(schema);
        // On one connection, which reports its own reads of the tables. Another one reports a short read up to ten
        // seconds later.
        try (Connection connection = TestServer.plain().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(GENERATED.formatted(schema, runs, NOW));
            statement.execute(ATTRIBUTES.formatted(schema));
            statement.execute(LINKS.formatted(schema));
            statement.execute("VACUUM ANALYZE %1$s.run, %1$s.attribute".formatted(schema));
            TestServer.reportStatistics(connection);
        }
    }

    /** Rows of the tables run and attribute that queries have looked at, and whole reads of the tables. */
    private record Looked(long rows, long whole) {
        static Looked now(String schema, HikariDataSource pool) throws SQLException {
            try (Connection connection = pool.getConnection()) {
                TestServer.reportStatistics(connection);
            }
            String[] both = TestServer.query("""
                    SELECT sum(idx_tup_fetch) || ' ' || sum(seq_scan) FROM pg_stat_user_tables
                    WHERE schemaname = '%s' AND relname IN ('run', 'attribute')""".formatted(schema)).split(" ", -1);
            return new Looked(Long.parseLong(both[0]), Long.parseLong(both[1]));
        }
    }

    @Test
    void every_documented_filter_looks_at_few_runs_and_never_at_all() throws SQLException {
        String schema = TestServer.newSchema();
        int runs = 200_000;
        generate(schema, runs);
        try (HikariDataSource pool = TestServer.pool(1)) {
            Runs found = runs(pool, schema);
            for (Map.Entry<String, RunFilter> each : documented().entrySet()) {
                Looked before = Looked.now(schema, pool);
                found.list(each.getValue());
                Looked after = Looked.now(schema, pool);
                assertThat(after.whole() - before.whole()).as(each.getKey()).isZero();
                assertThat(after.rows() - before.rows()).as(each.getKey()).isLessThan(runs / 20);
            }
            for (RunFilter filter : List.of(
                    RunFilter.all().parent(RunId.of("elsewhere")),
                    RunFilter.all().schedule("elsewhere"),
                    RunFilter.all().root(RunId.of("elsewhere")))) {
                RunSelection selection = new RunSelection(filter, new RunSelection.Origins(77, 77, List.of(1280L)));
                Looked before = Looked.now(schema, pool);
                assertThat(found.list(selection)).isNotEmpty();
                found.count(selection);
                Looked after = Looked.now(schema, pool);
                assertThat(after.whole() - before.whole()).as("%s", filter).isZero();
                assertThat(after.rows() - before.rows()).as("%s", filter).isLessThan(1_000);
            }
            assertThat(TestServer.query(
                            "EXPLAIN (FORMAT JSON) SELECT awaited FROM %s.runs WHERE id = 'parent'".formatted(schema)))
                    .as("the view finds the children that a run waits for by their parent alone")
                    .contains("run_parent")
                    .doesNotContain("run_state");
            assertThat(found.count(RunFilter.all().state(RunState.COMPLETED, RunState.RUNNING)))
                    .isEqualTo(Map.of(
                            RunState.COMPLETED, new RunCount(RunCount.BOUND, true),
                            RunState.RUNNING, new RunCount(19, false)));
            Looked before = Looked.now(schema, pool);
            assertThat(found.list(RunFilter.all().definition("spread"))).hasSize(100);
            assertThat(Looked.now(schema, pool).rows() - before.rows())
                    .as("the index of creation passes over runs of other definitions")
                    .isLessThan(1_000);
        }
    }

    /** Of one instant, as if one commit had started them, in lives before the current one, and as tasks. */
    private static final String STARTED = """
            INSERT INTO %1$s.run (key, seed, epoch, created_at, changed_at, priority, partition, state, id, definition, queue,
                                  parent, parent_restarts, after, before)
            SELECT i * 256, i, 1, timestamptz '%2$s', timestamptz '%2$s', 0, 0, 6, 'run-' || i, 'order', 'default', parent,
                   CASE WHEN i = 1 OR i %% 20000 = 19999 THEN 0 ELSE 1 END,
                   CASE WHEN parent = 512 THEN '{}'::bigint[] END, CASE WHEN parent = 512 THEN '{}'::bigint[] END
            FROM (
                SELECT i, CASE WHEN i > 3 THEN (1 + i / 20000) * 256 END AS parent FROM generate_series(1::bigint, 59999) AS i
            ) AS generated;
            UPDATE %1$s.run SET restarts = 1 WHERE key = 256;
            ANALYZE %1$s.run
            """;

    @Test
    void a_page_of_20_000_tasks_or_children_looks_at_few_runs() throws SQLException {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(3)) {
            PostgresStore.on(pool).schema(schema).notifications(false).open().close();
        }
        TestServer.withoutAutovacuum(schema);
        TestServer.execute(STARTED.formatted(schema, NOW));
        RunRef parent = new RunRef(RunId.of("run-1"), 256);
        RunRef dag = new RunRef(RunId.of("run-2"), 512);
        RunRef restarted = new RunRef(RunId.of("run-3"), 768);
        Runs.BelowPlace middle = new Runs.BelowPlace(NOW, 10_000 * 256);
        try (HikariDataSource pool = TestServer.pool(1)) {
            Runs found = runs(pool, schema);
            Map<String, Supplier<Runs.BelowPage>> pages = Map.of(
                    "children", () -> found.children(parent, Runs.BelowPlace.FIRST, 100),
                    "children from the middle", () -> found.children(parent, middle, 100),
                    "tasks", () -> found.tasks(dag, Runs.BelowPlace.FIRST, 100));
            for (Map.Entry<String, Supplier<Runs.BelowPage>> each : pages.entrySet()) {
                assertLooksAtFew(each.getKey(), pool, schema, () -> {
                    Runs.BelowPage page = each.getValue().get();
                    assertThat(page.runs()).as(each.getKey()).hasSize(100);
                    assertThat(page.next()).isPresent();
                });
            }
            assertLooksAtFew("children of earlier lives", pool, schema, () -> {
                Runs.BelowPage page = found.children(restarted, Runs.BelowPlace.FIRST, 100);
                assertThat(page.runs()).isEmpty();
                assertThat(page.next()).isPresent();
            });
            List<RunId> all = new ArrayList<>();
            Optional<Runs.BelowPlace> next = Optional.of(Runs.BelowPlace.FIRST);
            while (next.isPresent()) {
                Runs.BelowPage page = found.children(restarted, next.get(), 100);
                page.runs().forEach(run -> all.add(run.run().id()));
                next = page.next();
            }
            assertThat(all).as("after all pages").containsExactly(RunId.of("run-59999"));
        }
        TestServer.execute("DROP SCHEMA " + schema + " CASCADE");
    }

    private static void assertLooksAtFew(String what, HikariDataSource pool, String schema, Runnable page)
            throws SQLException {
        Looked before = Looked.now(schema, pool);
        page.run();
        Looked after = Looked.now(schema, pool);
        assertThat(after.whole() - before.whole()).as(what).isZero();
        assertThat(after.rows() - before.rows()).as(what).isLessThan(2_000);
    }

    /** With five million runs, which takes minutes to generate. */
    @Test
    @Tag("thorough")
    void every_documented_filter_gives_its_first_page_at_once() throws SQLException {
        String schema = TestServer.newSchema();
        generate(schema, 5_000_000);
        try (HikariDataSource pool = TestServer.pool(1)) {
            Runs found = runs(pool, schema);
            Map<String, Long> millis = new LinkedHashMap<>();
            documented().forEach((name, filter) -> {
                found.list(filter); // what it reads is in memory from now on
                // The shorter of two times, because other processes share the machine.
                millis.put(name, Math.min(millis(found, filter), millis(found, filter)));
            });
            assertThat(millis)
                    .as("milliseconds")
                    .allSatisfy((name, taken) -> assertThat(taken).isLessThan(50));
        }
        TestServer.execute("DROP SCHEMA " + schema + " CASCADE");
    }

    private static long millis(Runs found, RunFilter filter) {
        long begin = System.nanoTime();
        found.list(filter);
        return Duration.ofNanos(System.nanoTime() - begin).toMillis();
    }
}
