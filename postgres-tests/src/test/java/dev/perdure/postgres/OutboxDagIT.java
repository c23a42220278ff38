package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.queue.Queue;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** DAGs that are started in transactions that the caller holds. */
final class OutboxDagIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Dag<Integer, Integer> DIAMOND = Dag.of("diamond", Integer.class, dag -> {
        var top = dag.task("top", t -> t.input() + 1).priority(7);
        var left = dag.after(top).task("left", (t, first) -> first * 2);
        var right =
                dag.after(top).workflow("right", (ctx, t, first) -> first * 3).timeout(Duration.ofHours(1));
        return dag.after(left, right).task("join", (t, one, two) -> one + two);
    });

    private static final Dag<Integer, List<Integer>> SQUARES = Dag.of("squares", Integer.class, dag -> {
        var numbers = dag.task(
                        "numbers", t -> IntStream.range(0, t.input()).boxed().toList())
                .returning(new TypeRef<List<Integer>>() {});
        return dag.forEach(numbers).task("square", (t, number) -> number * number);
    });
    private static final Queue ONE_PLACE = Queue.named("one-place").concurrency(1);

    private final String schema = TestServer.schemaOf(OutboxDagIT.class);
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        perdure = Perdure.on(store).register(DIAMOND, SQUARES).queues(ONE_PLACE).start();
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

    private Outbox in(Connection connection) {
        return perdure.outbox(PostgresOutbox.on(store).in(connection));
    }

    private DagRun<Integer> dag(String id) {
        return await().atMost(PATIENCE)
                .ignoreException(UnknownRunException.class)
                .until(() -> perdure.run(RunId.of(id), TypeRef.of(Object.class)).dag(DIAMOND), Objects::nonNull);
    }

    private void awaitEmptyInbox() {
        String left =
                "SELECT (SELECT count(*) FROM %1$s.inbox) + (SELECT count(*) FROM %1$s.inbox_task)".formatted(schema);
        await().atMost(PATIENCE).until(() -> TestServer.query(left).equals("0"));
    }

    @Test
    void a_dag_is_there_on_commit_and_not_before_and_not_after_a_rollback() throws Exception {
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(DIAMOND, 1), id("gone"));
            caller.rollback();
            in(caller).start(Invocation.of(DIAMOND, 1), id("here"));
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
            caller.commit();
        }
        assertThat(dag("here").result(PATIENCE)).isEqualTo(10);
        awaitEmptyInbox();
        assertThat(perdure.runs(RunFilter.all()).list())
                .extracting(run -> run.id().value())
                .containsExactlyInAnyOrder("here", "here/top", "here/left", "here/right", "here/join");
        assertThat(TestServer.query("SELECT priority FROM %s.run WHERE id = 'here/top'".formatted(schema)))
                .isEqualTo("7");
    }

    @Test
    void items_find_the_one_place_of_the_queue_of_their_dag() throws Exception {
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(SQUARES, 2), id("squares").queue("one-place"));
            caller.commit();
        }
        DagRun<List<Integer>> run = await().atMost(PATIENCE)
                .ignoreException(UnknownRunException.class)
                .until(
                        () -> perdure.run(RunId.of("squares"), TypeRef.of(Object.class))
                                .dag(SQUARES),
                        Objects::nonNull);
        assertThat(run.result(PATIENCE)).containsExactly(0, 1);
    }

    @Test
    void many_dags_are_one_round_trip_and_all_run() throws Exception {
        List<Integer> inputs = IntStream.range(0, 300).boxed().toList();
        try (CountingProxy proxy = new CountingProxy();
                Connection caller = proxy.source().getConnection()) {
            caller.setAutoCommit(false);
            in(caller).start(Invocation.of(DIAMOND, 0), id("first")); // the driver asks for types once per connection
            proxy.reset();
            in(caller).startAll(inputs, input -> Invocation.of(DIAMOND, input), input -> id("g-" + input));
            assertThat(proxy.roundTrips()).isEqualTo(1);
            caller.commit();
        }
        awaitEmptyInbox();
        for (int input : inputs) {
            DagRun<Integer> run = perdure.run(RunId.of("g-" + input), TypeRef.of(Object.class))
                    .dag(DIAMOND);
            assertThat(run.result(PATIENCE)).isEqualTo(5 * (input + 1));
        }
    }

    @Test
    void delay_and_timeout_go_with_the_start() throws Exception {
        try (Connection caller = caller()) {
            in(caller)
                    .start(
                            Invocation.of(DIAMOND, 1),
                            id("later").delay(Duration.ofHours(2)).timeout(Duration.ofHours(3)));
            caller.commit();
        }
        DagRun<Integer> run = dag("later");
        assertThat(run.state()).isEqualTo(RunState.PENDING);
        assertThat(run.status().task("top").orElseThrow().state()).isEqualTo(RunState.SUSPENDED);
        assertThat(TestServer.query("""
            SELECT count(*) FROM %s.run WHERE id LIKE 'later%%' AND deadline - created_at = interval '3 hours'
            """.formatted(schema))).isEqualTo("5");
    }

    @Test
    void an_id_that_is_taken_starts_nothing_and_holds_up_nothing() throws Exception {
        perdure.start(DIAMOND, 5, id("mine")).result(PATIENCE);
        perdure.start(DIAMOND, 5, id("half/left")).result(PATIENCE);
        try (Connection caller = caller()) {
            in(caller).start(Invocation.of(DIAMOND, 1), id("mine"));
            in(caller).start(Invocation.of(DIAMOND, 1), id("half"));
            in(caller).start(Invocation.of(DIAMOND, 1), id("sound"));
            caller.commit();
        }
        assertThat(dag("sound").result(PATIENCE)).isEqualTo(10);
        awaitEmptyInbox();
        assertThat(dag("mine").result(PATIENCE)).isEqualTo(30);
        assertThat(perdure.runs(RunFilter.all()).list())
                .extracting(run -> run.id().value())
                .doesNotContain("half/top");
        RunInfo half = store.runs().find(RunId.of("half")).orElseThrow().info();
        assertThat(half.state()).isEqualTo(RunState.CANCELLED);
        assertThat(half.reason().orElseThrow())
                .contains("cannot be carried out: ")
                .contains("half/left");
    }

    @Test
    void a_message_is_refused_at_once() throws Exception {
        try (Connection caller = caller()) {
            assertThatThrownBy(() -> in(caller)
                            .start(Invocation.of(DIAMOND, 1), id("g").message(Topic.of("news", String.class), "hello")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("The run of DAG 'diamond' was started with a message");
        }
    }
}
