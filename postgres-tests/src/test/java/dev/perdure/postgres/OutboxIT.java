package dev.perdure.postgres;

import static dev.perdure.StartOptions.defaults;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.dag.Dag;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StoreException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.internal.text.Reserved;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Starts and cancels in transactions that the caller holds. */
final class OutboxIT {
    private static final Attribute<String> CUSTOMER = Attribute.text("customer");

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final TypeRef<String> TEXT = new TypeRef<>() {};

    private final String schema = TestServer.schemaOf(OutboxIT.class);
    private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();
    private final BlockingQueue<String> ran = new LinkedBlockingQueue<>();
    private final Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> {
        ran.add(in);
        return in;
    });
    private final Definition<String, String> sleep = Definition.of("sleep", String.class, String.class, (ctx, in) -> {
        ctx.sleep(Duration.ofHours(1));
        return in;
    });
    private final Dag<String, String> dag = Dag.of(
            "dag",
            String.class,
            d -> d.task("cut", task -> {
                ran.add(task.input() + " for " + tenant.get());
                return task.input();
            }));

    /** The tenant of the caller's thread is that of the body. */
    private final Interceptor tenants = new Interceptor() {
        @Override
        public StartCall start(StartCall call) {
            String caller = tenant.get();
            return caller == null ? call : call.with("tenant", caller);
        }

        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            return () -> {
                tenant.set(call.workflow().headers().get("tenant"));
                return body.call();
            };
        }
    };

    private HikariDataSource pool;
    private PostgresStore store;
    private PostgresOutbox outbox;
    private Perdure perdure;

    /** Methods to name. */
    public final class Methods {
        @Workflow("function")
        public String function(WorkflowContext ctx, String in) {
            ran.add("function " + in);
            return in;
        }

        @Workflow("supplier")
        public String supplier(WorkflowContext ctx) {
            ran.add("supplier");
            return "";
        }

        @Workflow("consumer")
        public void consumer(WorkflowContext ctx, String in) {
            ran.add("consumer " + in);
        }

        @Workflow("action")
        public void action(WorkflowContext ctx) {
            ran.add("action");
        }
    }

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        outbox = PostgresOutbox.on(store);
        perdure = Perdure.on(store)
                .register(echo, sleep, new Methods(), dag)
                .interceptor(tenants)
                .start();
    }

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    /** A connection of the caller's, in a transaction. */
    private static Connection caller() throws SQLException {
        Connection connection = TestServer.plain().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private Outbox in(Connection connection) {
        return perdure.outbox(outbox.in(connection));
    }

    @Test
    void what_was_started_after_a_savepoint_is_rolled_back_with_it_and_the_rest_is_there() throws Exception {
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(echo, "before"), id("before"));
            var undone = caller.setSavepoint();
            in(caller).start(Invocation.of(echo, "undone"), id("undone"));
            caller.rollback(undone);
            var kept = caller.setSavepoint();
            in(caller).start(Invocation.of(echo, "kept"), id("kept"));
            caller.releaseSavepoint(kept);
            caller.commit();
        }
        assertThat(List.of(ran.take(), ran.take())).containsExactlyInAnyOrder("before", "kept");
        assertThat(TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema)))
                .isEqualTo("0");
        assertThat(ran).isEmpty();
    }

    @Test
    void a_start_is_there_on_commit_and_not_before() throws Exception {
        try (Connection caller = caller()) {
            RunId id = in(caller).start(Invocation.of(echo, "hello"), id("order-1"));
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
            long committed = System.nanoTime();
            caller.commit();
            assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("hello");
            System.out.printf(
                    "pick-up after the caller's commit: %d ms%n",
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - committed));
            assertThat(perdure.run(id, TEXT).result(PATIENCE)).isEqualTo("hello");
        }
    }

    @Test
    void what_is_rolled_back_never_was() throws Exception {
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(echo, "gone"), id("order-1"));
            caller.rollback();
            in(caller).start(Invocation.of(echo, "here"), id("order-2"));
            caller.commit();
        }
        assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("here");
        assertThat(perdure.runs(RunFilter.all()).list()).extracting(RunInfo::id).containsExactly(RunId.of("order-2"));
    }

    @Test
    void a_transaction_left_open_delays_no_other() throws Exception {
        try (Connection sluggish = caller()) {
            in(sluggish).start(Invocation.of(echo, "late"), id("order-1"));
            in(sluggish).cancel(RunId.of("order-3"), "enough");
            try (Connection caller = caller()) {
                in(caller).start(Invocation.of(echo, "early"), id("order-1"));
                caller.commit();
            }
            assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("early");
            perdure.start(Invocation.of(sleep, "x"), id("order-3"));
            assertThat(perdure.start(Invocation.of(echo, "direct"), id("order-2"))
                            .result(PATIENCE))
                    .isEqualTo("direct");
            sluggish.commit();
        }
        await().atMost(PATIENCE).until(() -> state("order-3") == RunState.CANCELLED);
        assertThat(perdure.run(RunId.of("order-1"), TEXT).result(PATIENCE))
                .as("the id was taken when the slow one committed")
                .isEqualTo("early");
    }

    /** Left open for {@code -Doutbox.open} seconds; for a minute with 60. */
    @Test
    void while_a_transaction_stays_open_everybody_else_goes_on() throws Exception {
        Duration open = Duration.ofSeconds(Integer.getInteger("outbox.open", 2));
        long slowest = 0;
        int others = 0;
        try (Connection sluggish = caller()) {
            in(sluggish).start(Invocation.of(echo, "late"), id("order-1"));
            perdure.start(Invocation.of(sleep, "x"), id("order-2"));
            in(sluggish).cancel(RunId.of("order-2"), "enough");
            long end = System.nanoTime() + open.toNanos();
            while (System.nanoTime() < end) {
                long begun = System.nanoTime();
                try (Connection caller = caller()) {
                    in(caller).start(Invocation.of(echo, "other"), id("other-" + others));
                    caller.commit();
                }
                perdure.start(Invocation.of(echo, "direct")).result(PATIENCE);
                perdure.run(RunId.of("order-2"), TEXT).state();
                await().atMost(PATIENCE).until(() -> ran.remove("other"));
                slowest = Math.max(slowest, System.nanoTime() - begun);
                others++;
            }
            sluggish.commit();
        }
        System.out.printf(
                "a caller's transaction open for %d s: %d starts beside it, the slowest took %d ms%n",
                open.toSeconds(), others, TimeUnit.NANOSECONDS.toMillis(slowest));
        assertThat(Duration.ofNanos(slowest)).isLessThan(Duration.ofSeconds(2));
        await().atMost(PATIENCE).until(() -> state("order-2") == RunState.CANCELLED);
        assertThat(perdure.run(RunId.of("order-1"), TEXT).result(PATIENCE)).isEqualTo("late");
    }

    private RunState state(String id) {
        return perdure.run(RunId.of(id), TEXT).state();
    }

    @Test
    void every_form_of_start() throws Exception {
        try (Connection caller = caller()) {
            Outbox out = in(caller);
            out.start(Methods::function, "a", defaults());
            out.start(Invocation.of(Methods::supplier), defaults());
            out.start(Methods::consumer, "b", defaults());
            out.start(Invocation.of(Methods::action), defaults());
            out.start(Invocation.of("echo", "c", TypeRef.of(Void.class)), defaults());
            out.startAll(
                    List.of("d", "e"), input -> Invocation.of(Methods::function, input), input -> id("id-" + input));
            caller.commit();
        }
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ran)
                        .containsExactlyInAnyOrder(
                                "function a", "supplier", "consumer b", "action", "c", "function d", "function e"));
        assertThat(state("id-d")).isNotNull();
    }

    @Test
    void two_thousand_at_once_are_one_round_trip_and_all_run() throws Exception {
        List<String> inputs =
                IntStream.range(0, 2_000).mapToObj(i -> "input-" + i).toList();
        try (CountingProxy proxy = new CountingProxy();
                Connection caller = proxy.source().getConnection()) {
            caller.setAutoCommit(false);
            in(caller)
                    .start(Invocation.of(echo, "first"), id("first")); // the driver asks for types once per connection
            proxy.reset();
            in(caller).startAll(inputs, input -> Invocation.of(echo, input), input -> id("id-" + input));
            assertThat(proxy.roundTrips()).isEqualTo(1);
            caller.commit();
        }
        await().atMost(PATIENCE).until(() -> ran.size() == inputs.size() + 1);
        assertThat(ran).contains("first").containsAll(inputs);
        await().atMost(PATIENCE)
                .until(() -> TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema))
                        .equals("0"));
    }

    @Test
    void options_go_with_the_start() throws Exception {
        StartOptions options =
                id("order-1").queue("slow").priority(7).version("v1").timeout(Duration.ofMinutes(5));
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(echo, "x"), options);
            caller.commit();
        }
        await().atMost(PATIENCE)
                .until(() -> TestServer.query(
                                "SELECT concat_ws(' ', id, queue, priority, version, deadline - created_at) FROM %s.runs"
                                        .formatted(schema))
                        .equals("order-1 slow 7 v1 00:05:00"));
    }

    @Test
    void a_start_and_its_cancel_in_one_transaction_come_in_order() throws Exception {
        try (Connection caller = caller()) {
            RunId run = in(caller).start(Invocation.of(sleep, "x"), id("order-1"));
            in(caller).cancel(run, "changed my mind");
            caller.commit();
        }
        await().atMost(PATIENCE)
                .ignoreException(dev.perdure.error.UnknownRunException.class)
                .until(() -> state("order-1") == RunState.CANCELLED);
        assertThatThrownBy(() -> perdure.run(RunId.of("order-1"), TEXT).result())
                .isInstanceOf(RunFailedException.class)
                .hasMessage("Run 'order-1' is CANCELLED: changed my mind");
    }

    @Test
    void without_notifications_it_is_found_by_looking() throws Exception {
        try (Connection caller = caller()) {
            perdure.outbox(outbox.notifications(false).in(caller)).start(Invocation.of(echo, "found"), defaults());
            caller.commit();
        }
        assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("found");
    }

    @Test
    void plain_sql_starts_a_run() throws Exception {
        TestServer.execute("SELECT %s.start_run('echo', 'order-1', '\"from SQL\"')".formatted(schema));
        assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("from SQL");
        TestServer.execute(
                "SELECT %s.start_run(definition => 'supplier', id => 'order-2', timeout => interval '1 hour', wake => false)"
                        .formatted(schema));
        assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("supplier");
    }

    private Description described(String id) {
        return perdure.run(RunId.of(id), TEXT).info().description();
    }

    @Test
    void headers_of_interceptors_come_with_the_start_and_reach_the_tasks_of_a_dag() throws Exception {
        try (Connection caller = caller()) {
            tenant.set("acme");
            in(caller).start(Invocation.of(dag, "a"), id("tasks"));
            in(caller).start(Invocation.of(echo, "b"), id("plain"));
            caller.commit();
        } finally {
            tenant.remove();
        }
        assertThat(List.of(ran.take(), ran.take())).containsExactlyInAnyOrder("a for acme", "b");
        assertThat(described("plain").headers()).isEqualTo(Map.of("tenant", "acme"));
    }

    @Test
    void attributes_come_with_the_start() throws Exception {
        try (Connection caller = caller()) {
            in(caller)
                    .start(
                            Invocation.of(echo, "a"),
                            id("order-1")
                                    .attribute(CUSTOMER, "\"7\"")
                                    .attribute(Attribute.text("region"), "eu")
                                    .memo("by hand"));
            in(caller).start(Invocation.of(echo, "b"), id("order-2"));
            caller.commit();
        }
        TestServer.execute(
                "SELECT %s.start_run('echo', 'order-3', '\"c\"', attributes => '{\"customer\": \"8\", \"total\": 1.50, \"due\": {\"time\": \"2026-01-31T12:00:00Z\"}, \"tags\": [\"b\", \"a\"], \"urgent\": true}')"
                        .formatted(schema));
        TestServer.execute("SELECT %s.start_run('echo', 'order-4', '\"d\"', attributes => '{}')".formatted(schema));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ran).hasSize(4));

        assertThat(described("order-1"))
                .isEqualTo(Description.NONE
                        .with("customer", new AttributeValue.Text("\"7\""))
                        .with("region", new AttributeValue.Text("eu"))
                        .withMemo("by hand"));
        assertThat(described("order-2")).isEqualTo(Description.NONE);
        assertThat(described("order-3"))
                .isEqualTo(Description.NONE
                        .with("customer", new AttributeValue.Text("8"))
                        .with("total", new AttributeValue.Decimal(new BigDecimal("1.5")))
                        .with("due", new AttributeValue.Time(Instant.parse("2026-01-31T12:00:00Z")))
                        .with("tags", new AttributeValue.Keywords(List.of("a", "b")))
                        .with("urgent", new AttributeValue.Flag(true)));
        assertThat(described("order-4")).isEqualTo(Description.NONE);
        assertThat(perdure.runs(RunFilter.all().where(CUSTOMER.is("8"))).list())
                .extracting(RunInfo::id)
                .containsExactly(RunId.of("order-3"));
        assertThat(perdure.runs(RunFilter.all().where(Attribute.number("total").is(1.5)))
                        .list())
                .hasSize(1);
        assertThat(TestServer.query(
                        "SELECT attributes ->> 'region' FROM %s.runs WHERE id = 'order-1'".formatted(schema)))
                .isEqualTo("eu");
        assertThat(TestServer.query("SELECT count(*) FROM %s.run WHERE attributes IS NULL".formatted(schema)))
                .isEqualTo("2");
    }

    @Test
    void attributes_without_a_type_are_refused_in_sql() {
        for (String wrong : List.of(
                "[]",
                "1",
                "{\"a\": null}",
                "{\"\": \"x\"}",
                "{\"a\": \"\"}",
                "{\"a\": {}}",
                "{\"a\": {\"time\": \"tomorrow\"}}",
                "{\"a\": []}",
                "{\"a\": [1]}")) {
            assertThatThrownBy(() -> TestServer.execute(
                            "SELECT %s.start_run('echo', 'x', attributes => '%s')".formatted(schema, wrong)))
                    .as(wrong)
                    .rootCause()
                    .hasMessageMatching("(?s)ERROR: The .*attribute.* Give .*");
        }
    }

    @Test
    void plain_sql_takes_no_name_of_the_engine() throws Exception {
        for (String prefix : Reserved.IDS) {
            assertThatThrownBy(() ->
                            TestServer.execute("SELECT %s.start_run('echo', '%sx', '1')".formatted(schema, prefix)))
                    .as(prefix)
                    .rootCause()
                    .hasMessageContaining(
                            "The run id '%sx' begins with '%s', which is reserved for the engine. Choose another one.",
                            prefix, prefix);
        }
        for (String start : List.of("start_run('perdure.bulk', 'x')", "start_run_under_key('perdure.bulk', 'x')")) {
            assertThatThrownBy(() -> TestServer.execute("SELECT %s.%s".formatted(schema, start)))
                    .as(start)
                    .rootCause()
                    .hasMessageContaining(
                            "The definition name 'perdure.bulk' begins with 'perdure.', which is reserved for the engine. Choose another one.");
        }
        String queue = Reserved.NAMES + "schedules";
        for (String start : List.of("start_run('echo', 'x',", "start_run_under_key('echo', 'x',")) {
            assertThatThrownBy(() -> TestServer.execute("SELECT %s.%s queue => '%s')".formatted(schema, start, queue)))
                    .as(start)
                    .rootCause()
                    .hasMessageContaining(
                            "The queue '%s' begins with 'perdure.', which is reserved for the engine. Choose another one.",
                            queue);
        }
    }

    @Test
    void a_trigger_starts_a_run_for_each_row() throws Exception {
        TestServer.execute("""
            CREATE TABLE %1$s.orders (number int);
            CREATE FUNCTION %1$s.process() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM %1$s.start_run('echo', 'order-' || NEW.number, to_json('order ' || NEW.number));
                RETURN NEW;
            END $$;
            CREATE TRIGGER process AFTER INSERT ON %1$s.orders FOR EACH ROW EXECUTE FUNCTION %1$s.process();
            INSERT INTO %1$s.orders VALUES (1), (2)
            """.formatted(schema));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ran).containsExactlyInAnyOrder("order 1", "order 2"));
    }

    @Test
    void plain_sql_that_makes_no_sense_is_refused_or_dropped_and_holds_up_nothing() throws Exception {
        assertThatThrownBy(() -> TestServer.execute("SELECT %s.start_run('echo', '')".formatted(schema)))
                .rootCause()
                .hasMessageContaining("The run id is empty. Give it a non-empty text.");
        assertThatThrownBy(() -> TestServer.execute("SELECT %s.start_run(NULL, 'x')".formatted(schema)))
                .rootCause()
                .hasMessageContaining("The definition name is null. Give it a non-empty text.");
        TestServer.execute(
                "INSERT INTO %s.inbox (seed, wish, id, definition, queue, input) VALUES (1, 0, '', 'echo', 'default', '1')"
                        .formatted(schema));
        TestServer.execute("SELECT %s.start_run('echo', 'order-1', '\"fine\"')".formatted(schema));
        assertThat(ran.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("fine");
        await().atMost(PATIENCE)
                .until(() -> TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema))
                        .equals("0"));
    }

    @Test
    void what_cannot_be_put_in_is_refused_at_once() throws Exception {
        try (Connection caller = caller()) {
            assertThatThrownBy(() -> in(caller).cancel(RunId.of("order-1"), "\0"))
                    .isInstanceOf(InvalidRequestException.class);
            try (Statement statement = caller.createStatement()) {
                statement.execute("SET TRANSACTION READ ONLY");
            }
            assertThatThrownBy(() -> in(caller).start(Invocation.of(echo, "x"), defaults()))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("Nothing was put into the inbox of schema '%s'".formatted(schema))
                    .hasMessageContaining("read-only transaction");
        }
    }

    @Test
    void a_connection_without_a_transaction_and_none_at_all_are_refused() throws Exception {
        try (Connection alone = TestServer.plain().getConnection()) {
            assertThatThrownBy(() -> in(alone).start(Invocation.of(echo, "x"), defaults()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("commits every statement by itself")
                    .hasMessageEndingWith("Call setAutoCommit(false) on it, and commit.");
        }
        assertThat(TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema)))
                .isEqualTo("0");
        assertThatThrownBy(() -> outbox.in(null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The connection is null.");
        assertThatThrownBy(() -> PostgresOutbox.on(null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The store is null.");
        assertThatThrownBy(() -> PostgresStore.on(null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The DataSource is null.");
    }

    @Test
    void a_worker_that_dies_with_taken_rows_leaves_them_to_others() {
        TestServer.execute("""
            BEGIN;
            SELECT %1$s.start_run('echo', 'order-1', '"late"', wake => false);
            UPDATE %1$s.inbox SET taken_until = now() + interval '2 seconds';
            COMMIT
            """.formatted(schema));
        await().atMost(PATIENCE).until(() -> ran.contains("late"));
    }
}
