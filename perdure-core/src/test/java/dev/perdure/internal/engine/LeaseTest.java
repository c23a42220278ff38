package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.WorkerId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a worker does when its store hangs or is out of reach for longer than its lease. */
@Timeout(20)
final class LeaseTest {
    private static final Duration LEASE = Duration.ofSeconds(1);

    private final MemoryStore rows = new MemoryStore();
    private final Gate gate = new Gate();
    private final AtomicBoolean outage = new AtomicBoolean();

    @AfterEach
    void letGoOn() {
        gate.open();
    }

    /** Leases of which some calls hang in the gate, and that are out of reach during an outage. */
    private Leases leases(Predicate<String> hangs) {
        return (Leases) Proxy.newProxyInstance(
                Leases.class.getClassLoader(), new Class<?>[] {Leases.class}, (proxy, method, arguments) -> {
                    if (hangs.test(method.getName())) {
                        gate.pass();
                    }
                    if (outage.get()) {
                        throw new StoreException(StoreException.Kind.UNAVAILABLE, "An outage.", null);
                    }
                    try {
                        return method.invoke(rows.leases(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Definition<String, String> untilInterrupted(CountDownLatch begun, CountDownLatch interrupted) {
        return Definition.of(
                "busy",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("work", () -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        interrupted.countDown();
                    }
                    return in;
                }));
    }

    @Test
    void a_worker_lets_go_when_its_lease_ends_although_its_renewal_hangs() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Definition<String, String> busy = untilInterrupted(begun, interrupted);
        Perdure worker = Perdure.on(Stores.with(rows, "leases", leases("renew"::equals)))
                .register(busy)
                .lease(LEASE)
                .closeTimeout(Duration.ZERO)
                .start();
        worker.start(Invocation.of(busy, "x"));
        Gate.passed(begun);
        gate.awaitSomebody();

        Gate.passed(interrupted); // while the renewal hangs
        gate.open();
        worker.close();
    }

    @Test
    void a_worker_that_was_taken_for_dead_lets_go_as_soon_as_its_lease_is_in_doubt() throws Exception {
        List<Hints.Listener> listeners = new CopyOnWriteArrayList<>();
        Hints doubts = listener -> {
            listeners.add(listener);
            return () -> {};
        };
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Definition<String, String> busy = untilInterrupted(begun, interrupted);
        Perdure worker = Perdure.on(Stores.with(rows, "hints", doubts))
                .register(busy)
                .lease(Duration.ofHours(1))
                .closeTimeout(Duration.ZERO)
                .start();
        worker.start(Invocation.of(busy, "x"));
        Gate.passed(begun);
        WorkerId first = new WorkerId(rows.versions().workers().getFirst().id());
        rows.leases().leave(first);

        listeners.forEach(listener -> listener.hint(new Hints.LeaseInDoubt()));
        Gate.passed(interrupted); // long before the next renewal is due
        await().until(() -> rows.versions().workers().size() == 1);
        assertThat(rows.versions().workers().getFirst().id())
                .as("it joined again")
                .isNotEqualTo(first.value());
        worker.close();
    }

    @Test
    void closing_does_not_wait_for_a_store_that_hangs() throws Exception {
        Definition<String, String> busy = untilInterrupted(new CountDownLatch(1), new CountDownLatch(1));
        Perdure worker = Perdure.on(Stores.with(rows, "leases", leases(Set.of("renew", "leave")::contains)))
                .register(busy)
                .lease(LEASE)
                .closeTimeout(Duration.ZERO)
                .start();
        gate.awaitSomebody();

        Thread closing = Thread.ofPlatform().start(worker::close);
        closing.join(Duration.ofSeconds(5));

        assertThat(closing.isAlive()).as("still closing").isFalse();
    }

    /** Says that it has begun, and waits in the gate. */
    private static Definition<String, String> gated(String name, List<String> begun, Runnable gate) {
        return Definition.of(
                name,
                String.class,
                String.class,
                (ctx, in) -> ctx.step("work", () -> {
                    begun.add(in);
                    gate.run();
                    return in;
                }));
    }

    @Test
    void an_outage_that_a_worker_survives_is_no_recovery() {
        CountDownLatch begun = new CountDownLatch(1);
        Definition<String, String> first = untilInterrupted(begun, new CountDownLatch(1));
        Definition<String, String> second = gated("busy", new CopyOnWriteArrayList<>(), gate::pass);
        Perdure survivor = Perdure.on(Stores.with(rows, "leases", leases(name -> false)))
                .register(first)
                .lease(LEASE)
                .closeTimeout(Duration.ZERO)
                .start();
        Run<String> run = survivor.start(Invocation.of(first, "x"));
        Gate.passed(begun);
        outage.set(true);
        Perdure other = Perdure.on(rows).register(second).lease(LEASE).start();
        gate.awaitSomebody();
        assertThat(run.info().recoveries()).isEqualTo(1);
        outage.set(false);

        await().until(() -> run.info().recoveries() == 0);
        gate.open();
        assertThat(run.result()).isEqualTo("x");
        survivor.close();
        other.close();
    }

    /** Runs whose worker died three times. */
    private List<Run<String>> suspects(Perdure client, Definition<String, String> flow, String... inputs) {
        List<Run<String>> runs = Stream.of(inputs)
                .map(input -> client.start(Invocation.of(flow, input)))
                .toList();
        for (int i = 0; i < Dispatch.Claimed.ALONE_AFTER; i++) {
            WorkerId dying = new WorkerId(UUID.randomUUID());
            Set<String> names = Set.of("slow");
            rows.leases().join(new Leases.Joining(dying, names, null, Duration.ofMinutes(1), 1));
            rows.dispatch().poll(new Dispatch.Poll(dying, names, Set.of("default"), null, 10, true));
            rows.leases().leave(dying);
            assertThat(rows.leases().sweep(10)).hasSize(inputs.length);
        }
        return runs;
    }

    @Test
    void a_run_that_has_to_be_alone_holds_others_up_for_two_leases_at_most() {
        Definition<String, String> slow = gated("slow", new CopyOnWriteArrayList<>(), gate::pass);
        Definition<String, String> quick = gated("quick", new CopyOnWriteArrayList<>(), () -> {});
        try (Perdure client = Perdure.on(rows).register(slow, quick).client()) {
            Run<String> alone = suspects(client, slow, "x").getFirst();
            Perdure worker = Perdure.on(rows).register(slow, quick).lease(LEASE).start();
            gate.awaitSomebody();

            assertThat(client.start(Invocation.of(quick, "y")).result()).isEqualTo("y");
            assertThat(alone.state().isTerminal()).isFalse();
            gate.open();
            assertThat(alone.result()).isEqualTo("x");
            worker.close();
        }
    }

    @Test
    void between_two_runs_that_have_to_be_alone_it_is_the_turn_of_others() {
        List<String> order = new CopyOnWriteArrayList<>();
        Definition<String, String> slow = gated("slow", order, gate::pass);
        Definition<String, String> quick = gated("quick", order, () -> {});
        try (Perdure client = Perdure.on(rows).register(slow, quick).client()) {
            List<Run<String>> alone = suspects(client, slow, "first alone", "second alone");
            Perdure worker = Perdure.on(rows).register(slow, quick).start();
            gate.awaitSomebody();
            Run<String> other = client.start(Invocation.of(quick, "other"));
            gate.open();
            alone.forEach(Run::result);
            other.result();
            assertThat(order).containsExactly("first alone", "other", "second alone");
            worker.close();
        }
    }
}
