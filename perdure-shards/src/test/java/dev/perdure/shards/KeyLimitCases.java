package dev.perdure.shards;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.error.KeyFullException;
import dev.perdure.error.PayloadException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queue.WhenKeyFull;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Limits of keys that two shards have together: all runs of a key are on one of them. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one pair of databases for all tests
abstract class KeyLimitCases {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Topic<String> GO_ON = Topic.of("go on", String.class);
    private static final Queue IMPORTS = Queue.named("imports").perKey(1);
    private static final Queue LOOKUPS = Queue.named("lookups").ratePerKey(3, Duration.ofDays(1));
    private static final Queue REFUSING = Queue.named("refusing").perKey(1).whenKeyFull(WhenKeyFull.REFUSE);
    private static final Queue REPLACING = Queue.named("replacing").perKey(1).whenKeyFull(WhenKeyFull.CANCEL_OLDEST);

    /** Counts from outside how many runs of each key are at work at once. */
    private final Map<String, AtomicInteger> now = new ConcurrentHashMap<>();

    private final Map<String, AtomicInteger> most = new ConcurrentHashMap<>();

    private final Definition<String, String> work =
            Definition.of("work", String.class, String.class, (ctx, key) -> ctx.step("work", () -> counted(key)));
    private final Definition<String, String> waiter = Definition.of(
            "waiter",
            String.class,
            String.class,
            (ctx, none) -> ctx.receive(GO_ON).await());
    private final Definition<String, String> parent =
            Definition.of("parent", String.class, String.class, (ctx, key) -> {
                var child = ctx.startChild(
                        Invocation.of(work, key),
                        ChildOptions.defaults().queue("imports").key(key));
                return child.id() + " " + child.await();
            });
    private final Definition<String, String> stubborn = Definition.of(
            "stubborn",
            String.class,
            String.class,
            (ctx, child) -> ctx.startChild(
                            Invocation.of(work, "acme"),
                            childId(child).queue("imports").key("acme"))
                    .await());
    private final Dag<String, String> graph = Dag.of("graph", String.class, dag -> {
        var one = dag.task("one", task -> counted(task.input()));
        dag.task("two", task -> counted(task.input()));
        return one;
    });

    Store first;
    Store second;
    ShardedStore store;
    Perdure perdure;

    private String counted(String key) {
        AtomicInteger mine = now.computeIfAbsent(key, unseen -> new AtomicInteger());
        most.computeIfAbsent(key, unseen -> new AtomicInteger()).accumulateAndGet(mine.incrementAndGet(), Math::max);
        for (int i = 0; i < 1_000; i++) {
            Thread.onSpinWait();
        }
        mine.decrementAndGet();
        return key;
    }

    /** An empty store. */
    abstract Store open(String name);

    /** Drops what the stores were on. */
    abstract void drop();

    @BeforeAll
    void start() {
        first = open("a");
        second = open("b");
        store = ShardedStore.over(shard("a", first), shard("b", second));
        perdure = Perdure.on(store)
                .register(work)
                .register(waiter)
                .register(parent)
                .register(stubborn)
                .register(graph)
                .queues(IMPORTS, LOOKUPS, REFUSING, REPLACING, Queue.named("open"), Queue.named("default"))
                .lease(Duration.ofSeconds(2))
                .start();
    }

    @AfterAll
    void stop() {
        perdure.close();
        store.close();
        drop();
    }

    private static StartOptions with(Queue queue, String key) {
        return StartOptions.defaults().queue(queue.name()).key(key);
    }

    /** A key that this shard counts. */
    private String key(int shard) {
        return first(shardOf -> shardOf == shard, "key");
    }

    /** An id that leads to the other shard than a key. */
    private String idBesides(String key) {
        int home = store.parts().of(RunId.of(key + "/"));
        return first(shard -> shard != home, "away");
    }

    private String first(IntPredicate shard, String name) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> name + "-" + i)
                .filter(text -> shard.test(store.parts().of(RunId.of(text))))
                .findFirst()
                .orElseThrow();
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    private static boolean waits(Run<?> run, String why) {
        return run.state() == RunState.READY
                && run.info().reason().filter(reason -> reason.startsWith(why)).isPresent();
    }

    @Test
    void one_run_of_a_key_is_at_work_at_a_time_wherever_its_key_is() {
        List<String> keys = List.of(key(0), key(1), "a/key/with slashes", "ключ 🔑");
        List<Run<String>> runs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            for (String key : keys) {
                runs.add(perdure.start(Invocation.of(work, key), with(IMPORTS, key)));
            }
        }
        for (int i = 0; i < runs.size(); i++) {
            String key = keys.get(i % keys.size());
            assertThat(runs.get(i).result(SOON)).isEqualTo(key);
            assertThat(Partitions.of(runs.get(i).id())).isEqualTo(Partitions.ofQueueKey(key));
        }
        keys.forEach(key -> assertThat(most.get(key)).as(key).hasValue(1));
        assertThat(runs.stream().map(run -> store.parts().of(run.id())).distinct())
                .hasSize(2);
    }

    @Test
    void a_key_has_the_whole_rate() {
        for (String key : List.of(key(0), key(1))) {
            for (int i = 0; i < 3; i++) {
                assertThat(perdure.start(Invocation.of(work, key), with(LOOKUPS, key))
                                .result(SOON))
                        .isEqualTo(key);
            }
            Run<String> fourth = perdure.start(Invocation.of(work, key), with(LOOKUPS, key));
            await(() ->
                    waits(fourth, "The rate of the key '" + key + "' of the queue 'lookups' allows no more before "));
            fourth.kill("enough");
        }
        assertThatThrownBy(() -> perdure.start(
                        Invocation.of(work, ""),
                        id(idBesides("acme")).queue("lookups").key("acme")))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("The queue 'lookups' limits keys");
    }

    @Test
    void an_id_that_leads_elsewhere_is_refused_and_one_that_begins_with_the_key_is_not() {
        String elsewhere = idBesides("acme");
        assertThatThrownBy(() -> perdure.start(
                        Invocation.of(work, "acme"),
                        id(elsewhere).queue("imports").key("acme")))
                .isInstanceOf(PayloadException.class)
                .hasMessage(
                        "Run '%1$s' was refused by the store: The queue 'imports' limits keys, and the id '%1$s' leads to another partition than that of the key 'acme', which counts its runs. Leave the id to Perdure, or begin it with 'acme/'."
                                .formatted(elsewhere));
        assertThat(store.runs().find(RunId.of(elsewhere))).isEmpty();
        assertThat(perdure.start(
                                Invocation.of(work, "acme"),
                                id("acme/import-1").queue("imports").key("acme"))
                        .result(SOON))
                .isEqualTo("acme");

        String prefix = store.parts().prefix("a/b");
        assertThatThrownBy(() -> perdure.start(
                        Invocation.of(work, ""),
                        id(idBesides("a/b")).queue("imports").key("a/b")))
                .hasMessageEndingWith("Leave the id to Perdure, or begin it with '" + prefix + "'.");
        assertThat(perdure.start(
                                Invocation.of(work, "a/b"),
                                id(prefix + "1").queue("imports").key("a/b"))
                        .result(SOON))
                .isEqualTo("a/b");

        perdure.start(
                        Invocation.of(work, ""),
                        id(elsewhere + "-open").queue("open").key("acme"))
                .result(SOON);
        perdure.start(Invocation.of(work, ""), id(elsewhere + "-keyless").queue("imports"))
                .result(SOON);
    }

    @Test
    void a_start_under_another_key_is_refused() {
        StartKey once = StartKey.deduplicate("once");
        assertThatThrownBy(() -> perdure.start(
                        Invocation.of(work, ""),
                        StartOptions.under(once).queue("imports").key("acme")))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining(
                        "leads to another partition than that of the key 'acme', which counts its runs. Leave the id to Perdure and start it under no other key, or begin it with 'acme/'.");
    }

    @Test
    void a_child_is_where_its_key_is_counted() {
        for (String key : List.of(key(0), key(1))) {
            String[] child = perdure.start(Invocation.of(parent, key), id("parent-of-" + key))
                    .result(SOON)
                    .split(" ");
            assertThat(child[1]).isEqualTo(key);
            assertThat(Partitions.of(RunId.of(child[0]))).isEqualTo(Partitions.ofQueueKey(key));

            Run<String> beside = perdure.start(Invocation.of(parent, key), id(key + "/parent"));
            assertThat(beside.result(SOON)).startsWith(key + "/parent/");
        }
    }

    @Test
    void a_child_under_an_id_that_leads_elsewhere_pauses_its_parent_with_the_reason() {
        Run<String> run = perdure.start(Invocation.of(stubborn, idBesides("acme")));
        await(() -> run.state() == RunState.PAUSED);
        assertThat(run.info().reason().orElseThrow())
                .contains("The queue 'imports' limits keys", "Leave the id to Perdure, or begin it with 'acme/'.");
    }

    @Test
    void tasks_count_with_the_key_of_their_dag() {
        String key = "of a dag";
        Run<?> run = perdure.start(Invocation.of(graph, key), with(IMPORTS, key));
        Run<?> other = perdure.start(Invocation.of(work, key), with(IMPORTS, key));
        run.result(SOON);
        other.result(SOON);
        assertThat(most.get(key)).hasValue(1);
    }

    @Test
    void a_start_whose_key_is_full_is_refused_on_the_shard_of_the_key() {
        for (String key : List.of(key(0), key(1))) {
            Run<String> holder = perdure.start(Invocation.of(waiter, ""), with(REFUSING, key));
            assertThatThrownBy(() -> perdure.start(Invocation.of(waiter, ""), with(REFUSING, key)))
                    .isInstanceOf(KeyFullException.class)
                    .hasMessageContaining(
                            "The key '%s' of the queue 'refusing' is full: 1 of 1 places are taken or waited for, by '%s'."
                                    .formatted(key, holder.id()));
            holder.send(GO_ON, "done");
            assertThat(holder.result(SOON)).isEqualTo("done");
            Run<String> next = perdure.start(Invocation.of(waiter, ""), with(REFUSING, key));
            next.send(GO_ON, "next");
            assertThat(next.result(SOON)).isEqualTo("next");
        }
    }

    @Test
    void the_oldest_run_of_a_key_gives_way() {
        Run<String> oldest = perdure.start(Invocation.of(waiter, ""), with(REPLACING, "acme"));
        Run<String> newest = perdure.start(Invocation.of(waiter, ""), with(REPLACING, "acme"));
        await(() -> oldest.state() == RunState.CANCELLED);
        newest.send(GO_ON, "new");
        assertThat(newest.result(SOON)).isEqualTo("new");
    }

    @Test
    void a_run_that_was_there_before_the_limit_waits_while_its_key_is_counted_elsewhere() {
        String key = "before";
        Run<String> early = perdure.start(
                Invocation.of(waiter, ""), id(idBesides(key)).queue("open").key(key));
        await(() -> early.state() == RunState.SUSPENDED);
        perdure.queues().limit(Queue.named("open").perKey(1));
        await(() -> store.queues().limits("open"));
        early.send(GO_ON, "gone on");
        await(
                () -> waits(
                        early,
                        "The queue 'open' limits keys, and another shard than that of this run counts the runs of the key 'before'. Move the run to another queue, or start it anew and leave the id to Perdure."));

        Run<String> late = perdure.start(Invocation.of(work, key), with(Queue.named("open"), key));
        assertThat(late.result(SOON)).isEqualTo(key);
        assertThat(early.state()).isEqualTo(RunState.READY);

        perdure.queues().limit(Queue.named("open").perKey(Queue.UNLIMITED));
        assertThat(early.result(SOON)).isEqualTo("gone on");
    }
}
