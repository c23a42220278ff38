package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Saga;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;

/**
 * Reserves, charges and ships an order. A saga undoes the finished steps if a later one fails, or if the customer
 * cancels.
 */
public final class Fulfilment {
    /** An order. */
    public record Order(String item, int cents, String address) {}

    /** The ids of the payment and the shipment. */
    public record Confirmation(String payment, String shipment) {}

    /** The warehouse. */
    public interface Inventory {
        /** Reserves an item and returns the id of the reservation. */
        String reserve(String item);

        /** Releases a reservation. */
        void release(String reservation);
    }

    /** The payment provider. */
    public interface Payments {
        /** Charges once per key and returns the id of the payment. */
        String charge(String key, int cents);

        /** Refunds a payment. */
        void refund(String payment);
    }

    /** The parcel service. */
    public interface Shipments {
        /** Creates a shipment and returns its id. */
        String create(String address, String reservation);
    }

    private final Inventory inventory;
    private final Payments payments;
    private final Shipments shipments;

    /** Fulfilment through these partners. */
    public Fulfilment(Inventory inventory, Payments payments, Shipments shipments) {
        this.inventory = inventory;
        this.payments = payments;
        this.shipments = shipments;
    }

    // region workflow
    @Workflow("fulfilment")
    public Confirmation fulfil(WorkflowContext ctx, Order order) {
        Saga saga = new Saga(ctx);
        try {
            String reservation = ctx.step("reserve", () -> inventory.reserve(order.item()));
            saga.undo("release", () -> inventory.release(reservation));
            String payment =
                    ctx.step("charge", () -> payments.charge(ctx.attempt().idempotencyKey(), order.cents()), retry(3));
            saga.undo("refund", () -> payments.refund(payment), retry(20));
            String shipment = ctx.step("ship", () -> shipments.create(order.address(), reservation), retry(3));
            ctx.spawn(
                    Invocation.of(Fulfilment::notifyCustomer, shipment),
                    id(ctx.runId() + "-mail")); // does not wait for it
            return new Confirmation(payment, shipment);
        } catch (RuntimeException failure) {
            throw saga.compensate(failure);
        }
    }
    // endregion

    /** Notifies the customer, in a run of its own. */
    @Workflow("notification")
    public String notifyCustomer(WorkflowContext ctx, String shipment) {
        return ctx.step("mail", () -> {
            System.out.println("Your parcel " + shipment + " is on its way.");
            return "mailed";
        });
    }

    /** Places an order that cannot be shipped, and shows the compensations. */
    public static void main(String[] args) {
        Inventory inventory = new Inventory() {
            @Override
            public String reserve(String item) {
                System.out.println("Reserved " + item);
                return "R-1";
            }

            @Override
            public void release(String reservation) {
                System.out.println("Released " + reservation);
            }
        };
        Payments payments = new Payments() {
            @Override
            public String charge(String key, int cents) {
                System.out.println("Charged " + cents);
                return "P-1";
            }

            @Override
            public void refund(String payment) {
                System.out.println("Refunded " + payment);
            }
        };
        Shipments nowhere = (address, reservation) -> {
            throw new TerminalException("No road to " + address + ".");
        };
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Fulfilment(inventory, payments, nowhere))
                .start()) {
            System.out.println(perdure.start(Fulfilment::fulfil, new Order("a book", 1999, "the moon"))
                    .result());
        } catch (RunFailedException failed) {
            System.out.println(failed.getMessage());
        }
    }
}
