package dev.perdure.internal.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.audit.AuditFilter;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StoppedBulkActionTest {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    @Test
    void a_bulk_action_that_is_cancelled_half_way_stops_after_its_page_and_the_audit_has_what_it_changed() {
        CompletableFuture<Run<BulkReport>> started = new CompletableFuture<>();
        AtomicBoolean cancelled = new AtomicBoolean();
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .listener(change -> {
                    if (change.definition().equals("waits") && cancelled.compareAndSet(false, true)) {
                        started.join().cancel("the wrong runs");
                    }
                })
                .start()) {
            perdure.startAll(
                    IntStream.range(0, 250).boxed().toList(),
                    i -> Invocation.of(WAITS, "x"),
                    i -> StartOptions.id("run-" + i));
            Run<BulkReport> bulk =
                    perdure.runs(RunFilter.all().definition("waits")).start(BulkAction.kill("no"));
            started.complete(bulk);

            assertThatThrownBy(bulk::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("the wrong runs");
            assertThat(perdure.runs(RunFilter.all().definition("waits").state(RunState.CANCELLED))
                            .count()
                            .get(RunState.CANCELLED)
                            .runs())
                    .isEqualTo(100);
            assertThat(bulk.state()).isEqualTo(RunState.CANCELLED);
            assertThat(perdure.audit().list(AuditFilter.all().limit(1_000)))
                    .filteredOn(entry -> entry.detail().startsWith("in " + bulk.id()))
                    .hasSize(100);
        }
    }
}
