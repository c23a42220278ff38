package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** An engine on two shards. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one pair of databases for all tests
abstract class ShardedEngineCases {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    private static final Dag<Integer, Integer> SUM =
            Dag.of("sum", Integer.class, dag -> dag.task("one", task -> task.input() + 1));
    private static final Definition<Integer, Integer> LEAF =
            Definition.of("leaf", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));
    private static final Definition<Integer, Integer> TREE = Definition.of(
            "tree",
            Integer.class,
            Integer.class,
            (ctx, number) -> ctx.call(Invocation.of(LEAF, number)) + ctx.call(Invocation.of(SUM, number)));
    private static final Definition<String, String> LISTENER = Definition.of(
            "listener",
            String.class,
            String.class,
            (ctx, none) -> ctx.event(NEWS).await());
    private static final Definition<String, Integer> SPEAKER =
            Definition.of("speaker", String.class, Integer.class, (ctx, text) -> ctx.emit(NEWS, text));

    @VirtualObject("counter")
    static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        @Handler
        public int add(ObjectContext ctx, int number) {
            int sum = ctx.get(COUNT).orElse(0) + number;
            ctx.set(COUNT, sum);
            return sum;
        }
    }

    private Store first;
    private Store second;
    private ShardedStore store;
    private Perdure perdure;

    /** An empty store. */
    abstract Store open(String name);

    @BeforeAll
    void start() {
        first = open("a");
        second = open("b");
        store = ShardedStore.over(shard("a", first), shard("b", second));
        perdure = Perdure.on(store)
                .register(TREE)
                .register(LEAF)
                .register(SUM)
                .register(LISTENER)
                .register(SPEAKER)
                .register(new Counter())
                .start();
    }

    /** Drops what the stores were on. */
    abstract void drop();

    @AfterAll
    void stop() {
        perdure.close();
        store.close();
        drop();
    }

    /** Ids of which each shard has half, one after the other. */
    private List<RunId> ids(String name, int count) {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; ids.size() < count; i++) {
            RunId id = RunId.of(name + i);
            if (store.parts().of(id) == ids.size() % 2) {
                ids.add(id);
            }
        }
        return ids;
    }

    @Test
    void runs_with_children_and_tasks_are_divided_among_the_shards() {
        List<RunId> ids = ids("tree-", 10);
        List<Run<Integer>> runs = ids.stream()
                .map(id -> perdure.start(Invocation.of(TREE, 5), id(id.value())))
                .toList();
        assertThat(runs).allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(16));
        for (Store shard : List.of(first, second)) {
            List<RunInfo> there = shard.runs().list(RunFilter.all().idPrefix("tree-"));
            assertThat(there).hasSize(20); // of each tree: itself, the leaf, the DAG and its task
            assertThat(there).extracting(RunInfo::state).containsOnly(RunState.COMPLETED);
        }
    }

    @Test
    void a_page_of_runs_begins_where_the_last_one_ended() {
        ids("leaf-", 9)
                .forEach(id ->
                        perdure.start(Invocation.of(LEAF, 1), id(id.value())).result(SOON));
        RunFilter leaves = RunFilter.all().idPrefix("leaf-");
        List<RunInfo> all = store.runs().list(leaves);
        List<RunInfo> paged = new ArrayList<>();
        List<RunInfo> page = store.runs().list(leaves.limit(2));
        while (!page.isEmpty()) {
            paged.addAll(page);
            page = store.runs().list(leaves.limit(2).after(page.getLast()));
        }
        assertThat(paged).isEqualTo(all).hasSize(9);
        assertThat(store.runs().count(leaves).get(RunState.COMPLETED).runs()).isEqualTo(9);
    }

    @Test
    void calls_of_an_object_are_on_its_shard_whoever_calls() {
        for (int i = 0; i < 10; i++) {
            String key = "c" + i;
            assertThat(perdure.object(Counter.class, key).call(Counter::add, 2)).isEqualTo(2);
            assertThat(perdure.object(Counter.class, key).call(Counter::add, 3)).isEqualTo(5);
        }
        RunFilter calls = RunFilter.all().idPrefix("p"); // Their ids begin with a text that has the object's partition.
        assertThat(first.runs().list(calls)).isNotEmpty();
        assertThat(second.runs().list(calls)).isNotEmpty();
        assertThat(store.runs().list(calls))
                .hasSize(20)
                .allSatisfy(run -> assertThat(
                                perdure.run(run.id(), TypeRef.of(Integer.class)).result(SOON))
                        .isIn(2, 5));
    }

    @Test
    void an_event_of_a_run_reaches_runs_of_all_shards() {
        List<Run<String>> listeners = ids("listener-", 4).stream()
                .map(id -> perdure.start(Invocation.of(LISTENER, ""), id(id.value())))
                .toList();
        while (store.mailboxes().subscribers(NEWS.name(), "").size() < 4) {
            Thread.onSpinWait();
        }
        assertThat(perdure.start(Invocation.of(SPEAKER, "hello")).result(SOON)).isEqualTo(4);
        assertThat(listeners)
                .allSatisfy(listener -> assertThat(listener.result(SOON)).isEqualTo("hello"));
    }
}
