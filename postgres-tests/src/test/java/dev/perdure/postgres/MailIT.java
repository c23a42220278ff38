package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Mail between processes that do not know of each other, and mail that is not as it should be. */
final class MailIT {
    private static final Channel NEWS = Channel.message("news");
    private static final int ROUNDS = 60;

    private String schema;
    private HikariDataSource pool;
    private PostgresStore here;
    private PostgresStore there;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(MailIT.class);
        pool = TestServer.pool(9);
        here = PostgresStore.on(pool).schema(schema).notifications(false).open();
        there = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(here);
    }

    @AfterEach
    void close() {
        there.close();
        here.close();
        pool.close();
    }

    private static <T> List<T> atOnce(List<Callable<T>> tasks) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(tasks.size());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<T>> futures = new ArrayList<>();
            for (Callable<T> task : tasks) {
                futures.add(threads.submit(() -> {
                    barrier.await();
                    return task.call();
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get());
            }
            return results;
        }
    }

    private RunState stateOf(RunRef run) {
        return here.runs().find(run.id()).orElseThrow().info().state();
    }

    private void assertWoken(RunRef run, Outcome waited) {
        assertThat(waited).isInstanceOfAny(Outcome.Applied.class, Outcome.Woken.class);
        if (waited instanceof Outcome.Applied) {
            assertThat(stateOf(run)).isEqualTo(RunState.READY);
        }
    }

    @Test
    void a_run_that_suspends_while_two_processes_write_to_it_goes_on() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            RunRef run = fixture.start("run-" + round);
            List<Outcome> outcomes = atOnce(List.of(
                    () -> fixture.apply(StoreFixture.await(run, NEWS)),
                    () -> here.ledger()
                            .apply(Lane.client(0), List.of(StoreFixture.message(run, "news")))
                            .getFirst(),
                    () -> there.ledger()
                            .apply(Lane.client(0), List.of(StoreFixture.message(run, "news")))
                            .getFirst()));
            assertWoken(run, outcomes.getFirst());
            assertThat(here.mailboxes().unread(run, 0, 1_000))
                    .extracting(Arrived::number)
                    .containsExactly(1L, 2L);
        }
    }

    @Test
    void a_parent_that_suspends_while_its_children_end_elsewhere_goes_on() throws Exception {
        StoreFixture elsewhere = new StoreFixture(there);
        for (int round = 0; round < ROUNDS; round++) {
            RunRef parent = fixture.start("parent-" + round);
            RunRef first = startChild(fixture, parent, 1);
            RunRef second = startChild(elsewhere, parent, 2);
            Change.Advance wait = StoreFixture.awaitAll(parent, Channel.answer(1), Channel.answer(2));
            List<Outcome> outcomes = atOnce(List.of(
                    () -> fixture.apply(wait),
                    () -> here.ledger()
                            .apply(new Lane(fixture.worker, 1), List.of(StoreFixture.complete(first)))
                            .getFirst(),
                    () -> elsewhere.apply(StoreFixture.complete(second))));
            assertThat(outcomes.subList(1, 3)).allMatch(Outcome.Applied.class::isInstance);
            assertWoken(parent, outcomes.getFirst());
            assertThat(here.mailboxes().unread(parent, 0, 1_000)).hasSize(2);
        }
    }

    private static RunRef startChild(StoreFixture fixture, RunRef parent, int position) {
        Outcome outcome = fixture.apply(
                new Change.Start(StoreFixture.child(parent, parent.id() + "-" + position, position), fixture.worker));
        return ((Outcome.Started) outcome).run();
    }

    @Test
    void batches_that_write_to_the_same_runs_in_any_order_all_arrive() throws Exception {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 10).mapToObj(i -> "run-" + i).toList());
        List<Callable<Integer>> senders = new ArrayList<>();
        for (int sender = 0; sender < 4; sender++) {
            PostgresStore store = sender % 2 == 0 ? here : there;
            Random order = new Random(sender);
            senders.add(() -> {
                for (int batch = 0; batch < 20; batch++) {
                    List<RunRef> shuffled = new ArrayList<>(runs);
                    Collections.shuffle(shuffled, order);
                    List<Change> mails = shuffled.stream()
                            .<Change>map(run -> StoreFixture.message(run, "news"))
                            .toList();
                    assertThat(store.ledger().apply(Lane.client(0), mails)).allMatch(Outcome.Applied.class::isInstance);
                }
                return 20;
            });
        }
        assertThat(atOnce(senders)).containsOnly(20);
        for (RunRef run : runs) {
            assertThat(here.mailboxes().unread(run, 0, Integer.MAX_VALUE))
                    .extracting(Arrived::number)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, 80).boxed().toList());
        }
    }

    @Test
    void a_promise_that_two_processes_resolve_at_once_is_resolved_by_one() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            RunRef run = fixture.start("run-" + round);
            List<Outcome> outcomes = atOnce(List.of(() -> resolve(here, run), () -> resolve(there, run)));
            assertThat(outcomes)
                    .hasOnlyElementsOfTypes(Outcome.Applied.class, Outcome.Undelivered.class)
                    .hasAtLeastOneElementOfType(Outcome.Applied.class)
                    .hasAtLeastOneElementOfType(Outcome.Undelivered.class);
        }
    }

    private static Outcome resolve(PostgresStore store, RunRef run) {
        Mail mail = Mail.value(Channel.promise("paid"), UUID.randomUUID(), StoreFixture.json("1"));
        return store.ledger()
                .apply(Lane.client(0), List.of(new Change.Deliver(run.id(), mail)))
                .getFirst();
    }

    @Test
    void the_sweep_tells_the_parent_of_a_killed_child() {
        RunRef parent = fixture.start("parent");
        StoreFixture dying = new StoreFixture(there);
        RunRef child = startChild(dying, parent, 1);
        fixture.apply(StoreFixture.await(parent, Channel.answer(1)));
        there.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(child.id(), Change.CommandKind.KILL, "enough")));
        there.leases().leave(dying.worker);

        assertThat(here.leases().sweep(10)).hasSize(1);
        assertThat(stateOf(child)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(parent)).isEqualTo(RunState.READY);
        Mail mail = here.mailboxes().unread(parent, 0, 1_000).getFirst().mail();
        assertThat(mail.status()).isEqualTo(Entry.Status.FAILURE);
        assertThat(mail.text()).isEqualTo("CANCELLED: enough");
    }

    @Test
    void a_killed_child_whose_parent_is_locked_is_left_for_the_next_sweep() throws Exception {
        RunRef parent = fixture.start("parent");
        StoreFixture dying = new StoreFixture(there);
        RunRef child = startChild(dying, parent, 1);
        there.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(child.id(), Change.CommandKind.KILL, "enough")));
        there.leases().leave(dying.worker);
        try (var holder = TestServer.plain().getConnection();
                var statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT FROM %s.run WHERE id = 'parent' FOR UPDATE".formatted(schema));
            assertThat(here.leases().sweep(10)).isEmpty();
            holder.rollback();
        }
        assertThat(here.leases().sweep(10)).hasSize(1);
    }

    @Test
    void what_the_server_does_not_store_is_refused_with_all_its_effects_and_nothing_else_is() {
        List<RunRef> runs = fixture.startAll(List.of("a", "b", "c", "d"));
        Mail nul = Mail.value(Channel.message("ne\0ws"), UUID.randomUUID(), StoreFixture.json("1"));
        Mail text = Mail.failure(NEWS, UUID.randomUUID(), "it \0 broke", StoreFixture.json("1"));
        List<Effect> effects = List.of(
                new Effect.Publish("progress", 1, StoreFixture.json("1")),
                new Effect.Publish("pro\0gress", 2, StoreFixture.json("1")));

        List<Outcome> outcomes = fixture.apply(List.of(
                new Change.Deliver(runs.get(3).id(), nul),
                new Change.Advance(runs.get(0), 1, List.of(StoreFixture.step(1)), effects, StoreFixture.STAY),
                StoreFixture.await(runs.get(1), Channel.promise("a\0b")),
                new Change.Deliver(runs.get(3).id(), text),
                StoreFixture.complete(runs.get(2))));

        assertThat(outcomes.subList(0, 3)).allMatch(Outcome.Refused.class::isInstance);
        assertThat(outcomes.subList(3, 5)).allMatch(Outcome.Applied.class::isInstance);
        assertThat(here.mailboxes().latest(runs.get(0), "progress")).isEmpty();
        assertThat(here.journals().read(runs.get(0), 0, 1_000).entries()).isEmpty();
        assertThat(stateOf(runs.get(1))).isEqualTo(RunState.RUNNING);
        assertThat(here.mailboxes().unread(runs.get(3), 0, 1_000))
                .extracting(arrived -> arrived.mail().text())
                .containsExactly("it \uFFFD broke");
    }

    @Test
    void names_with_any_punctuation_are_awaited_as_they_are() {
        String name = "a \"b\" \\ {c},d 'e' é";
        RunRef run = fixture.start("a");
        fixture.apply(StoreFixture.await(run, Channel.message(name)));

        fixture.apply(StoreFixture.message(run, "a"));
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        fixture.apply(new Change.Deliver(
                run.id(), Mail.value(Channel.message(name), UUID.randomUUID(), StoreFixture.json("1"))));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void several_transitions_of_a_batch_may_cancel_a_run_that_a_caller_commands() {
        List<RunRef> runs = fixture.startAll(List.of("a", "b", "c"));
        RunRef target = runs.getLast();
        List<Change> changes = new ArrayList<>();
        for (RunRef run : runs.subList(0, 2)) {
            changes.add(new Change.Advance(
                    run, 1, List.of(), List.of(new Effect.Cancel(target.id(), "why")), StoreFixture.STAY));
        }
        changes.add(new Change.Command(target.id(), Change.CommandKind.PAUSE, "hold on"));
        assertThat(fixture.apply(changes))
                .hasExactlyElementsOfTypes(Outcome.Applied.class, Outcome.Applied.class, Outcome.Commanded.class);

        assertThat(here.dispatch().poll(fixture.poll(0)).signalled())
                .singleElement()
                .satisfies(signal -> {
                    assertThat(signal.control().cancel()).isEqualTo("why");
                    assertThat(signal.control().pause()).isEqualTo("hold on");
                });
    }

    @Test
    void two_commands_to_one_run_in_one_batch_are_both_carried_out() {
        RunRef run = fixture.start("a");
        List<Change> commands = List.of(
                new Change.Command(run.id(), Change.CommandKind.PAUSE, "hold on"),
                new Change.Command(run.id(), Change.CommandKind.CANCEL, "why"));
        assertThat(fixture.apply(commands)).allMatch(Outcome.Commanded.class::isInstance);
    }

    @Test
    void void_subscriptions_are_removed_by_the_query_that_finds_them() {
        List<RunRef> runs = fixture.startAll(List.of("a", "b"));
        runs.forEach(run -> fixture.apply(new Change.Advance(
                run, 1, List.of(), List.of(new Effect.Subscribe("paid", "", 1)), StoreFixture.STAY)));
        fixture.apply(StoreFixture.complete(runs.getFirst()));
        String count = "SELECT count(*) FROM %s.subscription".formatted(schema);
        assertThat(TestServer.query(count)).isEqualTo("2");

        assertThat(here.mailboxes().subscribers("paid", "42")).containsExactly(new Address(RunId.of("b"), 1, 0));
        assertThat(TestServer.query(count)).isEqualTo("1");
    }

    @Test
    void what_was_taken_is_passed_by_when_the_rest_is_read() {
        RunRef run = fixture.start("a");
        for (int i = 1; i <= 3; i++) {
            fixture.apply(StoreFixture.message(run, "news"));
        }
        fixture.apply(new Change.Advance(run, 1, List.of(), List.of(new Effect.Take(2)), StoreFixture.STAY));

        assertThat(here.mailboxes().unread(run, 0, 1_000))
                .extracting(Arrived::number)
                .containsExactly(1L, 3L);
        assertThat(TestServer.query("SELECT length(payload) FROM %s.mail WHERE number = 2".formatted(schema)))
                .isEqualTo("0");
    }
}
