package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Invocation;
import dev.perdure.Published;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code that the guides on messages and on continue-as-new quote. */
class MessagesTest {
    /** Workflows for carts, stock and subscriptions. */
    public static final class Shop {
        // region topics
        static final Topic<String> ADD = Topic.of("add", String.class);
        static final Topic<Integer> COUNT = Topic.of("count", Integer.class);
        static final Topic<Integer> RESTOCKED = Topic.of("restocked", Integer.class);
        // endregion

        // region receive
        @Workflow("cart")
        public List<String> cart(WorkflowContext ctx) {
            List<String> items = new ArrayList<>();
            while (true) {
                Optional<String> item = ctx.receive(ADD).await(Duration.ofMinutes(30));
                if (item.isEmpty()) {
                    return items; // no item arrived for half an hour
                }
                items.add(item.get());
                ctx.publish(COUNT, items.size());
            }
        }
        // endregion

        // region event
        @Workflow("back-order")
        public String backOrder(WorkflowContext ctx, String item) {
            int pieces = ctx.event(RESTOCKED.key(item)).await();
            return item + ": one of " + pieces;
        }
        // endregion

        // region continue
        @Workflow("subscription")
        public String subscription(WorkflowContext ctx, Integer month) {
            ctx.step("charge", () -> charged.add(month));
            Optional<String> ended = ctx.receive(END).await(Duration.ofDays(30));
            if (ended.isPresent()) {
                return ended.get() + " after month " + month;
            }
            throw ctx.continueAsNew(Invocation.of(Shop::subscription, month + 1));
        }
        // endregion

        static final Topic<String> END = Topic.of("end", String.class);
        private final List<Integer> charged = new java.util.concurrent.CopyOnWriteArrayList<>();
    }

    // region send
    @ParameterizedTest
    @EnumSource
    void a_cart_is_filled_by_messages(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shop());
            Run<List<String>> cart =
                    perdure.start(Invocation.of(Shop::cart), id("cart-7").message(Shop.ADD, "book"));
            perdure.advance(Duration.ofMinutes(20));
            perdure.send(cart.id(), Shop.ADD, "lamp");
            perdure.crash();
            cart.send(Shop.ADD, "chair");
            assertThat(cart.result()).containsExactly("book", "lamp", "chair");
        }
    }
    // endregion

    // region follow
    @ParameterizedTest
    @EnumSource
    void what_is_published_can_be_read_and_followed(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shop());
            Run<List<String>> cart =
                    perdure.start(Invocation.of(Shop::cart), id("cart-7").message(Shop.ADD, "book"));
            assertThat(cart.awaitPublished(Shop.COUNT, Duration.ofMinutes(1))).isEqualTo(1);
            cart.send(Shop.ADD, "lamp");
            List<Integer> counts = new ArrayList<>();
            Iterator<Published<Integer>> stream = cart.follow(Shop.COUNT, 0);
            stream.forEachRemaining(each -> counts.add(each.value())); // to the end of the run
            assertThat(counts).containsExactly(1, 2);
            assertThat(cart.published(Shop.COUNT)).contains(2);
        }
    }
    // endregion

    // region emit
    @ParameterizedTest
    @EnumSource
    void an_event_reaches_all_runs_that_wait_for_that_item(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shop());
            List<Run<String>> lamps = perdure.startAll(
                    List.of("lamp", "lamp"),
                    item -> Invocation.of(Shop::backOrder, item),
                    item -> dev.perdure.StartOptions.defaults());
            Run<String> chair = perdure.start(Shop::backOrder, "chair");
            perdure.settle();
            assertThat(perdure.emit(Shop.RESTOCKED.key("lamp"), 10)).isEqualTo(2);
            assertThat(lamps.stream().map(Run::result)).containsOnly("lamp: one of 10");
            assertThat(chair.state()).isEqualTo(RunState.SUSPENDED);
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void a_subscription_goes_on_for_years_with_a_short_journal(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            Shop shop = new Shop();
            perdure.register(shop);
            Run<String> run = perdure.start(Shop::subscription, 1, id("sub-7"));
            perdure.advance(Duration.ofDays(30 * 36));
            run.send(Shop.END, "bored");
            assertThat(run.result()).isEqualTo("bored after month 37");
            assertThat(shop.charged).hasSize(37);
            assertThat(run.history().stream().filter(event -> event.position() > 0))
                    .hasSizeLessThan(6);
        }
    }
}
