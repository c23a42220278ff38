package dev.perdure.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Runs that begin in the memory of a worker while it claims others. */
final class PlacesOfWorkerTest {
    private static final int MAX_RUNS = 4;

    /** What happens after a worker has decided how many runs it claims, and before the store gives them to it. */
    private final AtomicReference<Runnable> beforeTheNextClaim = new AtomicReference<>(() -> {});

    /** How many runs the worker held after that claim. */
    private final CompletableFuture<Integer> held = new CompletableFuture<>();

    private Store opened(Clockwork clockwork) {
        Store store = new MemoryStore(clockwork);
        Dispatch dispatch = poll -> polled(store, poll);
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("dispatch")) {
                        return dispatch;
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    private Polled polled(Store store, Dispatch.Poll poll) {
        beforeTheNextClaim.getAndSet(() -> {}).run();
        Polled polled = store.dispatch().poll(poll);
        if (!polled.claimed().isEmpty()) {
            held.complete(store.leases().owned(poll.worker()).size());
        }
        return polled;
    }

    @Test
    void runs_that_are_started_during_a_claim_do_not_take_its_places() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (PerdureTest perdure = PerdureTest.on(this::opened, TestMode.NORMAL).maxRuns(MAX_RUNS)) {
            Definition<Integer, Integer> flow = Definition.of(
                    "crowd",
                    Integer.class,
                    Integer.class,
                    (ctx, in) -> ctx.step("work", () -> {
                        goOn.await();
                        return in;
                    }));
            perdure.register(flow);
            List<Integer> inputs = IntStream.range(0, 20).boxed().toList();
            CompletableFuture<List<Run<Integer>>> runs = new CompletableFuture<>();
            perdure.engine();
            beforeTheNextClaim.set(() -> runs.complete(
                    perdure.startAll(inputs, in -> Invocation.of(flow, in), in -> StartOptions.defaults())));
            Run<Integer> trigger = perdure.client().start(Invocation.of(flow, -1), StartOptions.defaults());

            assertThat(held.get(20, TimeUnit.SECONDS)).isEqualTo(MAX_RUNS);
            goOn.countDown();
            assertThat(trigger.result()).isEqualTo(-1);
            assertThat(runs.get(20, TimeUnit.SECONDS).stream().map(Run::result)).isEqualTo(inputs);
        } finally {
            goOn.countDown();
        }
    }
}
