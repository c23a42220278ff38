package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.error.TerminalException;
import dev.perdure.examples.Fulfilment.Confirmation;
import dev.perdure.examples.Fulfilment.Inventory;
import dev.perdure.examples.Fulfilment.Order;
import dev.perdure.examples.Fulfilment.Payments;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FulfilmentTest {
    private static final Order ORDER = new Order("book", 1999, "Turin");

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final AtomicInteger refundsRefused = new AtomicInteger();

    private final Inventory inventory = new Inventory() {
        @Override
        public String reserve(String item) {
            calls.add("reserve");
            return "R-1";
        }

        @Override
        public void release(String reservation) {
            calls.add("release " + reservation);
        }
    };

    private Payments payments(boolean hasMoney) {
        return new Payments() {
            @Override
            public String charge(String key, int cents) {
                if (!hasMoney) {
                    throw new TerminalException("No money.");
                }
                calls.add("charge");
                return "P-1";
            }

            @Override
            public void refund(String payment) {
                if (refundsRefused.getAndDecrement() > 0) {
                    throw new IllegalStateException("bank closed");
                }
                calls.add("refund " + payment);
            }
        };
    }

    private Fulfilment fulfilment(boolean hasMoney, boolean hasRoad) {
        return new Fulfilment(inventory, payments(hasMoney), (address, reservation) -> {
            if (!hasRoad) {
                throw new TerminalException("No road.");
            }
            calls.add("ship");
            return "S-1";
        });
    }

    @ParameterizedTest
    @EnumSource
    void reserves_charges_ships_and_tells(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(fulfilment(true, true));
            assertThat(perdure.start(Fulfilment::fulfil, ORDER, id("o")).result())
                    .isEqualTo(new Confirmation("P-1", "S-1"));
            assertThat(calls).containsExactly("reserve", "charge", "ship");
            assertThat(perdure.run(RunId.of("o-mail"), TypeRef.of(String.class)).result())
                    .isEqualTo("mailed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void gives_the_goods_back_when_there_is_no_money(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(fulfilment(false, true));
            assertThatThrownBy(perdure.start(Fulfilment::fulfil, ORDER)::result).hasMessageContaining("No money.");
            assertThat(calls).containsExactly("reserve", "release R-1");
        }
    }

    // region compensation
    @ParameterizedTest
    @EnumSource
    void gives_money_and_goods_back_when_there_is_no_road(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            refundsRefused.set(5); // compensations are steps, so the engine retries them
            perdure.register(fulfilment(true, false));
            Run<Confirmation> run = perdure.start(Fulfilment::fulfil, ORDER);
            assertThatThrownBy(run::result).hasMessageContaining("No road.");
            assertThat(calls).containsExactly("reserve", "charge", "refund P-1", "release R-1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void releases_the_goods_although_the_refund_fails_for_good(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            refundsRefused.set(20);
            perdure.register(fulfilment(true, false));
            Run<Confirmation> run = perdure.start(Fulfilment::fulfil, ORDER, id("o"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("1 of 2 compensations of run 'o' failed")
                    .hasMessageContaining("Step 'refund' failed after 20 attempts");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(calls).containsExactly("reserve", "charge", "release R-1");
        }
    }
    // endregion
}
