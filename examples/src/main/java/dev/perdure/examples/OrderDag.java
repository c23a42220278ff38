package dev.perdure.examples;

import dev.perdure.Perdure;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.TaskError;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** An order as a DAG of tasks. Independent tasks run in parallel, and a branch that fails does not stop the other. */
public final class OrderDag {
    /** An order. */
    public record Order(String item, int cents) {}

    /** A payment at the payment provider. */
    public record Payment(String id) {}

    /** A packed parcel. */
    public record Parcel(String label) {}

    /** The customer's receipt. */
    public record Receipt(String payment, String tracking) {}

    /** The services that carry out an order. */
    public interface Partners {
        /** Charges once per key. */
        Payment charge(String key, int cents);

        /** Packs an item. */
        Parcel pack(String item);

        /** Ships a parcel and returns its tracking number. */
        String ship(Parcel parcel);

        /** Reports the failed tasks to the support team. */
        void report(String order, List<TaskError> errors);
    }

    private OrderDag() {}

    // region dag
    /** Checks the order, then charges and packs in parallel, then ships. */
    public static Dag<Order, Receipt> with(Partners partners) {
        return Dag.of("order-dag", Order.class, dag -> {
            var check = dag.task("check", task -> checked(task.input()));
            var charge = dag.after(check)
                    .task(
                            "charge",
                            (task, order) -> partners.charge(task.attempt().idempotencyKey(), order.cents()))
                    .retry(5);
            var pack = dag.after(check).task("pack", (task, order) -> partners.pack(order.item()));
            var ship = dag.after(charge, pack)
                    .task("ship", (task, payment, parcel) -> new Receipt(payment.id(), partners.ship(parcel)));
            dag.onFailure(task -> partners.report(task.runId().value(), task.errors()));
            return ship;
        });
    }
    // endregion

    private static Order checked(Order order) {
        if (order.cents() <= 0) {
            throw new TerminalException("An order costs something.");
        }
        return order;
    }

    /** Places an order with a card that is refused, then retries the failed tasks when the card works. */
    public static void main(String[] args) {
        AtomicBoolean refused = new AtomicBoolean(true);
        Partners partners = new Partners() {
            @Override
            public Payment charge(String key, int cents) {
                if (refused.get()) {
                    throw new TerminalException("The card was refused.");
                }
                return new Payment("P-1");
            }

            @Override
            public Parcel pack(String item) {
                System.out.println("Packed " + item);
                return new Parcel("L-1");
            }

            @Override
            public String ship(Parcel parcel) {
                return "TRACK-1";
            }

            @Override
            public void report(String order, List<TaskError> errors) {
                System.out.println("Please help with " + order + ": " + errors);
            }
        };
        Dag<Order, Receipt> dag = with(partners);
        try (Perdure perdure = Perdure.on(new MemoryStore()).register(dag).start()) {
            DagRun<Receipt> run = perdure.start(dag, new Order("a book", 1999));
            try {
                System.out.println(run.result());
            } catch (RunFailedException failed) {
                System.out.println(run.status().toText());
                refused.set(false);
                run.retryFailed(); // runs charge and ship again, but not pack
                System.out.println(run.result());
            }
        }
    }
}
