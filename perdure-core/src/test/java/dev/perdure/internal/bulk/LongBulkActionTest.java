package dev.perdure.internal.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.memory.MemoryStore;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LongBulkActionTest {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    @Test
    void a_long_walk_begins_anew_and_counts_all_runs() {
        int runs = 5_250;
        try (Perdure perdure = Perdure.on(new MemoryStore()).start()) {
            perdure.startAll(
                    IntStream.range(0, runs).boxed().toList(),
                    i -> Invocation.of(WAITS, "x"),
                    i -> StartOptions.id("run-" + i));

            Run<BulkReport> bulk =
                    perdure.runs(RunFilter.all().definition("waits")).start(BulkAction.kill("no"));

            assertThat(bulk.result()).isEqualTo(new BulkReport(runs, 0, 0, List.of()));
            assertThat(perdure.runs(RunFilter.all().definition("waits").state(RunState.CANCELLED))
                            .count()
                            .get(RunState.CANCELLED)
                            .runs())
                    .isEqualTo(runs);
            assertThat(bulk.history().stream().filter(event -> event.kind() == HistoryEvent.Kind.STEP))
                    .as("the steps of the last life")
                    .hasSizeBetween(4, 10);
            assertThat(bulk.info().description().status())
                    .contains("kill: 5250 of about 5250 runs: 5250 changed, 0 skipped, 0 refused");
        }
    }
}
