package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.RunConflictException;
import dev.perdure.examples.Orders.Order;
import dev.perdure.examples.Orders.Payment;
import dev.perdure.examples.Orders.Receipt;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(PerdureExtension.class)
class OrdersTest {
    private final AtomicInteger charges = new AtomicInteger();
    private final AtomicInteger shipments = new AtomicInteger();
    private final Order order = new Order("Ada", "book", Duration.ofHours(24));

    private final Orders orders = new Orders(
            paid -> new Payment("PAY-" + charges.incrementAndGet()), sent -> "TRACK-" + shipments.incrementAndGet());

    // region test
    @Test
    void ships_a_day_after_payment(PerdureTest perdure) {
        perdure.register(orders);
        Run<Receipt> run = perdure.start(Orders::process, order);
        perdure.advance(Duration.ofHours(23));
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
        perdure.advance(Duration.ofHours(1));
        assertThat(run.result()).isEqualTo(new Receipt("PAY-1", "TRACK-1"));
    }
    // endregion

    // region crash
    @Test
    void charges_once_although_the_worker_dies_twice(PerdureTest perdure) {
        perdure.register(orders);
        Run<Receipt> run = perdure.start(Orders::process, order);
        perdure.settle(); // the order is charged and sleeps
        perdure.crash();
        perdure.advance(Duration.ofHours(12));
        perdure.crash();
        assertThat(run.result()).isEqualTo(new Receipt("PAY-1", "TRACK-1"));
        assertThat(perdure.now()).isEqualTo("2030-01-02T00:00:00Z"); // the deadline from before the crashes
    }
    // endregion

    // region modes
    @ParameterizedTest
    @EnumSource
    void passes_in_every_mode(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(orders);
            assertThat(perdure.start(Orders::process, order).result()).isEqualTo(new Receipt("PAY-1", "TRACK-1"));
        }
    }
    // endregion

    // region faults
    @Test
    void a_lost_answer_does_not_charge_again(PerdureTest perdure) {
        perdure.register(orders);
        perdure.loseNextAnswer(); // the store commits, but the worker gets no answer
        assertThat(perdure.start(Orders::process, order).result().paymentId()).isEqualTo("PAY-1");
        assertThat(charges).hasValue(1);
    }

    @Test
    void a_crash_between_the_body_and_its_record_charges_again(PerdureTest perdure) {
        perdure.register(orders);
        perdure.crashBeforeNextCommit(); // after the body of "charge" has run, before its result is recorded
        assertThat(perdure.start(Orders::process, order).result().paymentId()).isEqualTo("PAY-2");
        assertThat(charges).hasValue(2); // at least once: pass an idempotency key to the provider
    }
    // endregion

    @Test
    void a_failing_parcel_service_is_tried_five_times_in_all(PerdureTest perdure) {
        AtomicInteger calls = new AtomicInteger();
        perdure.register(new Orders(paid -> new Payment("PAY-1"), sent -> {
            if (calls.incrementAndGet() < 5) {
                throw new IOException("no answer");
            }
            return "TRACK-1";
        }));
        assertThat(perdure.start(Orders::process, order).result().tracking()).isEqualTo("TRACK-1");
    }

    // region attach
    @Test
    void the_same_id_starts_one_run(PerdureTest perdure) {
        perdure.register(orders);
        Run<Receipt> first = perdure.start(Orders::process, order, id("order-42"));
        Run<Receipt> again = perdure.start(Orders::process, order, id("order-42")); // attaches to the existing run
        assertThat(again.result()).isEqualTo(first.result());
        assertThat(charges).hasValue(1);

        Order another = new Order("Ada", "lamp", Duration.ofHours(24));
        assertThatThrownBy(() -> perdure.start(Orders::process, another, id("order-42")))
                .isInstanceOf(RunConflictException.class);
    }
    // endregion
}
