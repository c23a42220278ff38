package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DefinitionException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Store;
import dev.perdure.version.VersionInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker in real time that is told to drain. */
@Timeout(20)
final class DrainTest {
    private static final Topic<String> GO = Topic.of("go", String.class);
    private static final Definition<String, String> PARCEL = Definition.of(
                    "parcel",
                    String.class,
                    String.class,
                    (ctx, in) -> ctx.receive(GO).await())
            .pinned();

    /** Workflows as methods. */
    public static final class Orders {
        /** Gives back what it gets. */
        @Workflow(value = "order", pinned = true)
        public String process(WorkflowContext ctx, String order) {
            return order;
        }
    }

    private static PerdureBuilder worker(Store store) {
        return Perdure.on(store).lease(Duration.ofMillis(500)).version("v1");
    }

    @Test
    void the_worker_says_when_its_version_is_drained_and_again_after_a_resume() throws InterruptedException {
        Semaphore drained = new Semaphore(0);
        try (Store store = new MemoryStore();
                Perdure perdure = worker(store)
                        .register(PARCEL)
                        .whenDrained(drained::release)
                        .start()) {
            Run<String> run = perdure.start(Invocation.of(PARCEL, "x"));
            perdure.versions().drain("v1");
            await().until(() ->
                    !perdure.start(Invocation.of(PARCEL, "y")).state().equals(RunState.RUNNING));
            assertThat(drained.availablePermits()).isZero();
            perdure.runs(RunFilter.all().version("v1")).list().forEach(info -> perdure.send(info.id(), GO, "done"));

            assertThat(run.result()).isEqualTo("done");
            assertThat(drained.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            assertThat(perdure.versions().get("v1").state()).isEqualTo(VersionInfo.State.DRAINED);
            perdure.versions().resume("v1");
            await().until(() -> perdure.start(Invocation.of(PARCEL, "z")).state() == RunState.RUNNING);
            perdure.runs(RunFilter.all().definition("parcel"))
                    .list()
                    .forEach(info ->
                            perdure.run(info.id(), TypeRef.of(String.class)).kill("enough"));
            perdure.versions().drain("v1");
            assertThat(drained.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** A store whose polls hang in a gate once it is shut, and that counts how often a worker asks what it is told. */
    private static final class Gated {
        private final Store rows = new MemoryStore();
        private final CountDownLatch hanging = new CountDownLatch(1);
        private final CountDownLatch gate = new CountDownLatch(1);
        private final AtomicInteger asked = new AtomicInteger();
        private volatile boolean shut;

        Store store() {
            return (Store) Proxy.newProxyInstance(
                    Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("dispatch")) {
                            return (Dispatch) this::poll;
                        }
                        if (method.getName().equals("leases")) {
                            asked.incrementAndGet();
                        }
                        return method.invoke(rows, arguments);
                    });
        }

        private Dispatch.Polled poll(Dispatch.Poll request) {
            if (shut) {
                hanging.countDown();
                try {
                    gate.await();
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                }
            }
            return rows.dispatch().poll(request);
        }
    }

    @Test
    @SuppressWarnings("try") // the worker only has to be there
    void a_version_is_not_drained_while_a_claim_is_under_way_that_began_before() throws InterruptedException {
        Gated gated = new Gated();
        try (Perdure client = Perdure.on(gated.rows).client();
                Perdure worker = worker(gated.store()).register(PARCEL).start()) {
            gated.shut = true;
            gated.hanging.await();
            Run<String> run = client.start(Invocation.of(PARCEL, "x"));
            client.versions().drain("v1");
            int before = gated.asked.get();
            await().until(() -> gated.asked.get() > before + 8); // four looks, with a sweep after each

            assertThat(client.versions().get("v1").state()).isEqualTo(VersionInfo.State.DRAINING);
            gated.shut = false;
            gated.gate.countDown();
            await().until(() -> run.state() == RunState.RUNNING);
            assertThat(client.versions().get("v1").runs()).isEqualTo(1);
            client.send(run.id(), GO, "done");
            await().until(() -> worker.versions().get("v1").state() == VersionInfo.State.DRAINED);
        }
    }

    @Test
    void the_action_may_close_the_engine_and_a_failure_of_it_is_only_logged() throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(1);
        try (Store store = new MemoryStore();
                Perdure failing = worker(store)
                        .register(PARCEL)
                        .whenDrained(() -> {
                            throw new IllegalStateException("broken");
                        })
                        .start()) {
            Perdure[] self = new Perdure[1];
            self[0] = worker(store)
                    .register(PARCEL)
                    .whenDrained(() -> {
                        self[0].close();
                        closed.countDown();
                    })
                    .start();
            failing.versions().drain("v1");

            assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(failing.versions().get("v1").workers()).isEqualTo(1);
        }
    }

    @Test
    void a_worker_with_pinned_definitions_needs_a_version() {
        try (Store store = new MemoryStore()) {
            assertThatThrownBy(() -> Perdure.on(store).register(PARCEL).start())
                    .isInstanceOf(DefinitionException.class)
                    .hasMessage(
                            "The runs of 'parcel' are pinned to the version of their worker, and this worker has none. Give it one with version(…), such as the number of the build, or do not pin 'parcel'.");
            assertThatThrownBy(() -> Perdure.on(store).register(new Orders()).start())
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageStartingWith("The runs of 'order' are pinned");
            Perdure.on(store).register(PARCEL, new Orders()).client().close();
            try (Perdure perdure = worker(store).register(new Orders()).start()) {
                Run<String> run = perdure.start(Invocation.of("order", "x", TypeRef.of(String.class)));
                assertThat(run.result()).isEqualTo("x");
                assertThat(perdure.runs(RunFilter.all().version("v1")).list()).hasSize(1);
            }
        }
    }
}
