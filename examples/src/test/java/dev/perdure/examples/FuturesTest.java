package dev.perdure.examples;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.DurableFuture;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.StepFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code that the guide on futures quotes. */
class FuturesTest {
    private static final Map<String, Integer> PRICES = Map.of("Ant", 30, "Bee", 20, "Cow", 25);

    private static int ask(String carrier) {
        if (!PRICES.containsKey(carrier)) {
            throw new IllegalStateException(carrier + " does not answer");
        }
        return PRICES.get(carrier);
    }

    /** Asks carriers for a price. */
    public static final class Quotes {
        private final AtomicInteger resized = new AtomicInteger();

        // region all
        @Workflow("cheapest")
        public int cheapest(WorkflowContext ctx, List<String> carriers) {
            List<DurableFuture<Integer>> prices = carriers.stream()
                    .map(carrier -> ctx.stepAsync("ask " + carrier, () -> ask(carrier)))
                    .toList();
            return DurableFuture.all(prices).await().stream()
                    .mapToInt(Integer::intValue)
                    .min()
                    .orElseThrow();
        }
        // endregion

        // region first
        @Workflow("any-price")
        public int anyPrice(WorkflowContext ctx, List<String> carriers) {
            List<DurableFuture<Integer>> prices = carriers.stream()
                    .map(carrier -> ctx.stepAsync("ask " + carrier, () -> ask(carrier), retry(1)))
                    .toList();
            try {
                return DurableFuture.firstSucceeded(prices)
                        .orTimeout(Duration.ofMinutes(1))
                        .await();
            } catch (StepFailedException nobodyAnswers) {
                return -1;
            }
        }
        // endregion

        // region parallel
        @Workflow("thumbnails")
        public int thumbnails(WorkflowContext ctx, List<String> photos) {
            List<Integer> sizes =
                    DurableFuture.parallel(photos, 8, photo -> ctx.stepAsync("resize", () -> resize(photo)));
            return sizes.stream().mapToInt(Integer::intValue).sum();
        }
        // endregion

        private int resize(String photo) {
            resized.incrementAndGet();
            return photo.length();
        }
    }

    @ParameterizedTest
    @EnumSource
    void asks_all_at_once(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Quotes());
            assertThat(perdure.start(Quotes::cheapest, List.of("Ant", "Bee", "Cow"))
                            .result())
                    .isEqualTo(20);
        }
    }

    @ParameterizedTest
    @EnumSource
    void takes_the_first_answer(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Quotes());
            Run<Integer> one = perdure.start(Quotes::anyPrice, List.of("Dog", "Cow"));
            assertThat(one.result()).isEqualTo(25);
            assertThat(perdure.start(Quotes::anyPrice, List.of("Dog", "Elk")).result())
                    .isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void works_through_a_list(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            Quotes quotes = new Quotes();
            perdure.register(quotes);
            List<String> photos = java.util.Collections.nCopies(20, "photo");
            assertThat(perdure.start(Quotes::thumbnails, photos).result()).isEqualTo(100);
            assertThat(quotes.resized).hasValue(20);
        }
    }
}
