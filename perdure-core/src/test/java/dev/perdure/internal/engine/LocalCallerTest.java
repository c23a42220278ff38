package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.ClosedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Calls of a virtual object that others in the same process wait for, while a call of it is at work there. */
public final class LocalCallerTest {
    private static final int CALLERS = 30;

    private final MemoryStore rows = new MemoryStore();
    private final AtomicInteger starts = new AtomicInteger();
    private final AtomicInteger completedCalls = new AtomicInteger();
    private final AtomicInteger mostStarts = new AtomicInteger();
    /** Where the first batch stops when all have run. */
    private final Gate gate = new Gate();

    private final Counter counter = new Counter();

    /** Counts. */
    @VirtualObject("local-counter")
    public static final class Counter {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch gate = new CountDownLatch(1);
        final CountDownLatch secondMayEnd = new CountDownLatch(1);
        final CountDownLatch all = new CountDownLatch(CALLERS + 1);
        final AtomicInteger bodies = new AtomicInteger();

        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        /** A handler. */
        @Handler
        public int first(ObjectContext ctx) throws InterruptedException {
            begun.countDown();
            gate.await();
            return count(ctx);
        }

        /** A handler. */
        @Handler
        public int count(ObjectContext ctx) {
            int count = ctx.get(COUNT).orElse(0) + 1;
            ctx.set(COUNT, count);
            all.countDown();
            return count;
        }

        /** A handler. */
        @Handler
        public int countInStep(ObjectContext ctx) {
            int count = ctx.get(COUNT).orElse(0);
            int more = ctx.step("add", () -> addInBody(count));
            ctx.set(COUNT, more);
            return more;
        }

        /** A body. */
        public int addInBody(int count) {
            bodies.incrementAndGet();
            return count + 1;
        }

        /** A handler. */
        @Handler
        public int countThenStep(ObjectContext ctx) {
            int count = count(ctx);
            return ctx.step("add", () -> addInBody(count - 1));
        }

        /** A handler. */
        @Handler
        public int second(ObjectContext ctx) throws InterruptedException {
            secondMayEnd.await();
            return count(ctx);
        }

        /** A handler. */
        @Handler
        public int fail(ObjectContext ctx) {
            throw new IllegalStateException("not the number " + count(ctx));
        }

        /** A handler. */
        @Handler
        public int breakDown(ObjectContext ctx) {
            throw new NoClassDefFoundError("not the number " + count(ctx));
        }
    }

    /** Holds batches up that start a call behind others, until all have run. */
    private Store holdingUp() {
        Ledger ledger = (lane, changes) -> {
            starts.addAndGet((int)
                    changes.stream().filter(Change.Start.class::isInstance).count());
            completedCalls.addAndGet((int) changes.stream()
                    .filter(Change.CompletedCall.class::isInstance)
                    .count());
            mostStarts.accumulateAndGet(
                    (int) changes.stream()
                            .filter(Change.Start.class::isInstance)
                            .count(),
                    Math::max);
            if (changes.size() > 1 && changes.getLast() instanceof Change.Start) {
                counter.secondMayEnd.countDown();
                Gate.passed(counter.all);
                gate.pass();
            }
            return applied(lane, changes);
        };
        return Stores.with(rows, "ledger", ledger);
    }

    private List<Outcome> applied(Lane lane, List<Change> changes) {
        return rows.ledger().apply(lane, changes);
    }

    private static <T> FutureTask<T> waiting(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = Thread.ofPlatform().daemon().start(task);
        await().pollInterval(Duration.ofMillis(1)).until(() -> thread.getState() == Thread.State.WAITING);
        return task;
    }

    private static <T> List<FutureTask<T>> waiting(int callers, Callable<T> call) {
        return IntStream.range(0, callers).mapToObj(i -> waiting(call)).toList();
    }

    private static <T> List<T> results(List<FutureTask<T>> calls) throws Exception {
        List<T> results = new ArrayList<>();
        for (FutureTask<T> call : calls) {
            results.add(call.get());
        }
        return results;
    }

    private static List<Integer> upTo(int last) {
        return IntStream.rangeClosed(2, last).boxed().toList();
    }

    private Perdure engine(Store store) {
        return Perdure.on(store).register(counter).start();
    }

    private static ObjectHandle<Counter> counter(Perdure engine) {
        return engine.object(Counter.class, "hot");
    }

    /** A call that is at work until the gate opens. */
    private FutureTask<Integer> first(Perdure engine) throws InterruptedException {
        FutureTask<Integer> first = new FutureTask<>(() -> counter(engine).call(Counter::first));
        Thread.ofPlatform().daemon().start(first);
        counter.begun.await();
        return first;
    }

    @Test
    void calls_that_touch_only_the_state_are_written_once_and_together() throws Exception {
        try (Perdure engine = engine(holdingUp())) {
            FutureTask<Integer> first = first(engine);
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::count));
            counter.gate.countDown();
            gate.open();
            assertThat(results(calls)).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 1));
            assertThat(first.get()).isEqualTo(1);
            // But one behind each of two batches, which holds the object after it.
            assertThat(completedCalls.get()).isBetween(CALLERS - 2, CALLERS);
            assertThat(starts.get() + completedCalls.get()).isEqualTo(CALLERS + 1);
            assertThat(engine.runs(RunFilter.all()).list())
                    .hasSize(CALLERS + 1)
                    .allMatch(run -> run.state() == RunState.COMPLETED);
            assertThat(counter(engine).state().get(Counter.COUNT)).contains(CALLERS + 1);
        }
    }

    @Test
    void a_call_that_wants_more_than_the_state_is_started_like_any_other() throws Exception {
        try (Perdure engine = engine(rows)) {
            FutureTask<Integer> first = first(engine);
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::countInStep));
            counter.gate.countDown();
            assertThat(results(calls)).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 1));
            assertThat(counter.bodies).hasValue(CALLERS);
            assertThat(first.get()).isEqualTo(1);
        }
    }

    /** It begins again from the store; what it had set in memory is discarded. */
    @Test
    void what_a_call_sets_before_it_turns_out_to_want_more_is_not_seen_by_the_next() throws Exception {
        try (Perdure engine = engine(holdingUp())) {
            FutureTask<Integer> first = first(engine);
            FutureTask<Integer> second = waiting(() -> counter(engine).call(Counter::second));
            FutureTask<Integer> wantsMore = waiting(() -> counter(engine).call(Counter::countThenStep));
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::count));
            gate.open();
            counter.gate.countDown();
            List<Integer> results = new ArrayList<>(results(calls));
            results.add(second.get());
            results.add(wantsMore.get());
            assertThat(results).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 3));
            assertThat(counter.bodies).hasValue(1);
            assertThat(counter(engine).state().get(Counter.COUNT)).contains(CALLERS + 3);
            assertThat(first.get()).isEqualTo(1);
        }
    }

    @Test
    void a_call_that_waits_in_the_store_goes_first() throws Exception {
        try (Perdure engine = engine(rows);
                Perdure elsewhere = engine(rows)) {
            FutureTask<Integer> first = first(engine);
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::count));
            Run<Integer> waits = counter(elsewhere).send(Counter::count, StartOptions.defaults());
            counter.gate.countDown();
            assertThat(waits.result()).isEqualTo(2);
            List<Integer> results = new ArrayList<>(results(calls));
            results.add(waits.result());
            assertThat(results).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 2));
            assertThat(first.get()).isEqualTo(1);
        }
    }

    /**
     * Sent by this process while calls run ahead: these were made before anybody was told of it, and are written once
     * all the same.
     */
    @Test
    void a_call_that_is_sent_behind_a_pipeline_does_not_discard_its_calls() throws Exception {
        try (Perdure engine = engine(holdingUp())) {
            FutureTask<Integer> first = first(engine);
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::count));
            counter.gate.countDown();
            gate.awaitSomebody();
            FutureTask<Run<Integer>> sent =
                    waiting(() -> counter(engine).send(Counter::count, StartOptions.defaults()));
            gate.open();
            assertThat(results(calls)).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 1));
            assertThat(first.get()).isEqualTo(1);
            assertThat(sent.get().result()).isEqualTo(CALLERS + 2);
            assertThat(completedCalls.get()).isBetween(CALLERS - 2, CALLERS);
            assertThat(starts.get() + completedCalls.get()).isEqualTo(CALLERS + 2);
        }
    }

    /** Calls that were about to be written are discarded, and join again behind the call that came from elsewhere. */
    @Test
    void a_call_that_comes_from_elsewhere_lets_the_calls_of_a_pipeline_join_again() throws Exception {
        try (Perdure engine = engine(holdingUp());
                Perdure elsewhere = engine(rows)) {
            FutureTask<Integer> first = first(engine);
            // It lasts until a batch holds it, so that there is such a batch however quickly the others run.
            FutureTask<Integer> second = waiting(() -> counter(engine).call(Counter::second));
            List<FutureTask<Integer>> calls =
                    waiting(CALLERS, () -> counter(engine).call(Counter::count));
            counter.gate.countDown();
            gate.awaitSomebody();
            Run<Integer> sent = counter(elsewhere).send(Counter::count, StartOptions.defaults());
            gate.open();
            List<Integer> results = new ArrayList<>(results(calls));
            assertThat(sent.result()).isEqualTo(2);
            results.add(2);
            results.add(second.get());
            assertThat(results).containsExactlyInAnyOrderElementsOf(upTo(CALLERS + 3));
            assertThat(first.get()).isEqualTo(1);
            assertThat(mostStarts).as("no caller starts its call by itself").hasValue(1);
        }
    }

    @Test
    void a_failure_is_the_callers_and_what_was_set_before_it_stays() throws Exception {
        assertFailsAlone(Counter::fail);
    }

    @Test
    void an_error_is_the_callers_as_an_exception_is() throws Exception {
        assertFailsAlone(Counter::breakDown);
    }

    private void assertFailsAlone(ObjectMethod.Supplier<Counter, Integer> failing) throws Exception {
        try (Perdure engine = engine(rows)) {
            FutureTask<Integer> first = first(engine);
            FutureTask<Integer> fails = waiting(() -> counter(engine).call(failing));
            FutureTask<Integer> next = waiting(() -> counter(engine).call(Counter::count));
            counter.gate.countDown();
            assertThatThrownBy(fails::get)
                    .cause()
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("not the number 2");
            assertThat(next.get()).isEqualTo(3);
            assertThat(first.get()).isEqualTo(1);
            assertThat(engine.runs(RunFilter.all()).list())
                    .extracting(run -> run.state())
                    .containsExactlyInAnyOrder(RunState.COMPLETED, RunState.FAILED, RunState.COMPLETED);
        }
    }

    @Test
    void an_engine_that_is_closed_leaves_no_caller_waiting() throws Exception {
        Perdure engine =
                Perdure.on(rows).register(counter).closeTimeout(Duration.ZERO).start();
        FutureTask<Integer> first = first(engine);
        FutureTask<Integer> waits = waiting(() -> counter(engine).call(Counter::count));
        engine.close();
        assertThatThrownBy(waits::get).cause().isInstanceOf(ClosedException.class);
        assertThatThrownBy(first::get).cause().isInstanceOf(ClosedException.class);
        counter.gate.countDown();
    }

    @Test
    void a_caller_that_is_interrupted_hears_of_it_and_the_others_continue() throws Exception {
        try (Perdure engine = engine(rows)) {
            FutureTask<Integer> first = first(engine);
            FutureTask<Integer> gone = new FutureTask<>(() -> counter(engine).call(Counter::count));
            Thread thread = Thread.ofPlatform().daemon().start(gone);
            await().pollInterval(Duration.ofMillis(1)).until(() -> thread.getState() == Thread.State.WAITING);
            FutureTask<Integer> stays = waiting(() -> counter(engine).call(Counter::count));
            thread.interrupt();
            assertThatThrownBy(gone::get).cause().isInstanceOf(ResultUnavailableException.class);
            counter.gate.countDown();
            assertThat(stays.get()).isEqualTo(2);
            assertThat(first.get()).isEqualTo(1);
        }
    }
}
