package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals.Removed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.report.Reports;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** What retention leaves in the tables, and what it does beside other transactions. */
final class RetentionIT {
    private static final Duration DAY = Duration.ofDays(1);

    private final String schema = TestServer.schemaOf(RetentionIT.class);
    private final HikariDataSource pool = TestServer.pool(6);
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final PostgresStore store = PostgresStore.on(pool)
            .schema(schema)
            .notifications(false)
            .time(now::get)
            .open();
    private final StoreFixture fixture = new StoreFixture(store);

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private void advance(Duration duration) {
        now.updateAndGet(time -> time.plus(duration));
    }

    private int remove(int limit) {
        int runs = 0;
        Removed removed;
        do {
            removed = store.removals().remove(limit);
            runs += removed.runs();
        } while (removed.again().isZero());
        return runs;
    }

    private Outcome apply(Change change) {
        return fixture.apply(change);
    }

    private RunRef start(String id) {
        return start(StoreFixture.newRun(id));
    }

    private RunRef start(NewRun run) {
        return ((Outcome.Started) apply(new Change.Start(run, fixture.worker))).run();
    }

    private long count(String table) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM %s.%s".formatted(schema, table))) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Tables that have rows of runs. */
    private Map<String, Long> rows() throws SQLException {
        Map<String, Long> rows = new TreeMap<>();
        for (String table : List.of(
                "run",
                "journal",
                "event",
                "mail",
                "awakeable",
                "subscription",
                "publication",
                "report",
                "log_line",
                "audit",
                "object",
                "object_call",
                "slot",
                "takeover",
                "start_limit",
                "held",
                "ready",
                "timer")) {
            long count = count(table);
            if (count > 0) {
                rows.put(table, count);
            }
        }
        return rows;
    }

    @Test
    void nothing_is_left_of_a_run_in_any_table() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef run = start("a");
        apply(new Change.Deliver(
                run.id(), Mail.value(Channel.message("news"), UUID.randomUUID(), StoreFixture.json("1"))));
        apply(new Change.Advance(
                run,
                1,
                List.of(StoreFixture.step(1)),
                List.of(
                        new Effect.Publish("progress", 1, StoreFixture.json("1")),
                        new Effect.Awakeable("hash", 2),
                        new Effect.Subscribe("paid", "", 3)),
                new Move.Yield()));
        Reports.Source source = new Reports.Source(run, 1, 2, "import", 1);
        store.reports().write(fixture.worker, List.of(new Reports.Report(source, 1, 0.5, "half", null)));
        store.reports()
                .log(
                        fixture.worker,
                        List.of(new Reports.Line(
                                source, Reports.version(1, 1), Instant.EPOCH, Level.INFO, "shop", "half of it")));
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(run.id(), Change.CommandKind.KILL, "no longer needed")));
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "ann"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = start(StoreFixture.newRun("call").on(call));
        apply(StoreFixture.complete(holder));
        assertThat(rows())
                .containsKeys(
                        "event", "mail", "awakeable", "subscription", "publication", "report", "log_line", "object");
        advance(DAY);

        assertThat(remove(100)).isEqualTo(2);
        assertThat(rows()).isEmpty();
    }

    @Test
    void a_run_with_more_rows_than_fit_into_a_batch_is_closed_and_goes_in_pieces() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef run = start("long");
        for (int part = 0; part < 5; part++) {
            int from = part * 1_000;
            apply(new Change.Advance(
                    run,
                    1,
                    IntStream.rangeClosed(from + 1, from + 1_000)
                            .mapToObj(StoreFixture::step)
                            .toList(),
                    new Move.Stay()));
        }
        apply(StoreFixture.complete(run));
        RunRef other = start("other");
        apply(StoreFixture.complete(other));
        advance(DAY);

        Removed first = store.removals().remove(1);
        assertThat(first).isEqualTo(new Removed(0, Duration.ZERO));
        assertThat(count("journal")).isLessThan(5_000).isGreaterThan(500);
        assertThat(store.runs().ended(List.of(run)).getFirst().outcome()).isEqualTo(StoreFixture.json("\"ok\""));
        assertThat(remove(1)).isEqualTo(2);
        assertThat(rows()).isEmpty();
    }

    @Test
    void tasks_go_before_their_dag_which_can_not_be_run_again_meanwhile() {
        store.removals().declare(Retention.of(DAY));
        List<Task> tasks = IntStream.range(0, 10)
                .mapToObj(i -> new Task(StoreFixture.newRun("t" + i), List.of()))
                .toList();
        apply(new Change.Start(StoreFixture.newRun("dag"), null, List.of(), tasks));
        store.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(RunId.of("dag"), Change.CommandKind.KILL, "no")));
        advance(DAY);

        int first = 0;
        while (first == 0) {
            Removed removed = store.removals().remove(3);
            assertThat(removed.again()).isZero();
            first = removed.runs();
        }
        assertThat(store.runs().find(RunId.of("dag"))).isPresent();
        assertThat(apply(new Change.Rerun(RunId.of("dag"), List.of(RunId.of("t9")), 5)))
                .isEqualTo(Outcome.Refused.removed(RunId.of("dag")));
        assertThat(remove(3)).isEqualTo(11 - first);
        assertThat(store.runs().find(RunId.of("dag"))).isEmpty();
    }

    @Test
    void a_child_is_not_retried_while_its_siblings_are_removed() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef parent = start("parent");
        List<RunRef> children = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            children.add(start(StoreFixture.child(parent, "child-" + i, i + 1)));
        }
        apply(StoreFixture.complete(parent));
        Move fail = new Move.End(RunState.FAILED, StoreFixture.json("\"no\""), "it failed");
        Instant ended = null;
        for (RunRef child : children) {
            ended = ((Outcome.Applied) apply(new Change.Advance(child, 1, List.of(), fail))).at();
        }
        advance(DAY);
        int gone = 0;
        while (gone == 0) {
            gone = store.removals().remove(4).runs();
        }

        RunRef last = children.getLast();
        assertThat(store.runs().find(last.id())).isPresent();
        assertThat(apply(new Change.Retry(last.id(), Objects.requireNonNull(ended))))
                .isEqualTo(Outcome.Refused.removed(last.id()));
        assertThat(remove(4)).isEqualTo(13 - gone);
        assertThat(count("run")).isZero();
    }

    @Test
    void a_run_that_is_retried_before_its_tree_is_closed_keeps_the_tree() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef parent = start("parent");
        List<RunRef> children = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            children.add(start(StoreFixture.child(parent, "child-" + i, i + 1)));
        }
        apply(StoreFixture.complete(parent));
        Move fail = new Move.End(RunState.FAILED, StoreFixture.json("\"no\""), "it failed");
        Instant ended = null;
        for (RunRef child : children) {
            ended = ((Outcome.Applied) apply(new Change.Advance(child, 1, List.of(), fail))).at();
        }
        advance(DAY);
        store.removals().remove(4);
        store.removals().remove(4);

        RunRef first = children.getFirst();
        assertThat(apply(new Change.Retry(first.id(), Objects.requireNonNull(ended))))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(remove(4)).isZero();
        assertThat(count("run")).isEqualTo(13);
    }

    @Test
    void a_run_that_another_transaction_has_locked_is_left_for_the_next_pass() throws Exception {
        store.removals().declare(Retention.of(DAY));
        for (String id : List.of("a", "b")) {
            RunRef run = start(id);
            apply(StoreFixture.complete(run));
        }
        advance(DAY);
        try (Connection other = pool.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM %s.run WHERE id = 'a' FOR UPDATE".formatted(schema));
            assertThat(remove(10)).isEqualTo(1);
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(store.runs().find(RunId.of("a"))).isPresent();
        advance(Duration.ofHours(2));
        assertThat(remove(10)).isEqualTo(1);
    }

    @Test
    void a_row_that_another_transaction_has_locked_keeps_one_run_and_the_batches_grow_again() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef kept = start("kept");
        apply(new Change.Deliver(
                kept.id(), Mail.value(Channel.message("news"), UUID.randomUUID(), StoreFixture.json("1"))));
        apply(StoreFixture.complete(kept));
        now.updateAndGet(time -> time.plusMillis(1));
        List<RunRef> others = fixture.startAll(
                IntStream.range(0, 200).mapToObj(i -> "other-" + i).toList());
        fixture.apply(others.stream().<Change>map(StoreFixture::complete).toList());
        advance(DAY);
        try (Connection other = pool.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM %s.mail FOR UPDATE".formatted(schema));
            int batches = 0;
            int runs = 0;
            Removed removed;
            do {
                removed = store.removals().remove(1_000);
                runs += removed.runs();
                batches++;
            } while (removed.again().isZero());
            assertThat(runs).isEqualTo(200);
            assertThat(batches).isLessThan(20);
            other.rollback();
            other.setAutoCommit(true);
        }
        advance(Duration.ofHours(2));
        assertThat(remove(10)).isEqualTo(1);
    }

    @Test
    void all_old_entries_of_the_audit_go_in_one_pass() throws Exception {
        store.removals().declare(Retention.of(DAY));
        TestServer.execute("""
                INSERT INTO %s.audit (id, at, position, partition, action, subject, name, operator, origin, detail)
                SELECT gen_random_uuid(), '2024-01-01', 0, 0, 'PAUSE', 'QUEUE', 'q', 'anna', '', '' FROM generate_series(1, 3500)
                """.formatted(schema));
        apply(StoreFixture.complete(start("a")));
        advance(DAY);

        assertThat(remove(10)).isEqualTo(1);
        assertThat(count("audit")).isZero();
    }

    @Test
    void one_worker_removes_at_a_time() throws Exception {
        store.removals().declare(Retention.of(DAY));
        RunRef run = start("a");
        apply(StoreFixture.complete(run));
        advance(DAY);
        try (Connection other = pool.getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM %s.retention FOR UPDATE".formatted(schema));
            assertThat(store.removals().remove(10).runs()).isZero();
            other.rollback();
            other.setAutoCommit(true);
        }
        assertThat(remove(10)).isEqualTo(1);
    }

    /** A free object may vanish after a batch has found its row and before the batch locks it. */
    @Test
    void an_object_that_vanishes_while_it_is_called_is_made_again() throws Exception {
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "ann"), ObjectCall.Hold.EXCLUSIVE);
        store.removals().declare(Retention.of(Duration.ofSeconds(1)));
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            int thread = t;
            threads.add(Thread.ofVirtual().start(() -> {
                for (int i = 0; i < 40; i++) {
                    RunId id = RunId.of("call-" + thread + "-" + i);
                    // With mail, so that the statements are used that make and lock the object first.
                    store.ledger()
                            .apply(
                                    Lane.client(0),
                                    List.of(new Change.Start(
                                            StoreFixture.newRun(id.value()).on(call),
                                            null,
                                            List.of(Mail.value(
                                                    Channel.message("m"), UUID.randomUUID(), StoreFixture.json("1"))),
                                            List.of())));
                    store.ledger()
                            .apply(Lane.client(0), List.of(new Change.Command(id, Change.CommandKind.KILL, "enough")));
                    advance(Duration.ofSeconds(2));
                }
            }));
        }
        while (threads.stream().anyMatch(Thread::isAlive)) {
            store.removals().remove(50);
        }
        RunRef last = start(StoreFixture.newRun("last").on(call));
        assertThat(store.runs().find(last.id()).orElseThrow().info().state()).isEqualTo(RunState.RUNNING);
        assertThat(count("object")).isEqualTo(1);
    }
}
