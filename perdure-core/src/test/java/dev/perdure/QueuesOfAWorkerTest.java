package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.version.WorkerInfo;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** From which queues a worker takes runs. */
final class QueuesOfAWorkerTest {
    private static final Queue IMPORTS = Queue.named("imports").concurrency(2);

    private static List<String> queues(UnaryOperator<PerdureBuilder> setUp) {
        Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> in);
        try (Perdure perdure =
                setUp.apply(Perdure.on(new MemoryStore()).register(echo)).start()) {
            return perdure.versions().workers().stream()
                    .map(WorkerInfo::queues)
                    .flatMap(List::stream)
                    .filter(queue -> !queue.startsWith("perdure.")) // the engine's own
                    .toList();
        }
    }

    @Test
    void are_the_default_queue_and_those_that_are_declared() {
        assertThat(queues(builder -> builder)).containsExactly("default");
        assertThat(queues(builder -> builder.queues(IMPORTS))).containsExactlyInAnyOrder("default", "imports");
    }

    @Test
    void are_those_that_are_named_in_place_of_the_default_queue() {
        assertThat(queues(builder -> builder.queues("other"))).containsExactly("other");
        assertThat(queues(builder -> builder.queues("other").queues(IMPORTS)))
                .containsExactlyInAnyOrder("other", "imports");
        assertThat(queues(builder -> builder.queues(IMPORTS.name()).declare(IMPORTS)))
                .containsExactly("imports");
    }
}
