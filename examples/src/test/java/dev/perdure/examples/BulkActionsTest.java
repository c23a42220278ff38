package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The code that the documentation of bulk actions quotes. */
class BulkActionsTest {
    @Test
    void all_failed_orders_are_retried() {
        AtomicBoolean closed = new AtomicBoolean(true);
        Definition<String, String> order = Definition.of(
                "order",
                String.class,
                String.class,
                (ctx, item) -> ctx.step("ship", () -> {
                    if (closed.get()) {
                        throw new TerminalException("The carrier is closed");
                    }
                    return "shipped " + item;
                }));
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(order);
            List<Run<String>> orders = perdure.startAll(
                    List.of("book", "lamp"), item -> Invocation.of(order, item), item -> StartOptions.id(item));
            perdure.settle();
            closed.set(false);
            Operator anna = Operator.named("anna");
            // region bulk
            RunFilter failed = RunFilter.all().definition("order").state(RunState.FAILED);
            Map<RunState, RunCount> wouldChange = perdure.runs(failed).dryRun(BulkAction.retry());
            Run<BulkReport> retries = perdure.as(anna).runs(failed).start(BulkAction.retry());
            BulkReport report = retries.result();
            // endregion
            assertThat(wouldChange).isEqualTo(Map.of(RunState.FAILED, new RunCount(2, false)));
            assertThat(report.changed()).isEqualTo(2);
            assertThat(orders).extracting(Run::result).containsExactly("shipped book", "shipped lamp");
        }
    }
}
