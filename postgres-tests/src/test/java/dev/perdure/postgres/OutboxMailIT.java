package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Mail in transactions that the caller holds. */
final class OutboxMailIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    private final String schema = TestServer.schemaOf(OutboxMailIT.class);
    private final BlockingQueue<String> tokens = new LinkedBlockingQueue<>();
    private final Definition<Integer, String> reader =
            Definition.of("reader", Integer.class, String.class, (ctx, count) -> {
                StringBuilder read = new StringBuilder();
                for (int i = 0; i < count; i++) {
                    read.append(ctx.receive(NEWS).await());
                }
                return read.toString();
            });
    private final Definition<String, String> waiter =
            Definition.of("waiter", String.class, String.class, (ctx, kind) -> {
                if (kind.equals("promise")) {
                    return ctx.promise(NEWS).await();
                }
                var awakeable = ctx.awakeable(String.class);
                ctx.step("hand over", () -> tokens.add(awakeable.token()));
                return awakeable.await();
            });
    private final Definition<Integer, String> rounds =
            Definition.of("rounds", Integer.class, String.class, (ctx, round) -> {
                var awakeable = ctx.awakeable(String.class);
                ctx.step("hand over", () -> tokens.add(awakeable.token()));
                if (round == 1) {
                    ctx.promise(NEWS).await();
                    throw ctx.continueAsNew(2);
                }
                return awakeable.await();
            });
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        perdure = Perdure.on(store).register(reader, waiter, rounds).start();
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

    @Test
    void messages_arrive_in_order_on_commit_and_never_after_a_rollback() throws Exception {
        Run<String> run = perdure.start(Invocation.of(reader, 3));
        try (Connection caller = caller()) {
            in(caller).send(run.id(), NEWS, "x");
            caller.rollback();
            in(caller).send(run.id(), NEWS, "a");
            in(caller).send(run.id(), NEWS, "b");
            in(caller).send(run.id(), NEWS, "c");
            assertThat(run.state()).isNotEqualTo(RunState.COMPLETED);
            caller.commit();
        }
        assertThat(run.result(PATIENCE)).isEqualTo("abc");
    }

    @Test
    void a_start_finds_the_messages_that_came_with_it() throws Exception {
        RunId started;
        try (Connection caller = caller()) {
            started = in(caller)
                    .start(
                            Invocation.of(reader, 2),
                            id("read").message(NEWS, "1").message(NEWS, "2").delay(Duration.ofMillis(1)));
            caller.commit();
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> perdure.runs(RunFilter.all()).list().size() == 1);
        assertThat(perdure.run(started, new TypeRef<String>() {}).result(PATIENCE))
                .isEqualTo("12");
    }

    @Test
    void promises_and_awakeables_are_settled_on_commit() throws Exception {
        Run<String> promise = perdure.start(Invocation.of(waiter, "promise"));
        Run<String> awakeable = perdure.start(Invocation.of(waiter, "awakeable"));
        Run<String> refused = perdure.start(Invocation.of(waiter, "promise"));
        String token = tokens.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        try (Connection caller = caller()) {
            in(caller).promise(promise.id(), NEWS).resolve("kept");
            in(caller).resolve(token, "woken");
            in(caller).promise(refused.id(), NEWS).reject("not today");
            caller.commit();
        }
        assertThat(promise.result(PATIENCE)).isEqualTo("kept");
        assertThat(awakeable.result(PATIENCE)).isEqualTo("woken");
        assertThatThrownBy(() -> refused.result(PATIENCE))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("not today");
    }

    @Test
    void a_token_of_an_earlier_round_does_not_answer_a_later_one() throws Exception {
        Run<String> run = perdure.start(Invocation.of(rounds, 1));
        String first = tokens.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        String second;
        try (Connection caller = caller()) {
            in(caller).resolve(first, "for round 1");
            run.promise(NEWS).resolve("go on");
            second = tokens.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            caller.commit();
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema))
                        .equals("0"));
        perdure.resolve(second, "for round 2");
        assertThat(run.result(PATIENCE)).isEqualTo("for round 2");
    }

    @Test
    void an_unknown_token_is_refused_before_anything_is_written() throws Exception {
        try (Connection caller = caller()) {
            assertThatThrownBy(() -> in(caller).resolve("awk_" + "x".repeat(32), "value"))
                    .isInstanceOf(UnknownTokenException.class)
                    .hasMessageContaining("No awakeable has this token");
        }
    }

    @Test
    void plain_sql_sends_too() throws Exception {
        Run<String> run = perdure.start(Invocation.of(reader, 1), id("plain"));
        try (Connection caller = caller();
                Statement statement = caller.createStatement()) {
            statement.execute("SELECT " + schema + ".send_message('plain', 'news', '\"from SQL\"')");
            caller.commit();
        }
        assertThat(run.result(PATIENCE)).isEqualTo("from SQL");
    }
}
