package dev.perdure.cli.demo;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;

/** The order that the demo follows. Each body writes a line into a ledger outside the engine. */
final class OrderWorkflow {
    private final Ledger ledger;

    OrderWorkflow(Ledger ledger) {
        this.ledger = ledger;
    }

    /** An order. */
    record Order(String id, int amount, int restSeconds) {}

    /** What the customer gets. */
    record Receipt(String payment, String tracking) {}

    @Workflow("demo-order")
    Receipt process(WorkflowContext ctx, Order order) {
        String payment = ctx.step("charge", () -> ledger.write(order.id(), "charge"));
        ctx.run("pack", () -> ledger.pack(order.id(), ctx.attempt().number()));
        ctx.sleep(Duration.ofSeconds(order.restSeconds()));
        String tracking = ctx.step("ship", () -> ledger.write(order.id(), "ship"));
        return new Receipt(payment, tracking);
    }
}
