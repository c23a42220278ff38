package dev.perdure.shards;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.shard.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    private static final Topic<Integer> NUMBERS = Topic.of("numbers", Integer.class);
    private static final Definition<String, String> CALLER =
            Definition.of("caller", String.class, String.class, (ctx, child) -> {
                try {
                    return String.valueOf(ctx.startChild(Invocation.of(LEAF, 7), childId(child))
                            .await());
                } catch (RunConflictException taken) {
                    return taken.getMessage();
                }
            });
    private static final Definition<Integer, String> READER =
            Definition.of("reader", Integer.class, String.class, (ctx, count) -> {
                List<String> read = new ArrayList<>();
                while (read.size() < count) {
                    read.add(String.valueOf(ctx.receive(NUMBERS).await()));
                }
                return String.join(",", read);
            });
    private static final Definition<String, Integer> WRITER =
            Definition.of("writer", String.class, Integer.class, (ctx, reader) -> {
                for (int i = 0; i < 20; i++) {
                    ctx.send(RunId.of(reader), NUMBERS, i);
                }
                return 0;
            });
    private static final Definition<String, Integer> ADDER = Definition.of(
            "adder",
            String.class,
            Integer.class,
            (ctx, key) -> ctx.object(Counter.class, key).call(Counter::add, 7));
    private static final Definition<String, String> SLEEPER =
            Definition.of("sleeper", String.class, String.class, (ctx, none) -> {
                ctx.sleep(Duration.ofDays(1));
                return none;
            });
    private static final Definition<String, String> KEEPER = Definition.of(
            "keeper",
            String.class,
            String.class,
            (ctx, child) ->
                    ctx.startChild(Invocation.of(SLEEPER, ""), childId(child)).await());

    private static final Set<String> REPAIRED = ConcurrentHashMap.newKeySet();
    /** Its step fails until it is repaired, while a child is at work. */
    private static final Definition<String, String> FAILER =
            Definition.of("failer", String.class, String.class, (ctx, child) -> {
                Child<Integer> leaf = ctx.startChild(Invocation.of(LEAF, 7), childId(child));
                String self = ctx.runId().value();
                ctx.step("repaired", () -> requireRepaired(self), StepOptions.retry(1));
                return String.valueOf(leaf.await());
            });

    private static boolean requireRepaired(String run) {
        if (!REPAIRED.contains(run)) {
            throw new IllegalStateException("It is broken.");
        }
        return true;
    }

    private static final BlockingQueue<String> TOKENS = new LinkedBlockingQueue<>();
    private static final Definition<String, String> WAITER =
            Definition.of("waiter", String.class, String.class, (ctx, none) -> {
                Awakeable<String> answer = ctx.awakeable(String.class);
                ctx.step("hand over", () -> TOKENS.add(answer.token()));
                return answer.await();
            });

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

    /** An object that calls another one, which calls it back. */
    @VirtualObject("visitor")
    static final class Visitor {
        @Handler
        public String visit(ObjectContext ctx, List<String> others) {
            if (others.isEmpty()) {
                return "nobody";
            }
            try {
                return ctx.object(Visitor.class, others.getFirst())
                        .call(Visitor::visit, others.subList(1, others.size()));
            } catch (RunFailedException refused) {
                return refused.getMessage();
            }
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
                .register(CALLER)
                .register(FAILER)
                .register(READER)
                .register(WRITER)
                .register(ADDER)
                .register(SLEEPER)
                .register(KEEPER)
                .register(WAITER)
                .register(new Counter())
                .register(new Visitor())
                .lease(Duration.ofSeconds(2))
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
            Run<Integer> sent = perdure.object(Counter.class, key).send(Counter::add, 3, StartOptions.defaults());
            assertThat(sent.result(SOON)).isEqualTo(5);
            assertThat(perdure.run(sent.id(), TypeRef.of(Integer.class)).result(SOON))
                    .isEqualTo(5);
        }
        RunFilter calls = RunFilter.all().definition("counter/add");
        assertThat(first.runs().list(calls)).isNotEmpty();
        assertThat(second.runs().list(calls)).isNotEmpty();
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

    /** An id on the other shard than this one. */
    private String across(RunId id, String name) {
        return ids(name, 2).get(1 - store.parts().of(id)).value();
    }

    @Test
    void a_child_on_another_shard_gives_its_result_and_its_failure() {
        for (RunId id : ids("parent-", 2)) {
            String child = across(id, "child-of-" + id + "-");
            assertThat(perdure.start(Invocation.of(CALLER, child), id(id.value()))
                            .result(SOON))
                    .isEqualTo("14");
            assertThat(perdure.run(RunId.of(child), TypeRef.of(Integer.class)).result(SOON))
                    .isEqualTo(14);
            RunId second = RunId.of(id.value() + "/again");
            assertThat(perdure.start(Invocation.of(CALLER, child), id(second.value()))
                            .result(SOON))
                    .contains("The run id '" + child + "' is taken.");
        }
    }

    @Test
    void a_retried_run_goes_on_with_the_result_of_a_child_on_another_shard() {
        for (RunId id : ids("failer-", 2)) {
            String child = across(id, "outlives-" + id + "-");
            REPAIRED.remove(id.value());
            Run<String> run = perdure.start(Invocation.of(FAILER, child), id(id.value()));
            assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
            while (store.runs().find(RunId.of(child)).isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(perdure.run(RunId.of(child), TypeRef.of(Integer.class)).result(SOON))
                    .isEqualTo(14);
            REPAIRED.add(id.value());
            run.retry();
            assertThat(run.result(SOON)).isEqualTo("14");
        }
    }

    @Test
    void messages_arrive_once_and_in_order() {
        List<RunId> readers = ids("reader-", 2);
        for (RunId reader : readers) {
            Run<String> reading = perdure.start(Invocation.of(READER, 20), id(reader.value()));
            perdure.start(Invocation.of(WRITER, reader.value()), id(across(reader, "writer-to-" + reader + "-")))
                    .result(SOON);
            assertThat(reading.result(SOON))
                    .isEqualTo(IntStream.range(0, 20).mapToObj(String::valueOf).collect(Collectors.joining(",")));
        }
    }

    @Test
    void runs_call_objects_of_any_shard() {
        for (int i = 0; i < 6; i++) {
            String key = "called-" + i;
            assertThat(perdure.start(Invocation.of(ADDER, key)).result(SOON)).isEqualTo(7);
            assertThat(perdure.start(Invocation.of(ADDER, key)).result(SOON)).isEqualTo(14);
        }
    }

    @Test
    void calls_of_objects_that_wait_for_each_other_over_shards_are_refused_with_the_chain() {
        String onFirst = keyOn(0);
        String onSecond = keyOn(1);
        String answer =
                perdure.object(Visitor.class, onFirst).call(Visitor::visit, List.of(onSecond, onFirst, "unused"));
        assertThat(answer)
                .contains("Calls wait for each other in a cycle: ")
                .contains("(visitor/visit of '" + onFirst + "') waits for ")
                .contains("(visitor/visit of '" + onSecond + "') waits for ");
        assertThat(perdure.object(Visitor.class, onFirst).call(Visitor::visit, List.of()))
                .isEqualTo("nobody");
    }

    /** The key of a visitor on a shard. */
    private String keyOn(int shard) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "v" + i)
                .filter(key ->
                        store.parts().of(RunId.of(store.parts().prefix(new ObjectKey("visitor", key)) + "1")) == shard)
                .findFirst()
                .orElseThrow();
    }

    /** A run that says the name of its engine, and that of the engine of the child that it starts. */
    private static Definition<String, String> beside(String name) {
        return Definition.of("beside", String.class, String.class, (ctx, child) -> {
            String here = ctx.step("here", () -> name);
            ChildOptions options = childId(child).sticky(ChildOptions.Sticky.HARD);
            return here + " "
                    + ctx.startChild(Invocation.of(where(name), ""), options).await();
        });
    }

    private static Definition<String, String> where(String name) {
        return Definition.of("where", String.class, String.class, (ctx, none) -> ctx.step("where", () -> name));
    }

    @Test
    void a_child_that_sticks_to_its_parent_runs_in_the_same_process_on_its_own_shard() {
        try (Perdure one = Perdure.on(store)
                        .register(where("one"))
                        .register(beside("one"))
                        .start();
                Perdure two = Perdure.on(store)
                        .register(where("two"))
                        .register(beside("two"))
                        .start()) {
            for (RunId id : ids("beside-", 8)) {
                Perdure engine = store.parts().of(id) == 0 ? one : two;
                String child = across(id, "where-of-" + id + "-");
                String names = engine.start(Invocation.of(beside("any"), child), id(id.value()))
                        .result(SOON);
                assertThat(names).isIn("one one", "two two");
            }
        }
    }

    @Test
    void a_run_that_waits_for_a_child_on_another_shard_names_it() {
        RunId id = ids("naming-", 1).getFirst();
        String child = across(id, "named-by-" + id + "-");
        Run<String> run = perdure.start(Invocation.of(KEEPER, child), id(id.value()));
        while (!run.info().reason().equals(Optional.of("Waits for run '" + child + "'."))) {
            Thread.onSpinWait();
        }
        run.kill("enough");
    }

    @Test
    void a_kill_reaches_children_on_another_shard() {
        for (RunId id : ids("killed-", 2)) {
            String child = across(id, "sleeper-of-" + id + "-");
            Run<String> run = perdure.start(Invocation.of(KEEPER, child), id(id.value()));
            while (store.runs().find(RunId.of(child)).isEmpty()) {
                Thread.onSpinWait();
            }
            run.kill("enough");
            assertThatThrownBy(() -> perdure.run(RunId.of(child), TypeRef.of(String.class))
                            .result(SOON))
                    .isInstanceOf(PerdureException.class);
            assertThat(store.runs().find(RunId.of(child)).orElseThrow().info().state())
                    .isEqualTo(RunState.CANCELLED);
        }
    }

    @Test
    void a_token_says_which_shard_has_its_run() throws InterruptedException {
        for (RunId id : ids("waiter-", 2)) {
            Run<String> run = perdure.start(Invocation.of(WAITER, ""), id(id.value()));
            String token = TOKENS.take();
            assertThat(token).startsWith("awk2_");
            perdure.resolve(token, "hello");
            assertThat(run.result(SOON)).isEqualTo("hello");
        }
    }

    @Test
    void nothing_stays_on_its_way() {
        List<Integer> all = IntStream.range(0, Partitions.COUNT).boxed().toList();
        for (Store shard : List.of(first, second)) {
            while (!shard.exchange().orElseThrow().outgoing(all, 0, 1).isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }
}
