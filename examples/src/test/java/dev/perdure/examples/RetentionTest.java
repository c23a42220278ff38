package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.retention.Retention.runs;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.examples.Orders.Order;
import dev.perdure.examples.Orders.Payment;
import dev.perdure.examples.Orders.Payments;
import dev.perdure.examples.Orders.Shipping;
import dev.perdure.memory.MemoryStore;
import dev.perdure.retention.Retention;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The code that the documentation of retention quotes. */
class RetentionTest {
    private final Order order = new Order("Ada", "book", Duration.ofMillis(10));
    private final Payments payments = paid -> new Payment("PAY-1");
    private final Shipping shipping = shipped -> "TRACK-1";

    @Test
    void periods_go_by_definition_outcome_and_queue() {
        MemoryStore store = new MemoryStore();
        // region periods
        Perdure perdure = Perdure.on(store)
                .register(new Orders(payments, shipping))
                .retention(Retention.days(30)
                        .keep(runs().definition("audit"), Retention.FOREVER)
                        .keep(runs().outcome(RunState.FAILED), Duration.ofDays(90))
                        .keep(runs().queue("imports"), Duration.ofHours(6)))
                .start();
        // endregion
        try (perdure) {
            perdure.start(Orders::process, order, id("order-42")).result();
            assertThat(perdure.retention().info().effective().period("order", "imports", RunState.COMPLETED))
                    .isEqualTo(Duration.ofHours(6));
        }
    }

    @Test
    void ids_are_remembered_for_longer() {
        Retention retention =
                // region ids
                Retention.days(7).rememberIds(Duration.ofDays(365));
        // endregion
        assertThat(retention.ids()).contains(Duration.ofDays(365));
    }
}
