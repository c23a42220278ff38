package dev.perdure.internal.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.dag.Dag;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store fails between the levels of a tree that is killed, and the kill is sent again. */
@Timeout(60)
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
class InterruptedKillTest {
    private static final Definition<String, String> LEAF =
            Definition.of("leaf", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofDays(1));
                return in;
            });
    private static final Definition<String, String> LOWER = calling("lower", LEAF);
    private static final Definition<String, String> MIDDLE = calling("middle", LOWER);
    private static final Definition<String, String> TOP = calling("top", MIDDLE);
    private static final Dag<String, String> DAG =
            Dag.of("dag", String.class, dag -> dag.workflow("task", (ctx, task) -> ctx.call(Invocation.of(LEAF, "x"))));

    private final AtomicInteger searches = new AtomicInteger();
    private final AtomicReference<Runnable> beforeFailure = new AtomicReference<>(() -> {});

    private static Definition<String, String> calling(String name, Definition<String, String> child) {
        return Definition.of(name, String.class, String.class, (ctx, in) -> ctx.call(Invocation.of(child, in)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void a_bulk_kill_that_fails_at_any_level_leaves_no_descendant_alive(int failing) {
        try (Perdure perdure = onStoreThatFailsOnceAt(failing)) {
            perdure.start(Invocation.of(TOP, "x"), StartOptions.id("top"));
            awaitLeaf(perdure);

            Run<BulkReport> kill =
                    perdure.runs(RunFilter.all().definition("top")).start(BulkAction.kill("no"));

            assertThat(kill.result()).isEqualTo(new BulkReport(1, 0, 0, List.of()));
            assertThat(searches.get()).isGreaterThan(failing);
            assertEnded(perdure, "top", "middle", "lower", "leaf");
        }
    }

    @Test
    void a_bulk_kill_that_is_sent_again_leaves_a_run_alone_that_was_retried_since() {
        try (Perdure perdure = onStoreThatFailsOnceAt(1)) {
            Run<String> run = perdure.start(Invocation.of(LOWER, "x"), StartOptions.id("lower"));
            awaitLeaf(perdure);
            beforeFailure.set(() -> {
                assertThat(run.state()).isEqualTo(RunState.CANCELLED);
                run.retry();
            });

            Run<BulkReport> kill =
                    perdure.runs(RunFilter.all().definition("lower")).start(BulkAction.kill("no"));

            assertThat(kill.result()).isEqualTo(new BulkReport(1, 0, 0, List.of()));
            assertThat(perdure.runs(RunFilter.all().definition("leaf").state(RunState.SUSPENDED))
                            .list())
                    .hasSize(1);
            assertThat(run.state().isTerminal()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_bulk_kill_that_fails_leaves_no_child_of_a_task_alive(int failing) {
        try (Perdure perdure = onStoreThatFailsOnceAt(failing)) {
            perdure.start(DAG, "x", StartOptions.id("dag"));
            awaitLeaf(perdure);

            perdure.runs(RunFilter.all().definition("dag"))
                    .start(BulkAction.kill("no"))
                    .result();

            assertThat(searches.get()).isGreaterThan(failing);
            assertEnded(perdure, "dag", "leaf");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void a_second_kill_of_a_run_ends_what_the_first_has_left(int failing) {
        try (Perdure perdure = onStoreThatFailsOnceAt(failing)) {
            Run<String> run = perdure.start(Invocation.of(TOP, "x"), StartOptions.id("top"));
            awaitLeaf(perdure);

            assertThatThrownBy(() -> run.kill("no")).hasMessage("The connection is lost.");
            run.kill("no");

            assertEnded(perdure, "top", "middle", "lower", "leaf");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_second_kill_of_a_dag_ends_the_children_of_its_tasks(int failing) {
        try (Perdure perdure = onStoreThatFailsOnceAt(failing)) {
            Run<?> run = perdure.start(DAG, "x", StartOptions.id("dag"));
            awaitLeaf(perdure);

            assertThatThrownBy(() -> run.kill("no")).hasMessage("The connection is lost.");
            run.kill("no");

            assertEnded(perdure, "dag", "leaf");
        }
    }

    /** Until the leaf sleeps and no worker holds a run above it, so that a kill ends each at once. */
    private static void awaitLeaf(Perdure perdure) {
        RunFilter asleep = RunFilter.all().definition("leaf").state(RunState.SUSPENDED);
        RunFilter held = RunFilter.all().state(RunState.RUNNING);
        while (perdure.runs(asleep).list().isEmpty()
                || !perdure.runs(held).list().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private static void assertEnded(Perdure perdure, String... definitions) {
        for (String definition : definitions) {
            assertThat(perdure.runs(RunFilter.all().definition(definition)).list())
                    .as(definition)
                    .isNotEmpty()
                    .allMatch(run -> run.state() == RunState.CANCELLED);
        }
    }

    /** The connection is lost at one search for live children. */
    private Perdure onStoreThatFailsOnceAt(int search) {
        MemoryStore memory = new MemoryStore();
        Runs runs = proxy(Runs.class, (self, method, arguments) -> {
            if (method.getName().equals("liveChildren") && searches.incrementAndGet() == search) {
                beforeFailure.get().run();
                throw new IllegalStateException("The connection is lost.");
            }
            return call(memory.runs(), method, arguments);
        });
        Store store = proxy(
                Store.class,
                (self, method, arguments) -> method.getName().equals("runs") ? runs : call(memory, method, arguments));
        return Perdure.on(store).register(LEAF, LOWER, MIDDLE, TOP, DAG).start();
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
