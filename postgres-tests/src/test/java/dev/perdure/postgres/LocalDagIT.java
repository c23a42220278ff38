package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.completeAndGoOn;
import static dev.perdure.postgres.StoreFixture.json;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.write.BelievedBatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the short way of {@link BelievedBatch} does, and what it does when things are not as it hopes. */
final class LocalDagIT {
    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(LocalDagIT.class);
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    /** One before two, and one after these. */
    private Change.Start diamond(String id) {
        List<Task> tasks = List.of(
                new Task(within(Duration.ofHours(7), id + "/first"), List.of()),
                new Task(within(Duration.ofHours(5), id + "/left"), List.of(0)),
                new Task(newRun(id + "/right"), List.of(0)),
                new Task(newRun(id + "/join"), List.of(1, 2)));
        return new Change.Start(within(Duration.ofHours(24), id), fixture.worker, List.of(), tasks);
    }

    private static NewRun within(Duration timeout, String id) {
        NewRun run = newRun(id);
        return new NewRun(
                run.id(), run.definition(), run.input(), run.seed(), run.queue(), 3, null, timeout, null, null);
    }

    private Claimed started(String id) {
        return handed(fixture.apply(diamond(id))).getFirst();
    }

    private static List<Claimed> handed(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Started started -> started.handed();
            case Outcome.Applied applied -> applied.handed();
            default -> throw new AssertionError("Neither started nor applied: " + outcome);
        };
    }

    private static Change end(Claimed task, int takes) {
        return end(task, takes, json("\"ok\""));
    }

    private static Change end(Claimed task, int takes, Payload outcome) {
        Move end = new Move.End(RunState.COMPLETED, outcome, "", takes);
        return new Change.Advance(task.run(), task.epoch(), List.of(), end);
    }

    /** The two tasks in the middle, in the worker's hands. */
    private List<Claimed> middle(String id) {
        return handed(fixture.apply(end(started(id), 2)));
    }

    private RunState stateOf(String id) {
        return store.runs().find(newRun(id).id()).orElseThrow().info().state();
    }

    private String rowsOf(String dag) {
        return String.join(
                "\n\n",
                Stream.of("", "/first", "/left", "/right", "/join")
                        .map(task -> rowsOfRun(dag + task))
                        .toList());
    }

    /** All that the tables have of it, but for what differs from one DAG to the next. */
    private String rowsOfRun(String id) {
        return TestServer.query("""
                SELECT concat_ws(E'\\n',
                    (SELECT ROW(epoch, owner, priority, definition, queue, version,
                         round(extract(epoch FROM deadline - created_at) / 3600), wake_at, wakes, changes, state, reason,
                         ran_at IS NULL, open, cardinality(after), cardinality(before), timeout, parent_restarts)::text
                     FROM %1$s.run WHERE key = r.key),
                    (SELECT string_agg(ROW(position, note, kind, status, name, payload)::text, ';' ORDER BY position)
                     FROM %1$s.journal WHERE key = r.key),
                    (SELECT string_agg(ROW(worker, woken)::text, ';') FROM %1$s.held WHERE key = r.key),
                    (SELECT string_agg(ROW(rank, alone, queue, definition, version)::text, ';') FROM %1$s.ready WHERE key = r.key),
                    (SELECT string_agg(ROW(number, state, reason)::text, ';' ORDER BY number) FROM %1$s.event WHERE key = r.key))
                FROM %1$s.run r WHERE id = '%2$s'
                """.formatted(schema, id)).strip();
    }

    /** How a change gets to the store. */
    enum Way {
        ALONE,
        TOGETHER,
        /** With a start that no short way carries out. */
        LONG
    }

    private List<Outcome> apply(Way way, List<Change> changes) {
        List<Change> all = new ArrayList<>(changes);
        switch (way) {
            case ALONE -> {
                return changes.stream().map(fixture::apply).toList();
            }
            case TOGETHER -> {}
            case LONG -> all.add(new Change.Start(newRun("other-" + System.nanoTime()), null));
        }
        return fixture.apply(all).subList(0, changes.size());
    }

    @Test
    void it_leaves_the_same_behind_as_the_long_way() {
        List<List<String>> seen = new ArrayList<>();
        for (Way way : Way.values()) {
            String dag = way.name();
            List<String> rows = new ArrayList<>();
            List<Claimed> held = handed(apply(way, List.of(diamond(dag))).getFirst());
            while (!held.isEmpty()) {
                rows.add(rowsOf(dag));
                List<Change> ends = held.stream().map(task -> end(task, 2)).toList();
                held = apply(way, ends).stream()
                        .flatMap(outcome -> handed(outcome).stream())
                        .toList();
            }
            rows.add(rowsOf(dag));
            seen.add(rows);
        }
        assertThat(seen.get(0)).hasSize(5);
        assertThat(seen.get(1)).isEqualTo(seen.get(2));
        // Alone, the second of two counts the join down for the second time.
        assertThat(seen.get(0)).isEqualTo(seen.get(2));
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_without_room_leaves_what_begins_to_all(Way way) {
        Claimed first = started("dag");
        assertThat(handed(apply(way, List.of(end(first, 1))).getFirst()))
                .extracting(claim -> claim.run().id().value())
                .containsExactly("dag/left");
        assertThat(store.dispatch().poll(fixture.poll(10)).claimed())
                .extracting(claim -> claim.run().id().value())
                .contains("dag/right");
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_is_handed_over_knows_how_all_tasks_before_it_ended(Way way) {
        List<Claimed> two = middle("dag");
        Payload large = json("\"" + "x".repeat(5_000) + "\"");
        apply(way, List.of(end(two.get(0), 1, large)));
        Claimed join =
                handed(apply(way, List.of(end(two.get(1), 1))).getFirst()).getFirst();
        assertThat(join.premises())
                .containsExactly(
                        new Premise(two.get(0).run(), RunState.COMPLETED, large, ""),
                        new Premise(two.get(1).run(), RunState.COMPLETED, json("\"ok\""), ""));
        assertThat(join.input()).isEqualTo(newRun("dag").input());
        assertThat(join.deadline()).isNotNull();
        assertThat(join.epoch()).isEqualTo(1);
    }

    /** Another transaction counts the join down at this moment: the end waits for it, and opens the join. */
    @Test
    void two_that_end_at_once_open_what_comes_after_them_once() throws Exception {
        List<Claimed> two = middle("dag");
        try (ExecutorService executor = Executors.newSingleThreadExecutor();
                Connection rival = pool.getConnection();
                Statement statement = rival.createStatement()) {
            rival.setAutoCommit(false);
            statement.execute("UPDATE %s.run SET open = open - 1 WHERE id = 'dag/join'".formatted(schema));
            Future<List<Outcome>> ends = executor.submit(() -> fixture.applyPatiently(List.of(end(two.get(1), 1))));
            TestServer.awaitBlocked();
            rival.commit();
            Claimed join = handed(ends.get().getFirst()).getFirst();
            assertThat(join.premises())
                    .extracting(Premise::state)
                    .containsExactly(RunState.RUNNING, RunState.COMPLETED);
        }
        assertThat(stateOf("dag/join")).isEqualTo(RunState.RUNNING);
    }

    @Test
    void an_end_that_is_sent_again_counts_once() {
        List<Claimed> two = middle("dag");
        Change end = end(two.get(0), 1);
        assertThat(fixture.apply(end)).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(end)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf("dag/join")).isEqualTo(RunState.PENDING);
        List<Outcome> both = fixture.apply(List.of(end, end(two.get(1), 1)));
        assertThat(both.get(0)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(handed(both.get(1))).hasSize(1);
    }

    @Test
    void a_start_that_is_sent_again_finds_itself_and_its_first_task() {
        Claimed first = started("dag");
        Outcome again = fixture.apply(diamond("dag"));
        assertThat(again).isInstanceOf(Outcome.Started.class);
        assertThat(handed(again)).extracting(Claimed::run).containsExactly(first.run());
    }

    @Test
    void an_end_of_another_epoch_is_refused_and_its_neighbours_end() {
        List<Claimed> two = middle("dag");
        RunRef lost = two.get(0).run();
        Move end = new Move.End(RunState.COMPLETED, json("1"), "", 1);
        List<Outcome> outcomes =
                fixture.apply(List.of(new Change.Advance(lost, 7, List.of(), end), end(two.get(1), 1)));
        assertThat(outcomes.get(0)).isEqualTo(new Outcome.Fenced());
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Applied.class);
        assertThat(stateOf("dag/left")).isEqualTo(RunState.RUNNING);
        assertThat(stateOf("dag/join")).isEqualTo(RunState.PENDING);
    }

    /** Its row is another's by now, of which this process has not heard. */
    @ParameterizedTest
    @ValueSource(strings = {"epoch = 2", "owner = 77"})
    void an_end_of_a_task_that_was_given_away_is_refused_and_changes_nothing(String others) throws Exception {
        List<Claimed> two = middle("dag");
        TestServer.execute("UPDATE %s.run SET %s WHERE id = 'dag/left'".formatted(schema, others));
        String before = rowsOf("dag");
        assertThat(fixture.apply(end(two.get(0), 1))).isEqualTo(new Outcome.Fenced());
        assertThat(rowsOf("dag")).isEqualTo(before);
    }

    /** Not all that it has been is on its row. */
    @Test
    void a_task_that_was_paused_and_resumed_while_it_waited_has_it_in_its_history() {
        List<Claimed> two = middle("dag");
        for (Change.CommandKind kind : List.of(Change.CommandKind.PAUSE, Change.CommandKind.RESUME)) {
            store.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(new Change.Command(newRun("dag/join").id(), kind, "")));
        }
        fixture.apply(two.stream().map(task -> end(task, 1)).toList());
        assertThat(TestServer.query("SELECT string_agg(state, ' ' ORDER BY number) FROM %s.events WHERE id = 'dag/join'"
                        .formatted(schema)))
                .isEqualTo("PENDING PAUSED PENDING RUNNING");
    }

    @Test
    void a_task_that_was_paused_while_it_waited_stays_so_and_is_counted_down() {
        List<Claimed> two = middle("dag");
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(newRun("dag/join").id(), Change.CommandKind.PAUSE, "hold")));
        two.forEach(task -> assertThat(handed(fixture.apply(end(task, 1)))).isEmpty());
        assertThat(stateOf("dag/join")).isEqualTo(RunState.PAUSED);
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(newRun("dag/join").id(), Change.CommandKind.RESUME, "")));
        assertThat(stateOf("dag/join")).isEqualTo(RunState.READY);
    }

    @Test
    void a_task_that_was_cancelled_while_it_waited_hears_of_it_when_it_begins() {
        List<Claimed> two = middle("dag");
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(newRun("dag/join").id(), Change.CommandKind.CANCEL, "enough")));
        fixture.apply(end(two.get(0), 1));
        Claimed join = handed(fixture.apply(end(two.get(1), 1))).getFirst();
        assertThat(join.control().cancel()).isEqualTo("enough");
    }

    /** A second life is nothing that was known of the first. */
    @Test
    void tasks_that_begin_anew_go_on_with_what_they_are_now() {
        List<Claimed> two = middle("dag");
        Claimed join = handed(
                        fixture.apply(two.stream().map(task -> end(task, 1)).toList())
                                .getFirst())
                .getFirst();
        Claimed dag = handed(fixture.apply(end(join, 1))).getFirst();
        fixture.apply(end(dag, 0));
        List<RunId> again =
                Stream.of("dag/right", "dag/join").map(id -> newRun(id).id()).toList();
        store.ledger()
                .apply(Lane.client(0), List.of(new Change.Rerun(newRun("dag").id(), again, 77)));
        Claimed right = store.dispatch().poll(fixture.poll(10)).claimed().getFirst();
        Claimed joinAgain = handed(fixture.apply(end(right, 1, json("2")))).getFirst();
        assertThat(joinAgain.seed()).isNotEqualTo(join.seed());
        assertThat(joinAgain.premises()).extracting(Premise::outcome).containsExactly(json("\"ok\""), json("2"));
        assertThat(handed(fixture.apply(completeAndGoOn(joinAgain)))).hasSize(1);
    }
}
