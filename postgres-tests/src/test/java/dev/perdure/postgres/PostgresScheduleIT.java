package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.error.TerminalException;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleChanges;
import dev.perdure.schedule.ScheduleInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schedules in the transaction of a caller, and in the view. */
final class PostgresScheduleIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Definition<String, String> REPORT =
            Definition.of("report", String.class, String.class, (ctx, in) -> {
                if (in.equals("fail")) {
                    throw new TerminalException("broken");
                }
                return in;
            });

    private final String schema = TestServer.schemaOf(PostgresScheduleIT.class);
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        perdure = Perdure.on(store).register(REPORT).start();
    }

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    private static Connection caller() throws SQLException {
        Connection connection = TestServer.plain().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private ScheduleChanges in(Connection connection) {
        return perdure.outbox(PostgresOutbox.on(store).in(connection)).schedules();
    }

    private static Schedule yearly(String name, String input) {
        return Schedule.cron(name, "0 0 1 1 *", ZoneOffset.UTC, Invocation.of(REPORT, input));
    }

    private List<String> names() {
        return perdure.schedules().list("", 10).stream().map(ScheduleInfo::name).toList();
    }

    private ScheduleInfo info(String name) {
        return perdure.schedules().get(name);
    }

    private static void until(Callable<Boolean> condition) {
        Awaitility.await().atMost(PATIENCE).until(condition);
    }

    @Test
    void a_schedule_is_made_and_changed_with_the_transaction_of_the_caller() throws Exception {
        RunId triggered;
        try (Connection caller = caller()) {
            in(caller).put(yearly("gone", "x"));
            caller.rollback();
            in(caller).put(yearly("kept", "x"));
            in(caller).pause("kept", "not yet");
            triggered = in(caller).trigger("kept");
            in(caller).resume("unknown");
            assertThat(names()).isEmpty();
            caller.commit();
        }
        until(() -> store.runs().find(triggered).isPresent());
        assertThat(perdure.run(triggered, TypeRef.of(String.class)).result(PATIENCE))
                .isEqualTo("x");
        assertThat(names()).containsExactly("kept");
        assertThat(info("kept").status().paused()).contains("not yet");

        try (Connection caller = caller()) {
            in(caller).put(yearly("kept", "y"));
            in(caller).resume("kept");
            in(caller)
                    .backfill(
                            "kept",
                            Instant.parse("2020-06-01T00:00:00Z"),
                            Instant.parse("2021-06-01T00:00:00Z"),
                            Overlap.ALLOW);
            caller.commit();
        }
        until(() -> info("kept").recent().size() == 2
                && info("kept").status().paused().isEmpty());
        assertThat(perdure.run(RunId.of("kept@2021-01-01T00:00:00Z"), TypeRef.of(String.class))
                        .result(PATIENCE))
                .isEqualTo("y");

        try (Connection caller = caller()) {
            in(caller).delete("kept");
            caller.commit();
        }
        until(() -> names().isEmpty());
    }

    @Test
    void many_declared_schedules_are_stored_in_few_round_trips() {
        Schedule[] declared = IntStream.range(0, 600)
                .mapToObj(number -> yearly("tenant-" + number, "ok"))
                .toArray(Schedule[]::new);
        try (CountingProxy proxy = new CountingProxy();
                HikariDataSource counted = proxy.pool(4);
                PostgresStore same = PostgresStore.on(counted).schema(schema).open()) {
            int before = proxy.roundTrips();
            declare(same, declared);
            assertThat(proxy.roundTrips() - before).as("at the first start").isLessThan(200);
            assertThat(perdure.runs(RunFilter.all().idPrefix("schedule:tenant-").limit(10_000))
                            .list())
                    .hasSize(600);
        }
    }

    @Test
    void declared_schedules_that_are_stored_are_compared_in_few_round_trips() {
        Schedule[] declared = IntStream.range(0, 100)
                .mapToObj(number -> yearly("tenant-" + number, "ok"))
                .toArray(Schedule[]::new);
        try (CountingProxy proxy = new CountingProxy();
                HikariDataSource counted = proxy.pool(4);
                PostgresStore same = PostgresStore.on(counted).schema(schema).open();
                Perdure worker =
                        Perdure.on(store).register(REPORT).schedules(declared).start()) {
            until(() -> worker.schedules().list("", 200).size() == declared.length);
            int before = proxy.roundTrips();
            declare(same, declared);
            assertThat(proxy.roundTrips() - before).isLessThan(30);
        }
    }

    private static void declare(PostgresStore store, Schedule... declared) {
        try (Perdure client =
                Perdure.on(store).register(REPORT).schedules(declared).client()) {
            assertThat(client.schedules()).isNotNull();
        }
    }

    @Test
    void the_view_shows_what_the_api_shows() {
        perdure.schedules().put(yearly("good", "x"));
        perdure.schedules().put(yearly("bad", "fail").pauseAfter(1));
        until(() -> names().equals(List.of("bad", "good")));
        perdure.schedules().trigger("bad");
        until(() -> info("bad").status().paused().isPresent());
        until(() -> !info("good").next().isEmpty());

        assertThat(view("good", "definition || ' ' || source || ' ' || orphaned || ' ' || fired || ' ' || failures"))
                .isEqualTo("report RUN_TIME false 0 0");
        assertThat(view("good", "(next[1] AT TIME ZONE 'UTC')::text"))
                .isEqualTo(info("good")
                        .next()
                        .getFirst()
                        .toString()
                        .replace("T", " ")
                        .replace("Z", ""));
        assertThat(view("bad", "failures || ' ' || running || ' ' || waiting")).isEqualTo("1 0 0");
        assertThat(view("bad", "paused"))
                .isEqualTo(info("bad").status().paused().orElseThrow());
        assertThat(view("bad", "(recent -> 0) ->> 'state'")).isEqualTo("FAILED");
        assertThat(view("bad", "(recent -> 0) ->> 'run'"))
                .isEqualTo(info("bad").recent().getFirst().run().value());
        perdure.schedules().delete("good");
        until(() -> TestServer.query("SELECT count(*) FROM %s.schedules".formatted(schema))
                .equals("1"));
    }

    private String view(String name, String column) {
        return TestServer.query("SELECT %s FROM %s.schedules WHERE name = '%s'".formatted(column, schema, name));
    }
}
