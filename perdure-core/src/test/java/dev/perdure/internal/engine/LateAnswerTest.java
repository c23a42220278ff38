package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunListener;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.dag.Dag;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The store has given this worker a run, and the worker looks for what it has forgotten before it hears of that. */
@Timeout(20)
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class LateAnswerTest {
    private final MemoryStore rows = new MemoryStore();
    /** Where the first answer is held up that brings runs. */
    private final Gate answer = new Gate();

    private final AtomicBoolean heldUp = new AtomicBoolean();
    private final AtomicBoolean failsNext = new AtomicBoolean();
    private final CountDownLatch looked = new CountDownLatch(1);
    private final Turnstile turnstile = new Turnstile();

    /** Lets one call in at a time, if the engine does. */
    @VirtualObject("turnstile")
    public static final class Turnstile {
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger mostInside = new AtomicInteger();
        final AtomicInteger bodies = new AtomicInteger();

        /** A handler. */
        @Handler
        public String pass(ObjectContext ctx, String name) throws InterruptedException {
            mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
            try {
                if (name.equals("first")) {
                    mayEnd.await();
                }
                return ctx.step("count", () -> name + bodies.incrementAndGet());
            } finally {
                inside.decrementAndGet();
            }
        }
    }

    private final AtomicInteger bodies = new AtomicInteger();
    /** The end of the first task was told, after all that its answer brings was launched. */
    private final CountDownLatch firstTold = new CountDownLatch(1);

    private final Dag<String, String> line = Dag.of("late-line", String.class, dag -> {
        var first = dag.task("first", t -> "a" + bodies.incrementAndGet());
        return dag.after(first).task("second", (t, before) -> {
            String seen = before + bodies.incrementAndGet();
            Gate.passed(firstTold); // what the late answer brings has been launched by then
            return seen;
        });
    });

    private static List<Claimed> handed(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Applied applied -> applied.handed();
            case Outcome.Started started -> started.handed();
            default -> List.of();
        };
    }

    private Ledger holdingUp(Class<? extends Outcome> kind) {
        return (lane, changes) -> {
            List<Outcome> outcomes = rows.ledger().apply(lane, changes);
            boolean brings = outcomes.stream()
                    .anyMatch(outcome ->
                            kind.isInstance(outcome) && !handed(outcome).isEmpty());
            if (brings && heldUp.compareAndSet(false, true)) {
                answer.pass();
            }
            return outcomes;
        };
    }

    /** One poll fails, so that the worker looks for what it has forgotten before the next. */
    private Dispatch failingOnce() {
        return poll -> {
            if (failsNext.compareAndSet(true, false)) {
                throw new StoreException(StoreException.Kind.UNAVAILABLE, "as the test wants it", null);
            }
            Dispatch.Polled polled = rows.dispatch().poll(poll);
            if (heldUp.get()) {
                looked.countDown();
            }
            return polled;
        };
    }

    private Perdure engine(Ledger ledger) {
        Store store = Stores.with(Stores.with(rows, "ledger", ledger), "dispatch", failingOnce());
        return Perdure.on(store)
                .register(turnstile, line)
                .listener(change -> {
                    if (change.definition().equals("late-line/first") && change.state() == RunState.COMPLETED) {
                        firstTold.countDown();
                    }
                })
                .start();
    }

    /**
     * Lets the worker look for what it has forgotten while an answer is on its way, and the answer arrive after that.
     */
    private void lookBeforeTheAnswer() {
        answer.awaitSomebody();
        failsNext.set(true);
        Gate.passed(looked);
        answer.open();
    }

    private Run<String> send(Perdure engine, String name) {
        ObjectHandle<Turnstile> object = engine.object(Turnstile.class, "gate");
        return object.send(Turnstile::pass, name, StartOptions.defaults());
    }

    @Test
    void a_call_whose_hand_over_is_answered_late_is_executed_once() {
        try (Perdure engine = engine(holdingUp(Outcome.Applied.class))) {
            Run<String> first = send(engine, "first");
            Run<String> second = send(engine, "second");
            turnstile.mayEnd.countDown();
            lookBeforeTheAnswer();
            assertThat(first.result()).isEqualTo("first1");
            assertThat(second.result()).isEqualTo("second2");
        } // waits for all that is in memory
        assertThat(turnstile.bodies).hasValue(2);
        assertThat(turnstile.mostInside).hasValue(1);
    }

    @Test
    void a_task_whose_hand_over_is_answered_late_is_executed_once() {
        try (Perdure engine = engine(holdingUp(Outcome.Applied.class))) {
            Run<String> run = engine.start(line, "x");
            lookBeforeTheAnswer();
            assertThat(run.result()).isEqualTo("a12");
        }
        assertThat(bodies).hasValue(2);
    }

    @Test
    void the_first_tasks_of_a_dag_whose_start_is_answered_late_are_executed_once() throws Exception {
        try (Perdure engine = engine(holdingUp(Outcome.Started.class))) {
            FutureTask<String> result =
                    new FutureTask<>(() -> engine.start(line, "x").result());
            Thread.ofPlatform().daemon().start(result);
            lookBeforeTheAnswer();
            assertThat(result.get()).isEqualTo("a12");
        }
        assertThat(bodies).hasValue(2);
    }

    /** Under load, many runs end between the moment at which the store reads what a worker holds and its answer. */
    @Test
    void a_run_that_ends_while_the_store_says_that_it_is_held_is_not_given_back() {
        AtomicInteger givenBack = new AtomicInteger();
        AtomicBoolean endsMeanwhile = new AtomicBoolean(true);
        CountDownLatch ended = new CountDownLatch(1);
        Leases leases = (Leases) Proxy.newProxyInstance(
                Leases.class.getClassLoader(), new Class<?>[] {Leases.class}, (self, method, arguments) -> {
                    Object answer = method.invoke(rows.leases(), arguments);
                    if (method.getName().equals("owned")
                            && !((List<?>) answer).isEmpty()
                            && endsMeanwhile.compareAndSet(true, false)) {
                        turnstile.mayEnd.countDown();
                        Gate.passed(ended);
                    }
                    return answer;
                });
        Ledger ledger = (lane, changes) -> {
            changes.stream()
                    .filter(change -> change instanceof Change.Advance advance && advance.move() instanceof Move.Yield)
                    .forEach(change -> givenBack.incrementAndGet());
            return rows.ledger().apply(lane, changes);
        };
        Store store = Stores.with(
                Stores.with(Stores.with(rows, "ledger", ledger), "dispatch", failingOnce()), "leases", leases);
        RunListener whenEnded = change -> {
            if (change.state() == RunState.COMPLETED) {
                ended.countDown();
            }
        };
        try (Perdure engine =
                Perdure.on(store).register(turnstile).listener(whenEnded).start()) {
            Run<String> run = send(engine, "first");
            heldUp.set(true);
            failsNext.set(true);
            assertThat(run.result()).isEqualTo("first1");
            Gate.passed(looked);
        }
        assertThat(endsMeanwhile).isFalse();
        assertThat(givenBack).hasValue(0);
    }

    /** Whatever a store says. */
    @Test
    void a_run_that_an_answer_brings_twice_is_executed_once() {
        UnaryOperator<Outcome> doubled = outcome -> outcome instanceof Outcome.Applied applied
                ? new Outcome.Applied(
                        applied.at(),
                        applied.state(),
                        Stream.concat(applied.handed().stream(), applied.handed().stream())
                                .toList(),
                        applied.next())
                : outcome;
        Ledger twice = (lane, changes) -> doubled(lane, changes, doubled);
        try (Perdure engine = engine(twice)) {
            assertThat(engine.start(line, "x").result()).isEqualTo("a12");
        }
        assertThat(bodies).hasValue(2);
    }

    private List<Outcome> doubled(Lane lane, List<Change> changes, UnaryOperator<Outcome> how) {
        return rows.ledger().apply(lane, changes).stream().map(how).toList();
    }
}
