package dev.perdure.testing;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(PerdureExtension.class)
class PerdureTestTest {
    public record Order(String item) {}

    public record Receipt(String payment, String tracking) {}

    public static class Orders {
        final AtomicInteger charges = new AtomicInteger();
        final AtomicInteger shipments = new AtomicInteger();

        @Workflow("order")
        public Receipt process(WorkflowContext ctx, Order order) {
            String payment = ctx.step("charge", () -> "PAY-" + charges.incrementAndGet());
            ctx.sleep(Duration.ofHours(24));
            String tracking = ctx.step("ship", () -> "TRACK-" + shipments.incrementAndGet(), retry(5));
            return new Receipt(payment, tracking);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ships_a_day_after_payment(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            Orders orders = new Orders();
            perdure.register(orders);
            Run<Receipt> run = perdure.start(Orders::process, new Order("book"), id("order-42"));
            perdure.advance(Duration.ofHours(23));
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(orders.shipments).hasValue(0);
            perdure.advance(Duration.ofHours(1));
            assertThat(run.result()).isEqualTo(new Receipt("PAY-1", "TRACK-1"));
            assertThat(orders.charges).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_at_every_commit_repeats_no_recorded_step(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<Integer, Integer> count = Definition.of("count", Integer.class, Integer.class, (ctx, n) -> {
                int sum = 0;
                for (int i = 0; i < n; i++) {
                    perdure.crashAfterNextCommit();
                    sum += ctx.step("add", bodies::incrementAndGet);
                }
                return sum;
            });
            perdure.register(count);
            assertThat(perdure.start(Invocation.of(count, 5)).result()).isEqualTo(15);
            assertThat(bodies).hasValue(5);
        }
    }

    @Test
    void a_wait_that_can_never_end_says_why(PerdureTest perdure) {
        Definition<String, String> forever = Definition.of("forever", String.class, String.class, (ctx, in) -> in);
        perdure.register(forever);
        Run<String> run =
                perdure.start(Invocation.of("unknown", "x", dev.perdure.TypeRef.of(String.class)), id("lost"));
        assertThatThrownBy(run::result)
                .hasMessageContaining("lost (unknown) is READY because: No live worker has the definition 'unknown'");
    }

    @Test
    void an_outbox_is_made_before_workflows_are_registered(PerdureTest perdure) {
        List<Change> changes = new ArrayList<>();
        Outbox outbox = perdure.outbox(changes::addAll);
        perdure.register(new Orders());
        assertThat(outbox.start(Orders::process, new Order("book"), id("o"))).hasToString("o");
        assertThat(changes).hasSize(1);
    }

    @Test
    void a_set_up_that_comes_too_late_says_which_call_has_started_the_engine(PerdureTest perdure) {
        perdure.runs(RunFilter.all()).list();
        assertThatThrownBy(() -> perdure.register(new Orders()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching(
                        "The engine was started by list\\(…\\) at PerdureTestTest\\.java:\\d+\\. Set it up before the first call that needs it\\.");
    }

    @Test
    void an_outbox_that_has_started_the_engine_is_named(PerdureTest perdure) {
        Outbox outbox = perdure.outbox(changes -> {});
        outbox.send(RunId.of("r"), Topic.of("news", String.class), "x");
        assertThatThrownBy(() -> perdure.register(new Orders()))
                .hasMessageStartingWith("The engine was started by send(…) at PerdureTestTest.java:");
    }

    @Test
    void time_does_not_go_back() {
        try (PerdureTest perdure = PerdureTest.create()) {
            assertThatThrownBy(() -> perdure.advance(Duration.ofSeconds(-1)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("Time cannot go back by PT-1S. Advance it by zero or more.");
        }
    }
}
