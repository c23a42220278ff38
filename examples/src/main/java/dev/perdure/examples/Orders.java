package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import java.io.IOException;
import java.time.Duration;

/** Charges a customer, holds the order while the customer can still change it, then ships it. */
public final class Orders {
    /** An order, and how long the customer can still change it. */
    public record Order(String customer, String item, Duration holdFor) {}

    /** A payment at the payment provider. */
    public record Payment(String id) {}

    /** The customer's receipt. */
    public record Receipt(String paymentId, String tracking) {}

    /** The payment provider. */
    public interface Payments {
        /** Charges the customer. */
        Payment charge(Order order) throws IOException;
    }

    /** The parcel service. */
    public interface Shipping {
        /** Ships the parcel and returns its tracking number. */
        String ship(Order order) throws IOException;
    }

    private final Payments payments;
    private final Shipping shipping;

    /** Orders that use this payment provider and this parcel service. */
    public Orders(Payments payments, Shipping shipping) {
        this.payments = payments;
        this.shipping = shipping;
    }

    // region workflow
    @Workflow("order")
    public Receipt process(WorkflowContext ctx, Order order) {
        Payment payment = ctx.step("charge", () -> payments.charge(order));
        ctx.sleep(order.holdFor()); // a day or a month, without a thread or heap
        String tracking = ctx.step("ship", () -> shipping.ship(order), retry(5));
        return new Receipt(payment.id(), tracking);
    }
    // endregion

    /** Runs one order that is held for two seconds. */
    public static void main(String[] args) {
        run(new MemoryStore(), new Order("Ada", "book", Duration.ofSeconds(2)));
    }

    private static void run(Store store, Order order) {
        Payments payments = paid -> new Payment("PAY-1");
        Shipping shipping = shipped -> "TRACK-1";
        // region start
        try (Perdure perdure =
                Perdure.on(store).register(new Orders(payments, shipping)).start()) {
            Run<Receipt> run = perdure.start(Orders::process, order, id("order-42"));
            System.out.println(run.result());
        }
        // endregion
    }
}
