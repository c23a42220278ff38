package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The answer to the end of a call of a virtual object is lost, and with it which call holds the object now. */
public final class LostEndTest {
    private final MemoryStore rows = new MemoryStore();
    private final AtomicBoolean loses = new AtomicBoolean();
    private final Gate gate = new Gate();

    /** Its third call runs ahead when the second one has ended, and is in its code when the answer is lost. */
    @VirtualObject("gate")
    public static final class Gate {
        private final CountDownLatch first = new CountDownLatch(1);
        private final CountDownLatch second = new CountDownLatch(1);
        private final CountDownLatch ahead = new CountDownLatch(1);
        private final CountDownLatch discarded = new CountDownLatch(1);
        private final AtomicInteger third = new AtomicInteger();

        /** A handler. */
        @Handler
        public void enterFirst(ObjectContext ctx) throws InterruptedException {
            first.await();
        }

        /** A handler. */
        @Handler
        public void enterSecond(ObjectContext ctx) throws InterruptedException {
            second.await();
        }

        /** A handler. */
        @Handler
        public int enterThird(ObjectContext ctx) throws InterruptedException {
            int times = third.incrementAndGet();
            if (times == 1) {
                ahead.countDown();
                discarded.await();
            }
            return times;
        }
    }

    private List<Outcome> apply(Lane lane, List<Change> changes) {
        List<Outcome> outcomes = rows.ledger().apply(lane, changes);
        boolean ends = changes.stream()
                .anyMatch(change -> change instanceof Change.Advance advance && advance.move() instanceof Move.End);
        if (ends && gate.second.getCount() == 0 && loses.compareAndSet(true, false)) {
            try {
                gate.ahead.await();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "the answer is lost", null);
        }
        return outcomes;
    }

    @Test
    void the_next_call_begins_again_although_what_ran_ahead_is_still_in_its_code() {
        Ledger ledger = this::apply;
        try (Perdure perdure = Perdure.on(Stores.with(rows, "ledger", ledger))
                .register(gate)
                .lease(Duration.ofMinutes(10))
                .start()) {
            ObjectHandle<Gate> object = perdure.object(Gate.class, "a");
            Run<@Nullable Void> first = object.send(Gate::enterFirst, StartOptions.defaults());
            Run<@Nullable Void> second = object.send(Gate::enterSecond, StartOptions.defaults());
            Run<Integer> third = object.send(Gate::enterThird, StartOptions.defaults());
            gate.first.countDown();
            first.result();
            loses.set(true);
            gate.second.countDown();
            second.result();
            try {
                await().until(() -> third.state().isTerminal());
                assertThat(third.result()).isEqualTo(2);
            } finally {
                gate.discarded.countDown();
            }
        }
    }
}
