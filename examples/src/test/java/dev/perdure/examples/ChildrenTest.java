package dev.perdure.examples;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Child;
import dev.perdure.ChildOptions.OnCancel;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code that the guide on children quotes. */
class ChildrenTest {
    /** Ships parcels, each in a run of its own. */
    public static final class Shipping {
        // region call
        @Workflow("order-shipping")
        public String shipOrder(WorkflowContext ctx, List<String> parcels) {
            List<Child<String>> shipped = parcels.stream()
                    .map(parcel ->
                            ctx.startChild(Invocation.of(Shipping::ship, parcel), childId(ctx.runId() + "-" + parcel)))
                    .toList();
            String invoice = ctx.call(Shipping::invoice, parcels.size()); // starts a child and waits for its result
            return invoice + " " + DurableFuture.all(shipped).await();
        }
        // endregion

        @Workflow("parcel")
        public String ship(WorkflowContext ctx, String parcel) {
            ctx.sleep(Duration.ofDays(2));
            if (parcel.equals("broken")) {
                throw new IllegalStateException("glass");
            }
            return parcel + " arrived";
        }

        @Workflow("invoice")
        public String invoice(WorkflowContext ctx, Integer parcels) {
            return "invoice for " + parcels + ":";
        }

        // region failure
        @Workflow("careful-shipping")
        public String shipCarefully(WorkflowContext ctx, String parcel) {
            try {
                return ctx.call(Shipping::ship, parcel);
            } catch (RunFailedException failed) { // the cause is the child's own exception, with its stack trace
                return "lost: " + failed.getCause().getMessage();
            }
        }
        // endregion

        // region cancel
        @Workflow("insured-shipping")
        public String shipInsured(WorkflowContext ctx, String parcel) {
            Child<String> shipped = ctx.startChild(
                    Invocation.of(Shipping::ship, parcel), childId(parcel).onCancel(OnCancel.ABANDON));
            return shipped.await();
        }
        // endregion
    }

    @ParameterizedTest
    @EnumSource
    void ships_everything_at_once(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shipping());
            Run<String> run = perdure.start(Shipping::shipOrder, List.of("books", "lamp"), id("o"));
            perdure.advance(Duration.ofDays(1));
            perdure.crash();
            assertThat(run.result()).isEqualTo("invoice for 2: [books arrived, lamp arrived]");
            assertThat(perdure.now()).isEqualTo("2030-01-03T00:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void catches_what_a_child_failed_with(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shipping());
            assertThat(perdure.start(Shipping::shipCarefully, "broken").result())
                    .isEqualTo("lost: glass");
        }
    }

    @ParameterizedTest
    @EnumSource
    void lets_a_parcel_go_on_that_is_on_its_way(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Shipping());
            Run<String> run = perdure.start(Shipping::shipInsured, "lamp");
            perdure.settle();
            run.cancel("changed my mind");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            perdure.advance(Duration.ofDays(2));
            assertThat(perdure.run(dev.perdure.RunId.of("lamp"), dev.perdure.TypeRef.of(String.class))
                            .result())
                    .isEqualTo("lamp arrived");
        }
    }
}
