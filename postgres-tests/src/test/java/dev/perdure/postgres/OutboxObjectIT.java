package dev.perdure.postgres;

import static dev.perdure.StartOptions.after;
import static dev.perdure.StartOptions.defaults;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectSends;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls of virtual objects that are made in transactions that the caller holds. */
final class OutboxObjectIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final StateKey<List<String>> LINES = StateKey.of("lines", new TypeRef<>() {});

    private final String schema = TestServer.schemaOf(OutboxObjectIT.class);
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    /** Keeps what it is told, in order. */
    @VirtualObject("diary")
    public static final class Diary {
        /** Appends a line. */
        @Handler
        public int append(ObjectContext ctx, String line) {
            List<String> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
            lines.add(line);
            ctx.set(LINES, lines);
            return lines.size();
        }

        /** Forgets all. */
        @Handler
        public void tear(ObjectContext ctx) {
            ctx.clearAll();
        }

        /** How many lines there are. */
        @Handler
        public int size(SharedObjectContext ctx) {
            return ctx.get(LINES).orElse(List.of()).size();
        }
    }

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        perdure = Perdure.on(store).register(new Diary()).start();
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

    private ObjectSends<Diary> diary(Connection connection, String key) {
        return perdure.outbox(PostgresOutbox.on(store).in(connection)).object(Diary.class, key);
    }

    private List<String> lines(String key) {
        return perdure.object(Diary.class, key).state().get(LINES).orElse(List.of());
    }

    private void awaitLines(String key, List<String> expected) {
        await().atMost(PATIENCE).until(() -> lines(key).equals(expected));
    }

    @Test
    void calls_are_made_on_commit_in_their_order_and_not_after_a_rollback() throws Exception {
        List<String> expected = IntStream.range(0, 50).mapToObj(String::valueOf).toList();
        try (Connection caller = caller()) {
            diary(caller, "ann").send(Diary::append, "never", defaults());
            caller.rollback();
            for (String line : expected) {
                diary(caller, "ann").send(Diary::append, line, defaults());
            }
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
            caller.commit();
        }
        awaitLines("ann", expected);
        try (Connection caller = caller()) {
            diary(caller, "ann").send(Diary::tear, defaults());
            caller.commit();
        }
        awaitLines("ann", List.of());
    }

    @Test
    void a_call_that_is_made_twice_under_one_id_is_made_once() throws Exception {
        try (Connection caller = caller()) {
            diary(caller, "bob").send(Diary::append, "once", id("click-7"));
            caller.commit();
            diary(caller, "bob").send(Diary::append, "once", id("click-7"));
            diary(caller, "bob").send(Diary::append, "then", defaults());
            caller.commit();
        }
        awaitLines("bob", List.of("once", "then"));
    }

    @Test
    void a_delayed_call_takes_its_place_when_it_is_due() throws Exception {
        RunId much;
        RunId soon;
        RunId shared;
        try (Connection caller = caller()) {
            much = diary(caller, "cid").send(Diary::append, "tomorrow", after(Duration.ofDays(1)));
            soon = diary(caller, "cid").send(Diary::append, "soon", after(Duration.ofMillis(1)));
            shared = diary(caller, "cid").send(Diary::size, defaults());
            caller.commit();
        }
        awaitLines("cid", List.of("soon"));
        await().atMost(PATIENCE).until(() -> holds(much, soon, shared).equals("ON_ARRIVAL\nEXCLUSIVE\nSHARED"));
        assertThat(TestServer.query("SELECT state FROM %s.object_calls WHERE id = '%s'".formatted(schema, much)))
                .isEqualTo("SUSPENDED");
    }

    private String holds(RunId... runs) {
        return IntStream.range(0, runs.length)
                .mapToObj(i ->
                        TestServer.query("SELECT hold FROM %s.object_calls WHERE id = '%s'".formatted(schema, runs[i])))
                .reduce((one, two) -> one + "\n" + two)
                .orElseThrow();
    }

    @Test
    void what_is_no_object_or_has_no_key_is_refused_at_once() throws Exception {
        try (Connection caller = caller()) {
            assertThatThrownBy(() -> diary(caller, ""))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("object key");
            assertThatThrownBy(() ->
                            perdure.outbox(PostgresOutbox.on(store).in(caller)).object(String.class, "ann"))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("java.lang.String is no virtual object");
        }
    }
}
