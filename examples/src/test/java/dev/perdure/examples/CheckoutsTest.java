package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.RunEndedException;
import dev.perdure.examples.Checkouts.Checkout;
import dev.perdure.examples.Checkouts.GatewayAnswer;
import dev.perdure.examples.Checkouts.Result;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CheckoutsTest {
    private static final Checkout CHECKOUT = new Checkout(1999, Duration.ofDays(3));

    private final Set<String> tokens = ConcurrentHashMap.newKeySet();
    private final Checkouts checkouts = new Checkouts((payment, cents, token) -> tokens.add(token));

    private String token() {
        assertThat(tokens).hasSize(1);
        return tokens.iterator().next();
    }

    // region test
    @ParameterizedTest
    @EnumSource
    void is_paid_when_the_gateway_calls_back(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(checkouts);
            Run<Result> run = perdure.start(Checkouts::pay, CHECKOUT, id("checkout-42"));
            perdure.advance(Duration.ofDays(2));
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.published(Checkouts.STATUS)).contains("PENDING");
            perdure.crash(); // the token still works when another worker continues the run
            Checkouts.onWebhook(perdure, token(), new GatewayAnswer(true, "TX-1", ""));
            assertThat(run.result()).isEqualTo(new Result(true, "TX-1"));
            assertThat(run.published(Checkouts.STATUS)).contains("COMPLETED");
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void is_not_paid_when_the_gateway_says_no(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(checkouts);
            Run<Result> run = perdure.start(Checkouts::pay, CHECKOUT);
            perdure.settle();
            Checkouts.onWebhook(perdure, token(), new GatewayAnswer(false, "", "card expired"));
            assertThat(run.result()).isEqualTo(new Result(false, "card expired"));
            assertThat(run.published(Checkouts.STATUS)).contains("FAILED");
        }
    }

    @ParameterizedTest
    @EnumSource
    void expires_when_no_call_comes(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(checkouts);
            Run<Result> run = perdure.start(Checkouts::pay, CHECKOUT);
            assertThat(run.result()).isEqualTo(new Result(false, "The gateway did not call back."));
            assertThatThrownBy(() -> Checkouts.onWebhook(perdure, token(), new GatewayAnswer(true, "late", "")))
                    .isInstanceOf(RunEndedException.class);
        }
    }
}
