package dev.perdure.examples.shop;

import static dev.perdure.StepOptions.retry;

import dev.perdure.Awakeable;
import dev.perdure.ChildOptions;
import dev.perdure.Invocation;
import dev.perdure.Saga;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.spring.SpringTransactions;
import java.time.Duration;
import org.springframework.stereotype.Component;

/** What happens to an order, from the reservation to the parcel. */
@Component
public class OrderWorkflow {
    /** The queue of parcels. */
    static final String PARCELS = "parcels";

    private static final Duration TIME_TO_PAY = Duration.ofDays(3);

    private final Sales sales;
    private final PaymentProvider payments;
    private final Carrier carrier;
    private final SpringTransactions transactions;

    OrderWorkflow(Sales sales, PaymentProvider payments, Carrier carrier, SpringTransactions transactions) {
        this.sales = sales;
        this.payments = payments;
        this.carrier = carrier;
        this.transactions = transactions;
    }

    // region workflow
    @Workflow("order")
    public String process(WorkflowContext ctx, Order order) {
        Saga saga = new Saga(ctx);
        try {
            saga.undo("cancel", transactions, status -> sales.cancel(order));
            ctx.transact("reserve", transactions, status -> sales.reserve(order));

            Awakeable<Payment> payment = ctx.awakeable(Payment.class);
            ctx.step("ask for payment", () -> payments.ask(order, payment.token()));
            Payment paid = payment.orTimeout(TIME_TO_PAY).await();
            saga.undo("refund", () -> payments.refund(paid));

            String tracking = ctx.startChild(
                            Invocation.of(OrderWorkflow::send, order),
                            ChildOptions.defaults().queue(PARCELS))
                    .await();
            ctx.transact("ship", transactions, status -> sales.ship(order, tracking));
            return tracking;
        } catch (RuntimeException failure) {
            throw saga.compensate(failure);
        }
    }

    @Workflow("parcel")
    public String send(WorkflowContext ctx, Order order) {
        return ctx.step("send", () -> carrier.send(ctx.attempt().idempotencyKey(), order), retry(5));
    }
    // endregion
}
