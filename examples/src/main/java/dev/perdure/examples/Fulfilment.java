package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Perdure;
import dev.perdure.Saga;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;

/** Reserves, charges and ships; what is done is undone when the rest fails, or when the customer changes his mind. */
public final class Fulfilment {
    /** What was ordered. */
    public record Order(String item, int cents, String address) {}

    /** What became of it. */
    public record Confirmation(String payment, String shipment) {}

    /** Where the goods are. */
    public interface Inventory {
        /** Sets goods aside. */
        String reserve(String item);

        /** Puts them back. */
        void release(String reservation);
    }

    /** Where the money is. */
    public interface Payments {
        /** Charges; the same key charges once. */
        String charge(String key, int cents);

        /** Gives the money back. */
        void refund(String payment);
    }

    /** What brings the goods. */
    public interface Shipments {
        /** Sends a parcel. */
        String create(String address, String reservation);
    }

    private final Inventory inventory;
    private final Payments payments;
    private final Shipments shipments;

    /** Fulfilment with these. */
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
            ctx.spawn(Fulfilment::tell, shipment, id(ctx.runId() + "-mail")); // nobody waits for it
            return new Confirmation(payment, shipment);
        } catch (RuntimeException failure) {
            throw saga.compensate(failure);
        }
    }
    // endregion

    /** Tells the customer, in a run of its own. */
    @Workflow("notification")
    public String tell(WorkflowContext ctx, String shipment) {
        return ctx.step("mail", () -> {
            System.out.println("Your parcel " + shipment + " is on its way.");
            return "mailed";
        });
    }

    /** Orders something that cannot be shipped. */
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
