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

/** An order as a graph of tasks: what can go on beside each other does, and a branch that fails leaves the other alone. */
public final class OrderGraph {
    /** What was ordered. */
    public record Order(String item, int cents) {}

    /** What was paid. */
    public record Payment(String id) {}

    /** What was packed. */
    public record Parcel(String label) {}

    /** What the customer gets. */
    public record Receipt(String payment, String tracking) {}

    /** Those who do it. */
    public interface Partners {
        /** Charges; the same key charges once. */
        Payment charge(String key, int cents);

        /** Packs. */
        Parcel pack(String item);

        /** Ships. */
        String ship(Parcel parcel);

        /** Says what went wrong to somebody who can help. */
        void report(String order, List<TaskError> errors);
    }

    private OrderGraph() {}

    // region graph
    /** Checks, then charges and packs beside each other, then ships. */
    public static Dag<Order, Receipt> with(Partners partners) {
        return Dag.of("order-graph", Order.class, dag -> {
            var check = dag.task("check", t -> checked(t.input()));
            var charge = dag.task(
                            "charge",
                            check,
                            (t, order) -> partners.charge(t.attempt().idempotencyKey(), order.cents()))
                    .retry(5);
            var pack = dag.task("pack", check, (t, order) -> partners.pack(order.item()));
            var ship = dag.task(
                    "ship", charge, pack, (t, payment, parcel) -> new Receipt(payment.id(), partners.ship(parcel)));
            dag.onFailure(t -> partners.report(t.runId().value(), t.errors()));
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

    /** Orders something with a card that is refused, and again when it is not. */
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
        Dag<Order, Receipt> graph = with(partners);
        try (Perdure perdure = Perdure.on(new MemoryStore()).register(graph).start()) {
            DagRun<Receipt> run = perdure.start(graph, new Order("a book", 1999));
            try {
                System.out.println(run.result());
            } catch (RunFailedException failed) {
                System.out.println(run.status().toText());
                refused.set(false);
                run.retryFailed(); // charge and ship; the parcel is packed already
                System.out.println(run.result());
            }
        }
    }
}
