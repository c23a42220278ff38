package dev.perdure.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks which engine continues the runs that come after others. */
final class HandOverTest {
    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final AtomicReference<Store> store = new AtomicReference<>();

    private Store opened(Clockwork clockwork) {
        store.set(new MemoryStore(clockwork));
        return store.get();
    }

    private static NewRun run(String id) {
        Payload input = new Payload("\"%s\"".formatted(id).getBytes(StandardCharsets.UTF_8));
        return new NewRun(RunId.of(id), "task", input, id.hashCode(), StartOptions.DEFAULT_QUEUE, 0, null, null);
    }

    private RunRef startLine() {
        List<Task> tasks =
                List.of(new Task(run("a"), List.of()), new Task(run("b"), List.of(0)), new Task(run("c"), List.of(1)));
        store.get().ledger().apply(Lane.client(0), List.of(new Change.Start(run("line"), null, List.of(), tasks)));
        return store.get().runs().find(RunId.of("line")).orElseThrow().ref();
    }

    private Definition<String, String> task(Runnable beforeTheEnd) {
        return Definition.of("task", String.class, String.class, (ctx, id) -> {
            bodies.add(id);
            beforeTheEnd.run();
            return id;
        });
    }

    private List<RunState> history(RunRef line, int task) {
        return store.get().runs().tasks(line).get(task).history().stream()
                .map(Runs.Entered::state)
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_goes_on_with_what_it_was_handed(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.on(this::opened, mode)) {
            perdure.register(task(() -> {}));
            perdure.client();
            RunRef line = startLine();
            perdure.settle();

            assertThat(bodies).containsExactly("a", "b", "c", "line");
            assertThat(history(line, 1)).containsExactly(RunState.PENDING, RunState.RUNNING, RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_was_handed_over_in_an_answer_that_was_lost_is_given_back_and_taken_again(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.on(this::opened, mode)) {
            perdure.register(task(() -> {
                if (bodies.size() == 1) {
                    perdure.loseNextAnswer();
                }
            }));
            perdure.client();
            RunRef line = startLine();
            perdure.settle();

            assertThat(bodies).containsExactly("a", "b", "c", "line");
            assertThat(history(line, 1))
                    .containsExactly(
                            RunState.PENDING, RunState.RUNNING, RunState.READY, RunState.RUNNING, RunState.COMPLETED);
        }
    }
}
