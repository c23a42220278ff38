package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.examples.Charges.Order;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ChargesTest {
    /** Notes what it is asked for. */
    private static final class Recording implements Charges.Provider {
        private final Queue<String> calls = new ConcurrentLinkedQueue<>();

        @Override
        public String charge(String customer, int cents) {
            calls.add("charge " + customer);
            return "receipt for " + cents;
        }

        @Override
        public void send(String customer, String receipt) {
            calls.add("send " + customer);
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_orders_are_charged_and_an_operators_change_is_visible(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            Recording provider = new Recording();
            perdure.register(new Charges(provider)).limiters(Charges.PROVIDER);
            List<Run<String>> runs = IntStream.range(0, 10)
                    .mapToObj(i -> Charges.start(perdure, new Order("o" + i, "acme", 100 + i)))
                    .toList();
            runs.forEach(run -> assertThat(run.result()).startsWith("receipt for 10"));
            assertThat(provider.calls).hasSize(20);

            LimiterInfo limiter = Charges.slowDown(perdure, () -> {});
            assertThat(limiter.declared()).isEqualTo(Charges.PROVIDER);
            assertThat(limiter.limits())
                    .isEqualTo(Limiter.named("provider")
                            .rate(100, Duration.ofSeconds(1))
                            .concurrency(5));
            assertThat(limiter.paused()).isEmpty();
        }
    }

    @Test
    void one_order_is_charged() {
        assertThat(Charges.chargeOne(new Recording(), new Order("o", "acme", 7)))
                .isEqualTo("receipt for 7");
    }
}
