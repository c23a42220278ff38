package dev.perdure.cli.demo;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;

/** The order workflow of the demo. Each step body records its effect in a table outside the engine. */
final class OrderWorkflow {
    private final EffectLog effectLog;

    OrderWorkflow(EffectLog effectLog) {
        this.effectLog = effectLog;
    }

    /** An order. */
    record Order(String id, int amount, int sleepSeconds) {}

    /** The customer's receipt. */
    record Receipt(String payment, String tracking) {}

    @Workflow("demo-order")
    Receipt process(WorkflowContext ctx, Order order) {
        String payment = ctx.step("charge", () -> effectLog.write(order.id(), "charge"));
        ctx.step("pack", () -> effectLog.pack(order.id(), ctx.attempt().number()));
        ctx.sleep(Duration.ofSeconds(order.sleepSeconds()));
        String tracking = ctx.step("ship", () -> effectLog.write(order.id(), "ship"));
        return new Receipt(payment, tracking);
    }
}
