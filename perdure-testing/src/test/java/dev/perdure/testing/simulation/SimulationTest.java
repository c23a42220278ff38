package dev.perdure.testing.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.Simulate;
import dev.perdure.testing.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SimulationTest {
    static final class Orders {
        private final Map<String, Integer> charged = new HashMap<>();
        private final Simulation simulation;

        Orders(Simulation simulation) {
            this.simulation = simulation;
        }

        @Workflow("order")
        public String order(WorkflowContext ctx, String item) {
            String reserved = ctx.step("reserve", () -> {
                simulation.pause();
                return "reserved " + item;
            });
            ctx.sleep(Duration.ofMinutes(5));
            ctx.step("charge", () -> {
                simulation.pause();
                charged.merge(item, 1, Integer::sum);
            });
            return reserved;
        }
    }

    @Simulate(seeds = 300)
    void every_order_ends(Simulation simulation) {
        Orders orders = new Orders(simulation);
        simulation.register(orders);
        List<Run<String>> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            runs.add(simulation.client().start(Orders::order, "book-" + i, StartOptions.id("order-" + i)));
        }
        for (int i = 0; i < 3; i++) {
            assertThat(runs.get(i).result()).isEqualTo("reserved book-" + i);
        }
        assertThat(orders.charged.values()).allMatch(count -> count >= 1).hasSize(3);
    }

    @Test
    void a_charge_without_an_idempotency_key_is_found() {
        assertThatThrownBy(() -> Simulation.check(500, simulation -> {
                    Orders orders = new Orders(simulation);
                    simulation.register(orders);
                    simulation
                            .client()
                            .start(Orders::order, "book", StartOptions.id("order"))
                            .result();
                    assertThat(orders.charged).containsEntry("book", 1);
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Seed ")
                .hasMessageContaining("@Simulate(seed = ")
                .hasMessageContaining("'charge'");
    }

    /**
     * Processes die in many of these histories, and what their threads log while they end is no error of the engine. A
     * store that refuses to be read is one to report.
     */
    @Test
    void no_history_logs_an_error() {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");
        ListAppender<ILoggingEvent> errors = new ListAppender<>();
        errors.start();
        logger.addAppender(errors);
        try {
            Simulation.check(300, this::every_order_ends);
        } finally {
            logger.detachAppender(errors);
        }
        assertThat(errors.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
                .filteredOn(event -> !isOfDeadProcess(event.getThrowableProxy()))
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(message -> !message.contains("refuse"))
                .isEmpty();
    }

    private static boolean isOfDeadProcess(@Nullable IThrowableProxy thrown) {
        return thrown != null && thrown.getClassName().endsWith(".Killed");
    }
}
