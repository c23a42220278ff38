package dev.perdure.shards;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.postgres.PostgresShards;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.version.WorkerInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** An engine on two databases between which partitions move while it runs. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one pair of databases for all tests
@Timeout(120) // a message to a run that is nowhere waits without a limit
final class MovingIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Topic<Integer> NUMBERS = Topic.of("numbers", Integer.class);

    /** How often the body of a step was called. */
    private static final Map<String, AtomicInteger> BODIES = new ConcurrentHashMap<>();

    private static final Definition<Integer, String> READER =
            Definition.of("reader", Integer.class, String.class, (ctx, count) -> {
                List<String> read = new ArrayList<>();
                while (read.size() < count) {
                    int number = ctx.receive(NUMBERS).await();
                    String step = ctx.runId() + "#" + number;
                    read.add(ctx.step("note", () -> {
                        BODIES.computeIfAbsent(step, unseen -> new AtomicInteger())
                                .incrementAndGet();
                        return String.valueOf(number);
                    }));
                }
                return String.join(",", read);
            });
    private static final Definition<Long, String> SLEEPER =
            Definition.of("sleeper", Long.class, String.class, (ctx, millis) -> {
                ctx.sleep(Duration.ofMillis(millis));
                return "awake";
            });
    private static final Definition<String, String> CALLER = Definition.of(
            "caller",
            String.class,
            String.class,
            (ctx, child) ->
                    ctx.startChild(Invocation.of(READER, 1), childId(child)).await());

    /** Bodies of this queue may not be at work at the same time; those of calls that are not the first end at once. */
    private static final Queue NARROW = Queue.named("narrow").concurrency(1).counting(Queue.Counting.AT_WORK);

    private static final AtomicInteger AT_WORK = new AtomicInteger();
    private static final AtomicInteger MOST_AT_WORK = new AtomicInteger();
    private static final CountDownLatch FIRST_BODY = new CountDownLatch(1);
    private static final CountDownLatch NEVER = new CountDownLatch(1);
    private static final Definition<Integer, Integer> NARROWED = Definition.of(
            "narrowed",
            Integer.class,
            Integer.class,
            (ctx, number) -> ctx.step("work", () -> {
                MOST_AT_WORK.accumulateAndGet(AT_WORK.incrementAndGet(), Math::max);
                try {
                    if (FIRST_BODY.getCount() > 0) {
                        FIRST_BODY.countDown();
                        NEVER.await();
                    }
                    return number;
                } finally {
                    AT_WORK.decrementAndGet();
                }
            }));

    @VirtualObject("counter")
    static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        @Handler
        public int add(ObjectContext ctx, int number) {
            int sum = ctx.get(COUNT).orElse(0) + number;
            ctx.set(COUNT, sum);
            return sum;
        }

        @Handler
        public int hold(ObjectContext ctx, int days) {
            ctx.sleep(Duration.ofDays(days));
            return days;
        }
    }

    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();
    private Store first;
    private Store second;
    private ShardedStore store;
    private Perdure perdure;
    private PostgresShards shards;

    private PostgresStore open(String name) {
        SharedPostgres.Fresh database = SharedPostgres.database("moving_" + name);
        databases.add(database);
        return PostgresStore.on(database.dataSource()).open();
    }

    @BeforeAll
    void start() {
        first = open("a");
        second = open("b");
        store = ShardedStore.over(shard("a", first), shard("b", second));
        perdure = Perdure.on(store)
                .register(READER)
                .register(SLEEPER)
                .register(CALLER)
                .register(NARROWED)
                .register(new Counter())
                .queues(NARROW, Queue.named("default"))
                .start();
        shards = PostgresShards.of(
                Map.of("a", databases.get(0).dataSource(), "b", databases.get(1).dataSource()), "perdure");
    }

    @AfterAll
    void stop() {
        perdure.close();
        shards.close();
        store.close();
        databases.forEach(SharedPostgres.Fresh::close);
    }

    private static String idIn(int partition, String name) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> name + "-" + i)
                .filter(id -> Partitions.of(RunId.of(id)) == partition)
                .findFirst()
                .orElseThrow();
    }

    private static String numbers(int count) {
        return IntStream.range(0, count).mapToObj(String::valueOf).collect(Collectors.joining(","));
    }

    @Test
    void runs_go_on_where_their_partition_is_and_lose_and_double_nothing() {
        int partition = 10;
        Run<String> reader = perdure.start(Invocation.of(READER, 20), id(idIn(partition, "reader")));
        Run<String> sleeper = perdure.start(Invocation.of(SLEEPER, 300L), id(idIn(partition, "sleeper")));
        Run<String> neighbour = perdure.start(Invocation.of(READER, 20), id(idIn(12, "neighbour")));
        for (int i = 0; i < 20; i++) {
            if (i == 7) {
                shards.move(List.of(partition), "b", step -> {});
            }
            reader.send(NUMBERS, i);
            neighbour.send(NUMBERS, i);
        }
        assertThat(reader.result(SOON)).isEqualTo(numbers(20));
        assertThat(neighbour.result(SOON)).isEqualTo(numbers(20));
        assertThat(sleeper.result(SOON)).isEqualTo("awake");
        assertThat(store.runs().list(RunFilter.all().idPrefix("reader-")))
                .extracting(RunInfo::id)
                .containsExactly(reader.id());
        assertThat(store.runs().latest("reader-", "reader-", 10))
                .extracting(latest -> latest.run().id())
                .containsExactly(reader.id());
        assertThat(store.parts().of(reader.id())).isEqualTo(1);
        assertThat(second.runs().find(reader.id()).orElseThrow().info().state()).isEqualTo(RunState.COMPLETED);
        assertThat(first.runs().find(reader.id()).orElseThrow().info().state())
                .as("what is left of it where it was")
                .isNotEqualTo(RunState.COMPLETED);
        assertThat(BODIES).hasSizeGreaterThanOrEqualTo(40);
    }

    /** The process that has the body keeps its lease. */
    @Test
    void a_body_of_a_partition_that_moves_ends_before_its_place_is_free() throws Exception {
        int partition = 50;
        StartOptions inQueue = id(idIn(partition, "first")).queue("narrow");
        Run<Integer> first = perdure.start(Invocation.of(NARROWED, 1), inQueue);
        FIRST_BODY.await();
        Run<Integer> second =
                perdure.start(Invocation.of(NARROWED, 2), id(idIn(52, "second")).queue("narrow"));
        shards.move(List.of(partition), "b", step -> {});
        awaitNoneAtWork();
        try (ShardServer from = new ShardServer("a", databases.get(0).dataSource(), new Schema("perdure"))) {
            PartitionMove.remove(
                    from, partition, step -> {}); // a command waits for a lease and more before it does that
        }
        assertThat(first.result(SOON)).isEqualTo(1);
        assertThat(second.result(SOON)).isEqualTo(2);
        assertThat(MOST_AT_WORK).hasValue(1);
    }

    private static void awaitNoneAtWork() {
        long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (AT_WORK.get() > 0 && System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void a_closed_partition_holds_up_only_what_is_about_it() {
        RunId closed =
                perdure.start(Invocation.of(READER, 1), id(idIn(32, "closed"))).id();
        RunId beside =
                perdure.start(Invocation.of(READER, 1), id(idIn(34, "beside"))).id();
        close(32);
        assertThat(store.ledger().apply(Lane.client(0), List.of(pause(closed), pause(beside))))
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo(new Outcome.Moving()),
                        second -> assertThat(second).isInstanceOf(Outcome.Commanded.class));
        shards.move(List.of(), "a", step -> {}); // which gives up what others have left behind
        assertThat(store.ledger().apply(Lane.client(0), List.of(pause(closed))))
                .hasOnlyElementsOfType(Outcome.Commanded.class);
    }

    @Test
    void a_transition_that_sends_to_a_closed_partition_waits_and_holds_up_no_other() {
        Run<String> closed = perdure.start(Invocation.of(READER, 1), id(idIn(40, "closed")));
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store.leases().join(new Joining(worker, Set.of("order"), null, SOON, 4));
        Lane lane = new Lane(worker, 0);
        RunRef sender = begun(lane, worker, idIn(42, "sender"));
        RunRef beside = begun(lane, worker, idIn(44, "beside"));
        Effect mail = new Effect.Deliver(
                closed.id(), Mail.value(Channel.message("numbers"), UUID.randomUUID(), new Payload(new byte[] {'7'})));
        Change sends = new Change.Advance(sender, 1, List.of(), List.of(mail), new Move.Stay());
        Change stays = new Change.Advance(beside, 1, List.of(), List.of(), new Move.Stay());
        close(40);
        assertThat(store.ledger().apply(lane, List.of(sends, stays)))
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo(new Outcome.Moving()),
                        second -> assertThat(second).isInstanceOf(Outcome.Applied.class));
        shards.move(List.of(), "a", step -> {});
        assertThat(store.ledger().apply(lane, List.of(sends))).hasOnlyElementsOfType(Outcome.Applied.class);
        assertThat(closed.result(SOON)).isEqualTo("7");
    }

    @Test
    void a_command_for_a_closed_partition_waits_and_ends_no_lease() throws Exception {
        Run<String> closed = perdure.start(Invocation.of(READER, 1), id(idIn(60, "closed")));
        List<UUID> before = workers();
        close(60);
        Thread sender = Thread.ofPlatform().start(() -> closed.kill("enough"));
        while (sender.getState() != Thread.State.TIMED_WAITING) { // between two tries
            Thread.onSpinWait();
        }
        assertThat(workers()).containsAll(before);
        shards.move(List.of(), "a", step -> {});
        sender.join();
        assertThat(closed.state()).isEqualTo(RunState.CANCELLED);
        assertThat(workers()).containsAll(before);
    }

    @Test
    void a_kill_takes_a_child_that_was_on_its_way_to_a_closed_partition() throws Exception {
        RunId child = RunId.of(idIn(66, "child"));
        close(66);
        Run<String> caller = perdure.start(Invocation.of(CALLER, child.value()), id(idIn(67, "caller")));
        while (caller.state() != RunState.SUSPENDED) {
            Thread.onSpinWait();
        }
        Thread killer = Thread.ofPlatform().start(() -> caller.kill("enough"));
        while (killer.isAlive() && killer.getState() != Thread.State.TIMED_WAITING) { // between two looks
            Thread.onSpinWait();
        }
        shards.move(List.of(), "a", step -> {});
        killer.join();
        while (first.runs().find(child).isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(first.runs().find(child).orElseThrow().info().state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_call_under_an_own_id_that_begins_while_its_object_is_copied_stops_the_move() {
        int partition = 70;
        String key = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "held-" + i)
                .filter(text -> Partitions.of(new ObjectKey("counter", text)) == partition)
                .findFirst()
                .orElseThrow();
        String strange = idIn(72, "strange");
        assertThat(perdure.object(Counter.class, key).call(Counter::add, 2)).isEqualTo(2);
        assertThatThrownBy(() -> shards.move(
                        List.of(partition),
                        "b",
                        step -> perdure.object(Counter.class, key).send(Counter::hold, 1, id(strange))))
                .hasMessageStartingWith(
                        "Partition 70 cannot be moved: the run '%s' calls the object 'counter' with the key '%s', and only one of the two is in this partition."
                                .formatted(strange, key));
        perdure.run(RunId.of(strange), TypeRef.of(Integer.class)).kill("enough");
        assertThat(perdure.object(Counter.class, key).call(Counter::add, 3)).isEqualTo(5);
    }

    private List<UUID> workers() {
        return first.versions().workers().stream().map(WorkerInfo::id).toList();
    }

    private RunRef begun(Lane lane, WorkerId worker, String id) {
        List<Outcome> outcomes = store.ledger().apply(lane, List.of(new Change.Start(MembershipTest.run(id), worker)));
        return ((Outcome.Started) outcomes.getFirst()).run();
    }

    private void close(int partition) {
        try (ShardServer from = new ShardServer("a", databases.get(0).dataSource(), new Schema("perdure"));
                ShardServer to = new ShardServer("b", databases.get(1).dataSource(), new Schema("perdure"))) {
            new PartitionMove(partition, from, to, step -> {}).close();
        }
    }

    private static Change pause(RunId run) {
        return new Change.Command(run, Change.CommandKind.PAUSE, "for a while");
    }

    @Test
    @Tag("thorough")
    void a_run_and_its_child_find_each_other_when_one_of_them_has_moved() {
        String child = idIn(22, "child");
        Run<String> caller = perdure.start(Invocation.of(CALLER, child), id(idIn(20, "caller")));
        while (first.runs().find(RunId.of(child)).isEmpty()) {
            Thread.onSpinWait();
        }
        shards.move(List.of(20), "b", step -> {});
        perdure.send(RunId.of(child), NUMBERS, 3);
        assertThat(caller.result(SOON)).isEqualTo("3");
        assertThat(second.runs().find(caller.id())).isPresent();
    }

    @Test
    @Tag("thorough")
    void an_object_keeps_its_state() {
        String key = "moved";
        int partition = Partitions.of(new ObjectKey("counter", key));
        String other = partition % 2 == 0 ? "b" : "a";
        assertThat(perdure.object(Counter.class, key).call(Counter::add, 2)).isEqualTo(2);
        shards.move(List.of(partition), other, step -> {});
        assertThat(perdure.object(Counter.class, key).call(Counter::add, 3)).isEqualTo(5);
    }
}
