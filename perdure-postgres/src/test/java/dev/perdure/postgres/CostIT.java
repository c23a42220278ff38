package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.newRun;
import static dev.perdure.postgres.StoreFixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagTask;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.transaction.TransactionOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What things cost on the wire and on the disk: round trips as the server sees them, and transactions that write. */
final class CostIT {
    private CountingProxy proxy;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    /** Autovacuum takes transaction numbers too, whenever it likes. */
    @BeforeAll
    static void stopAutovacuum() {
        autovacuum("off");
        await().until(() -> TestServer.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")
                .equals("0"));
    }

    @AfterAll
    static void startAutovacuum() {
        autovacuum("on");
    }

    private static void autovacuum(String mode) {
        TestServer.execute("ALTER SYSTEM SET autovacuum = " + mode);
        TestServer.execute("SELECT pg_reload_conf()");
    }

    @BeforeEach
    void open() {
        proxy = new CountingProxy();
        pool = TestServer.pool(proxy.source(), 3);
        store = PostgresStore.on(pool)
                .schema(TestServer.newSchema())
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        // The driver splits executes by what it has learnt of their results, so everything is measured when it is warm.
        for (int i = 0; i < 10; i++) {
            RunRef run = fixture.start("warm-" + i);
            fixture.apply(append(run, 1));
            fixture.apply(complete(run));
        }
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
        proxy.close();
    }

    private record Cost(int roundTrips, long commits) {}

    private Cost costOf(Runnable work) {
        long before = transactions();
        proxy.reset();
        work.run();
        int roundTrips = proxy.roundTrips();
        return new Cost(roundTrips, transactions() - before);
    }

    /** Every transaction that writes takes a number. */
    private static long transactions() {
        return Long.parseLong(TestServer.query("SELECT pg_snapshot_xmax(pg_current_snapshot())"));
    }

    @Test
    void a_start_is_one_round_trip_and_one_commit() {
        assertThat(costOf(() -> fixture.start("a"))).isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(1);
    }

    @Test
    void an_append_is_one_round_trip_and_one_commit_and_one_statement() {
        RunRef run = fixture.start("a");
        assertThat(costOf(() -> fixture.apply(append(run, 1)))).isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(1);
    }

    @Test
    void a_completion_is_one_round_trip_and_one_commit() {
        RunRef run = fixture.start("a");
        assertThat(costOf(() -> fixture.apply(complete(run)))).isEqualTo(new Cost(1, 1));
        // Settings and end: no run waits for it, so none is looked for.
        assertThat(proxy.statements()).isEqualTo(2);
    }

    @Test
    void a_wait_is_one_round_trip_and_one_commit_alone_and_beside_others() {
        for (int round = 0; round < 3; round++) {
            List<RunRef> runs = fixture.startAll(List.of("a" + round, "b" + round, "c" + round));
            assertThat(costOf(() -> fixture.apply(StoreFixture.await(runs.get(0), Channel.message("news")))))
                    .isEqualTo(new Cost(1, 1));
            // Settings and wait: the run is neither locked nor looked up first.
            assertThat(proxy.statements()).isEqualTo(2);
            assertThat(costOf(() -> fixture.apply(
                            List.of(StoreFixture.await(runs.get(1), Channel.message("news")), complete(runs.get(2))))))
                    .isEqualTo(new Cost(1, 1));
            // And both locked in one pass before one waits and one ends.
            assertThat(proxy.statements()).isEqualTo(4);
        }
    }

    @Test
    void a_delivery_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef waits = fixture.start("waits-" + round);
            fixture.apply(StoreFixture.await(waits, Channel.message("news")));
            assertThat(costOf(() -> allReady(List.of(StoreFixture.message(waits, "news")))))
                    .isEqualTo(new Cost(1, 1));
        }
    }

    private void allReady(List<Change> deliveries) {
        assertThat(store.ledger().apply(Lane.client(0), deliveries))
                .allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(
                                Outcome.Applied.class,
                                applied -> assertThat(applied.state()).isEqualTo(RunState.READY)));
    }

    @Test
    void a_thousand_deliveries_to_a_thousand_waiting_runs_are_one_round_trip_and_one_commit() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 1_000).mapToObj(i -> "run-" + i).toList());
        fixture.apply(runs.stream()
                .<Change>map(run -> StoreFixture.await(run, Channel.message("news")))
                .toList());
        List<Change> deliveries = runs.stream()
                .<Change>map(run -> StoreFixture.message(run, "news"))
                .toList();
        assertThat(costOf(() -> allReady(deliveries))).isEqualTo(new Cost(1, 1));
    }

    @Test
    void the_end_of_a_child_with_a_waiting_parent_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef parent = fixture.start("parent-" + round);
            NewRun child = StoreFixture.child(parent, "child-" + round, 1);
            RunRef started = ((Outcome.Started) fixture.apply(new Change.Start(child, fixture.worker))).run();
            fixture.apply(StoreFixture.await(parent, Channel.answer(1)));
            assertThat(costOf(() -> fixture.apply(complete(started)))).isEqualTo(new Cost(1, 1));
            assertThat(store.runs().find(parent.id()).orElseThrow().info().state())
                    .isEqualTo(RunState.READY);
        }
    }

    @Test
    void a_transition_with_every_effect_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef run = fixture.start("acts-" + round);
            RunRef other = fixture.start("other-" + round);
            List<Effect> effects = List.of(
                    new Effect.Start(StoreFixture.child(run, "child-" + round, 1)),
                    new Effect.Deliver(
                            other.id(), StoreFixture.message(other, "news").mail()),
                    new Effect.Cancel(other.id(), "why"),
                    new Effect.Take(1),
                    new Effect.Publish("progress", 2, StoreFixture.json("1")),
                    new Effect.Awakeable("hash-" + round, 3),
                    new Effect.Subscribe("paid", "42", 4));
            Move restart = new Move.Restart(StoreFixture.json("2"), 2);
            assertThat(costOf(() -> fixture.apply(new Change.Advance(run, 1, List.of(step(1)), effects, restart))))
                    .isEqualTo(new Cost(1, 1));
        }
    }

    /** A start, an end of each task by which the worker gets the next, and the end of the run itself. */
    @Test
    void a_line_of_tasks_is_a_round_trip_and_a_commit_for_each_and_two_more() {
        int length = 30;
        List<Task> tasks = IntStream.range(0, length)
                .mapToObj(i -> new Task(newRun("task-" + i), i == 0 ? List.of() : List.of(i - 1)))
                .toList();
        assertThat(costOf(() -> {
                    Change.Start start = new Change.Start(newRun("line"), fixture.worker, List.of(), tasks);
                    List<Claimed> held = ((Outcome.Started) fixture.apply(start)).handed();
                    for (int i = 0; i <= length; i++) {
                        Change end = StoreFixture.completeAndGoOn(held.getFirst());
                        held = ((Outcome.Applied) fixture.apply(end)).handed();
                    }
                }))
                .isEqualTo(new Cost(length + 2, length + 2));
        assertThat(store.runs().find(newRun("line").id()).orElseThrow().info().state())
                .isEqualTo(RunState.COMPLETED);
    }

    /** Settings, and ends with what they open: two statements, however many tasks end at once. */
    @Test
    void tasks_that_end_together_and_what_comes_after_them_are_one_round_trip_and_two_statements() {
        int dags = 100;
        for (int warmUp = 0; warmUp < 5; warmUp++) {
            fixture.apply(endsOf(diamonds("warm-" + warmUp, 2)));
        }
        List<Change> ends = endsOf(diamonds("dag", dags));
        assertThat(ends).hasSize(4 * dags);
        assertThat(costOf(() -> assertThat(fixture.apply(ends).stream()
                                .mapToInt(outcome ->
                                        ((Outcome.Applied) outcome).handed().size())
                                .sum())
                        .isEqualTo(dags)))
                .isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(2);
    }

    /** Starts of DAGs of which four tasks begin at once and a fifth comes after them; gives the four of each. */
    private List<Claimed> diamonds(String name, int count) {
        List<Change> starts = IntStream.range(0, count)
                .<Change>mapToObj(i -> {
                    String dag = name + "-" + i;
                    List<Task> tasks = IntStream.range(0, 5)
                            .mapToObj(place ->
                                    new Task(newRun(dag + "/" + place), place == 4 ? List.of(0, 1, 2, 3) : List.of()))
                            .toList();
                    return new Change.Start(newRun(dag), fixture.worker, List.of(), tasks);
                })
                .toList();
        return fixture.apply(starts).stream()
                .flatMap(started -> ((Outcome.Started) started).handed().stream())
                .toList();
    }

    private static List<Change> endsOf(List<Claimed> tasks) {
        return tasks.stream().<Change>map(StoreFixture::completeAndGoOn).toList();
    }

    /** Its start tells it the state. Twice, because the driver splits executes by what it has learnt of their results. */
    @Test
    void a_call_of_a_free_object_is_two_round_trips_and_two_commits_and_so_are_many() {
        for (int count : List.of(1, 50, 1, 50)) {
            List<Change> starts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ObjectCall cart = new ObjectCall(new ObjectKey("cart", "free-" + i), ObjectCall.Hold.EXCLUSIVE);
                starts.add(new Change.Start(newRun("free-" + UUID.randomUUID()).on(cart), fixture.worker));
            }
            assertThat(costOf(() -> {
                        List<Change> ends = new ArrayList<>();
                        for (Outcome outcome : fixture.apply(starts)) {
                            Outcome.Started started = (Outcome.Started) outcome;
                            assertThat(started.state()).isNotNull();
                            List<Effect> sets = List.of(new Effect.SetState("count", StoreFixture.json("1")));
                            Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64);
                            ends.add(new Change.Advance(started.run(), 1, List.of(), sets, end));
                        }
                        assertThat(fixture.apply(ends)).allMatch(Outcome.Applied.class::isInstance);
                    }))
                    .isEqualTo(new Cost(2, 2));
        }
    }

    /** A start of each call, and an end of each by which the worker gets the next; once it is known that the key is hot. */
    @Test
    void a_call_of_an_object_is_two_round_trips_and_two_commits_also_on_a_hot_key() {
        int calls = 8;
        int each = 2 * (calls - 1);
        ObjectCall cart = new ObjectCall(new ObjectKey("cart", "a"), ObjectCall.Hold.EXCLUSIVE);
        List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("1")));
        Outcome.Started first = (Outcome.Started)
                fixture.apply(new Change.Start(newRun("call-0").on(cart), fixture.worker));
        fixture.apply(new Change.Start(newRun("call-hot").on(cart), fixture.worker));
        assertThat(costOf(() -> {
                    for (int i = 1; i < calls; i++) {
                        fixture.apply(new Change.Start(newRun("call-" + i).on(cart), fixture.worker));
                    }
                    RunRef running = first.run();
                    for (int i = 1; i < calls; i++) {
                        Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 1);
                        Change change = new Change.Advance(running, 1, List.of(), effects, end);
                        running = ((Outcome.Applied) fixture.apply(change))
                                .handed()
                                .getFirst()
                                .run();
                    }
                }))
                .isEqualTo(new Cost(each, each));
    }

    /** Twice, because the driver splits executes by what it has learnt of their results. */
    @Test
    void many_calls_of_a_hot_key_that_end_ahead_of_their_turns_are_one_round_trip_and_one_commit() {
        for (int round = 0; round < 2; round++) {
            int calls = 64;
            ObjectCall cart = new ObjectCall(new ObjectKey("cart", "hot-" + round), ObjectCall.Hold.EXCLUSIVE);
            List<RunRef> runs = new ArrayList<>();
            for (int i = 0; i <= calls; i++) {
                NewRun run = newRun("hot-%d-%d".formatted(round, i)).on(cart);
                runs.add(((Outcome.Started) fixture.apply(new Change.Start(run, fixture.worker))).run());
            }
            List<Change> ends = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                RunRef before = i == 0 ? null : runs.get(i - 1);
                Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64, before);
                List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("" + i)));
                ends.add(new Change.Advance(runs.get(i), 1, List.of(), effects, end));
            }
            assertThat(costOf(() -> assertThat(fixture.apply(ends)).allMatch(Outcome.Applied.class::isInstance)))
                    .isEqualTo(new Cost(1, 1));
        }
    }

    /** With the end of the call before them, and the start of the one behind them. */
    @Test
    void many_calls_of_a_hot_key_that_begin_and_end_at_once_are_one_round_trip_and_one_commit() {
        ObjectCall cart = new ObjectCall(new ObjectKey("cart", "pipeline"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = ((Outcome.Started)
                        fixture.apply(new Change.Start(newRun("pipeline-0").on(cart), fixture.worker)))
                .run();
        for (int round = 0; round < 3; round++) {
            List<Change> changes = new ArrayList<>();
            List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("" + round)));
            Move.End end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64);
            changes.add(new Change.Advance(holder, 1, List.of(), effects, end));
            RunId before = holder.id();
            for (int i = 0; i < 100; i++) {
                NewRun run = newRun("pipeline-%d-%d".formatted(round, i)).on(cart);
                changes.add(new Change.CompletedCall(run, List.of(), effects, end, before));
                before = run.id();
            }
            changes.add(new Change.Start(newRun("pipeline-" + (round + 1)).on(cart), fixture.worker));
            List<Outcome> outcomes = new ArrayList<>();
            assertThat(costOf(() -> outcomes.addAll(fixture.apply(changes)))).isEqualTo(new Cost(1, 1));
            assertThat(outcomes.subList(0, 101)).allMatch(Outcome.Applied.class::isInstance);
            holder = ((Outcome.Applied) outcomes.getFirst()).handed().getFirst().run();
        }
    }

    @Test
    void all_there_is_to_know_of_many_tasks_is_two_round_trips() {
        List<Task> tasks = IntStream.range(0, 100)
                .mapToObj(i -> new Task(newRun("task-" + i), List.of()))
                .toList();
        RunRef run = ((Outcome.Started)
                        fixture.apply(new Change.Start(newRun("wide"), fixture.worker, List.of(), tasks)))
                .run();
        assertThat(costOf(() -> assertThat(store.runs().tasks(run)).hasSize(100)))
                .isEqualTo(new Cost(2, 0));
    }

    @Test
    void a_thousand_appends_are_one_round_trip_and_one_commit() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 1_000).mapToObj(i -> "run-" + i).toList());
        List<Change> appends = runs.stream().<Change>map(run -> append(run, 1)).toList();
        assertThat(costOf(() -> assertThat(fixture.apply(appends)).allMatch(Outcome.Applied.class::isInstance)))
                .isEqualTo(new Cost(1, 1));
    }

    @Test
    void a_mixed_batch_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef stays = fixture.start("stays-" + round);
            RunRef ends = fixture.start("ends-" + round);
            RunRef waits = fixture.start("waits-" + round);
            Move wait = new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofHours(1)), 0);
            List<Change> batch = List.of(
                    append(stays, 1),
                    complete(ends),
                    new Change.Advance(waits, 1, List.of(step(1)), wait),
                    new Change.Start(newRun("new-" + round), fixture.worker),
                    new Change.Command(newRun("none").id(), Change.CommandKind.CANCEL, "x"));
            assertThat(costOf(() -> fixture.apply(batch))).isEqualTo(new Cost(1, 1));
        }
    }

    @Test
    void a_poll_is_one_round_trip_whether_it_finds_something_or_not() {
        for (int round = 0; round < 8; round++) {
            assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10))).roundTrips())
                    .isEqualTo(1);
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun("a-" + round), null)));
            assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10)))).isEqualTo(new Cost(1, 1));
        }
    }

    @Test
    void a_transaction_step_is_one_transaction_and_one_round_trip_more_than_its_body() {
        PostgresTransactions transactions = PostgresTransactions.on(store, pool);
        for (int round = 0; round < 8; round++) {
            RunRef run = fixture.start("transaction-" + round);
            Cost bodyAlone = costOf(this::bodyAlone);
            Cost step = costOf(() -> assertThat(transact(transactions, run)).isEqualTo(new Transacted.Recorded()));
            if (round >= 5) { // the driver knows the shapes
                assertThat(step).isEqualTo(new Cost(bodyAlone.roundTrips() + 1, 1));
            }
            assertThat(store.journals().read(run, 0, 100).entries()).hasSize(1);
        }
    }

    private Transacted transact(PostgresTransactions transactions, RunRef run) {
        TransactionTicket ticket = new TransactionTicket(
                fixture.worker,
                Duration.ofSeconds(10),
                run,
                0,
                Outcome.Started.FIRST_EPOCH,
                1,
                TransactionOptions.isolation(TransactionOptions.Isolation.SERIALIZABLE));
        try {
            return transactions.run(ticket, connection -> {
                body(connection);
                return step(1);
            });
        } catch (Exception thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    private static void body(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_current_xact_id()");
        }
    }

    private void bodyAlone() {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            body(connection);
            connection.commit();
        } catch (SQLException thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    @Test
    void an_idle_sweep_is_one_round_trip_and_writes_nothing() {
        store.leases().sweep(10);
        assertThat(costOf(() -> store.leases().sweep(10))).isEqualTo(new Cost(1, 0));
    }

    /** Three for each run; the rest is the lease and the poll, which go by time and not by runs. */
    @Test
    void an_engine_makes_three_round_trips_for_a_run_of_one_step_and_looks_for_nothing_meanwhile() {
        Definition<Integer, Integer> one =
                Definition.of("one", Integer.class, Integer.class, (ctx, in) -> ctx.step("same", () -> in));
        int runs = 500;
        try (Perdure perdure = Perdure.on(store).register(one).start()) {
            perdure.start(Invocation.of(one, 0)).result();
            proxy.reset();
            for (int i = 0; i < runs; i++) {
                perdure.start(Invocation.of(one, i)).result();
            }
            assertThat(proxy.roundTrips()).isBetween(3 * runs, 3 * runs + runs / 2);
        }
    }

    /**
     * A start, an end of each task, and the end of the DAG itself; nothing is claimed in between. In addition, the caller that
     * waits for the result asks for it once, because no worker has the DAG's own run in memory; and the lease, the poll and the
     * look for results go by time, a few a second, however long a busy machine takes.
     */
    @Test
    void an_engine_makes_a_round_trip_for_each_task_of_a_line_two_more_and_asks_once() {
        int length = 10;
        int runs = 100;
        Dag<Integer, Integer> line = Dag.of("line", Integer.class, dag -> {
            DagTask<Integer> last = dag.task("task-0", t -> t.input());
            for (int i = 1; i < length; i++) {
                last = dag.after(last).task("task-" + i, (t, number) -> number + 1);
            }
            return last;
        });
        try (Perdure perdure = Perdure.on(store).register(line).start()) {
            for (int i = 0; i < 10; i++) {
                perdure.start(line, i).result();
            }
            proxy.reset();
            long began = System.nanoTime();
            for (int i = 0; i < runs; i++) {
                assertThat(perdure.start(line, i).result()).isEqualTo(i + length - 1);
            }
            int byTime = (int) (10 * (1 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began)));
            assertThat(proxy.roundTrips()).isBetween((length + 2) * runs, (length + 3) * runs + runs / 2 + byTime);
        }
    }

    /**
     * What a run gets, that it takes it, and what it sends are one transition, which brings it to the other in memory: nothing is
     * claimed and no mailbox is read in between.
     */
    @Test
    void an_engine_makes_a_round_trip_for_each_message_between_two_runs_in_memory() {
        int messages = 400;
        Topic<Integer> ball = Topic.of("ball", Integer.class);
        Definition<String, Integer> player = Definition.of("player", String.class, Integer.class, (ctx, other) -> {
            int last = 0;
            while (last < messages) {
                last = ctx.receive(ball).await();
                ctx.send(RunId.of(other), ball, last + 1);
            }
            return last;
        });
        try (Perdure perdure = Perdure.on(store).register(player).start()) {
            Run<Integer> ping = perdure.start(Invocation.of(player, "pong"), StartOptions.id("ping"));
            perdure.start(Invocation.of(player, "ping"), StartOptions.id("pong"));
            proxy.reset();
            ping.send(ball, 1);
            assertThat(ping.result()).isEqualTo(messages + 1);
            assertThat(proxy.roundTrips()).isBetween(messages, messages + messages / 2);
        }
    }

    @Test
    void a_delivery_to_a_run_in_memory_is_one_round_trip_and_one_commit_as_soon_as_one_was_met_there() {
        RunRef held = fixture.start("held");
        for (int round = 0; round < 8; round++) {
            Change.Deliver delivery = StoreFixture.message(held, "news-" + round);
            assertThat(costOf(() -> store.ledger().apply(Lane.client(0), List.of(delivery))))
                    .isEqualTo(new Cost(1, 1));
            assertThat(proxy.statements()).isEqualTo(round == 0 ? 3 : 2);
        }
        assertThat(store.mailboxes().unread(held, 0, 1_000_000)).hasSize(8);
    }

    @Test
    void the_end_of_a_child_whose_parent_is_in_memory_is_two_statements_as_soon_as_one_was_met_there() {
        for (int round = 0; round < 8; round++) {
            RunRef parent = fixture.start("parent-" + round);
            NewRun child = StoreFixture.child(parent, "child-" + round, 1);
            RunRef started = ((Outcome.Started) fixture.apply(new Change.Start(child, fixture.worker))).run();
            assertThat(costOf(() -> fixture.apply(complete(started)))).isEqualTo(new Cost(1, 1));
            assertThat(proxy.statements()).isEqualTo(round == 0 ? 4 : 2);
            assertThat(store.mailboxes().unread(parent, 0, 1_000_000)).hasSize(1);
        }
    }

    @Test
    void all_callers_that_wait_for_published_values_are_one_round_trip() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 100).mapToObj(i -> "run-" + i).toList());
        List<Mailboxes.Place> places = runs.stream()
                .map(run -> new Mailboxes.Place(run, "progress", 0))
                .toList();
        List<Mailboxes.Promised> promises =
                runs.stream().map(run -> new Mailboxes.Promised(run, "paid")).toList();
        assertThat(costOf(() ->
                        assertThat(store.mailboxes().published(places, 10)).isEmpty()))
                .isEqualTo(new Cost(1, 0));
        assertThat(costOf(() -> assertThat(store.mailboxes().promises(promises)).isEmpty()))
                .isEqualTo(new Cost(1, 0));
    }
}
