package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ImportsTest {
    @ParameterizedTest
    @EnumSource
    void all_files_are_imported_and_an_operators_change_is_visible(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Imports(String::length)).queues(Imports.QUEUE, Imports.LOOKUPS);
            assertThat(Imports.lookUp(perdure, new Imports.Upload("acme", "parts"), 5)
                            .result())
                    .isEqualTo(5);
            List<Run<Integer>> runs = IntStream.range(0, 30)
                    .mapToObj(i -> Imports.start(perdure, new Imports.Upload("customer-" + i % 3, "file-" + i)))
                    .toList();
            runs.forEach(run -> assertThat(run.result()).isBetween(6, 7));

            Imports.upgrade(perdure, "acme");
            assertThat(perdure.queues().get("imports").limits().turns("acme")).isEqualTo(3);
            perdure.queues().reset("imports");
            QueueInfo queue = Imports.slowDown(perdure, () -> {});
            assertThat(queue.declared()).isEqualTo(Imports.QUEUE);
            assertThat(queue.limits())
                    .isEqualTo(Queue.named("imports").concurrency(5).perKey(2));
            assertThat(queue.paused()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_third_import_of_a_customer_is_refused_where_the_queue_says_so(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Imports(String::length)).queues(Imports.QUEUE, Imports.REPORTS);
            perdure.queues().limit(Queue.named("imports").whenKeyFull(Queue.WhenKeyFull.REFUSE));
            perdure.queues().pause("imports", "so that none of them ends");
            List<Optional<Run<Integer>>> runs = IntStream.range(0, 3)
                    .mapToObj(i -> Imports.startIfFree(perdure, new Imports.Upload("acme", "file-" + i)))
                    .toList();
            assertThat(runs).extracting(Optional::isPresent).containsExactly(true, true, false);
        }
    }
}
