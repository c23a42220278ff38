package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import dev.perdure.micrometer.PerdureMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

/** What the page on metrics shows. */
class MetricsTest {
    /** Ships orders. */
    public static final class Orders {
        @Workflow("order")
        public String ship(WorkflowContext ctx, String order) {
            return ctx.step("ship", () -> order + " shipped");
        }
    }

    @Test
    void a_registry_counts_runs() {
        MeterRegistry registry = new SimpleMeterRegistry();
        MemoryStore store = new MemoryStore();
        // region metrics
        Perdure perdure = Perdure.on(store)
                .register(new Orders())
                .measurements(PerdureMetrics.on(registry))
                .start();
        // endregion
        try (store;
                perdure) {
            assertThat(perdure.start(Orders::ship, "book").result()).isEqualTo("book shipped");
            assertThat(registry.get("perdure.runs.started").counter().count()).isEqualTo(1);
        }
    }
}
