package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Commands that come when the run has just changed: listeners are told of each change once, by the one that made it.
 */
@Timeout(20)
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
final class CommandListenerTest {
    private static final RunId RUN = RunId.of("r");

    private final MemoryStore rows = new MemoryStore();
    private final List<RunChange> told = new CopyOnWriteArrayList<>();
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    /** What happens to the run after it was commanded and before the store hears of that. */
    private final AtomicReference<Runnable> first = new AtomicReference<>(() -> {});

    private final Definition<String, String> busy = Definition.of(
            "busy",
            String.class,
            String.class,
            (ctx, in) -> ctx.step("work", () -> {
                Gate.passed(mayEnd);
                return in;
            }));

    private final Definition<String, String> sleepy = Definition.of("sleepy", String.class, String.class, (ctx, in) -> {
        ctx.sleep(Duration.ofDays(1));
        return in;
    });

    private Store commandedLate() {
        Ledger ledger = (lane, changes) -> {
            if (changes.stream().anyMatch(Change.Command.class::isInstance)) {
                first.getAndSet(() -> {}).run();
            }
            return rows.ledger().apply(lane, changes);
        };
        return Stores.with(rows, "ledger", ledger);
    }

    private Perdure client(Store store) {
        return Perdure.on(store).register(busy, sleepy).listener(told::add).client();
    }

    private Perdure worker() {
        return Perdure.on(rows).register(busy, sleepy).listener(told::add).start();
    }

    private RunState state() {
        return rows.runs().find(RUN).orElseThrow().info().state();
    }

    private List<RunChange> ends() {
        return told.stream().filter(change -> change.state().isTerminal()).toList();
    }

    @Test
    void a_kill_that_meets_an_end_is_not_told_as_that_end() {
        try (Perdure worker = worker();
                Perdure client = client(commandedLate())) {
            Run<String> run = worker.start(Invocation.of(busy, "x"), StartOptions.id(RUN.value()));
            first.set(() -> {
                mayEnd.countDown();
                await().until(() -> state() == RunState.COMPLETED);
            });
            client.run(RUN, TypeRef.of(String.class)).kill("gone");
            await().until(() ->
                    ends().stream().anyMatch(change -> change.reason().isEmpty()));
            assertThat(ends()).extracting(RunChange::state).containsExactly(RunState.COMPLETED);
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @Test
    void of_two_commands_the_one_that_was_applied_is_told_with_its_reason() {
        try (Perdure worker = worker();
                Perdure client = client(commandedLate());
                Perdure another = client(rows)) {
            worker.start(Invocation.of(sleepy, "x"), StartOptions.id(RUN.value()));
            await().until(() -> state() == RunState.SUSPENDED);
            first.set(() -> another.run(RUN, TypeRef.of(String.class)).kill("not wanted"));
            client.run(RUN, TypeRef.of(String.class)).kill("too expensive");
            assertThat(ends()).singleElement().satisfies(change -> {
                assertThat(change.state()).isEqualTo(RunState.CANCELLED);
                assertThat(change.reason()).contains("not wanted");
            });
        }
    }
}
