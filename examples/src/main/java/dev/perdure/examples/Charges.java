package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.limit;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import java.time.Duration;

/** Charges orders through a payment provider that allows only so many calls. */
public final class Charges {
    /** What a customer has to pay. */
    public record Order(String id, String customer, int cents) {}

    /** A payment provider. */
    public interface Provider {
        /** Charges a customer and returns the receipt. */
        String charge(String customer, int cents);

        /** Sends the receipt to the customer. */
        void send(String customer, String receipt);
    }

    // region limiter
    /** The payment provider allows 100 calls a second, and 20 of them at once. */
    public static final Limiter PROVIDER =
            Limiter.named("provider").rate(100, Duration.ofSeconds(1)).concurrency(20);
    // endregion

    private final Provider provider;

    /** Charges through this provider. */
    public Charges(Provider provider) {
        this.provider = provider;
    }

    // region step
    /** Charges an order. */
    @Workflow("charge")
    public String charge(WorkflowContext ctx, Order order) {
        String receipt = ctx.step("charge", () -> provider.charge(order.customer(), order.cents()), limit(PROVIDER));
        ctx.step("notify", () -> provider.send(order.customer(), receipt), retry(3).limitedBy(PROVIDER));
        return receipt;
    }
    // endregion

    /** Starts the charge of an order. */
    public static Run<String> start(Perdure perdure, Order order) {
        return perdure.start(Charges::charge, order, id("charge-" + order.id()));
    }

    /** Charges one order in a process of its own. */
    public static String chargeOne(Provider provider, Order order) {
        // region declare
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Charges(provider))
                .limiters(PROVIDER)
                .start()) {
            // endregion
            return start(perdure, order).result();
        }
    }

    // region operate
    /** Lets no step call the provider while it is down, and calls it more slowly afterwards. */
    public static LimiterInfo slowDown(Perdure perdure, Runnable repair) {
        perdure.limiters().pause(PROVIDER.name(), "the provider is down");
        repair.run();
        perdure.limiters().limit(Limiter.named(PROVIDER.name()).concurrency(5));
        perdure.limiters().resume(PROVIDER.name());
        return perdure.limiters().get(PROVIDER.name());
    }
    // endregion
}
