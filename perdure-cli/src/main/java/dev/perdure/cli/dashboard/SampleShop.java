package dev.perdure.cli.dashboard;

import static dev.perdure.StepOptions.retry;

import dev.perdure.Attempt;
import dev.perdure.Awakeable;
import dev.perdure.RetryPolicy;
import dev.perdure.Saga;
import dev.perdure.Topic;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.CancelledException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shop whose orders have a bit of everything: children, retries, waits, compensation and failures. The number of an
 * order decides what happens to it, so that a page looks the same in every demo.
 */
public final class SampleShop {
    /** Where the warehouse sends the release of an order that it holds. */
    static final Topic<String> RELEASE = Topic.of("release", String.class);

    /** What an order publishes. */
    static final Topic<String> STATUS = Topic.of("status", String.class);

    static final Attribute<String> CUSTOMER = Attribute.text("customer");

    /** Lines of this logger belong to the runs: see logback.xml. */
    private static final Logger LOG = LoggerFactory.getLogger("shop");

    private static final int BLOCKS = 5;

    private static final RetryPolicy PATIENT = RetryPolicy.standard()
            .attempts(8)
            .initialDelay(Duration.ofSeconds(2))
            .maxDelay(Duration.ofSeconds(40));

    /** An order. */
    public record Order(int number, String customer, int cents) {}

    /** A receipt. */
    public record Receipt(String payment, String parcel) {}

    /** A file of a supplier. */
    public record Upload(String supplier, int number) {}

    /** Charges, packs in a child, holds some orders, and undoes everything if shipping fails. */
    @Workflow("order")
    public Receipt order(WorkflowContext ctx, Order order) {
        Saga saga = new Saga(ctx);
        try {
            ctx.step("validate", () -> work(20));
            saga.undo("release stock", () -> work(60));
            ctx.step("reserve stock", () -> work(150));
            saga.undo("refund", () -> work(120));
            String payment = ctx.step("charge", () -> charge(ctx, order), retry(PATIENT));
            ctx.publish(STATUS, "PAID");
            String parcel = ctx.call(SampleShop::pack, order);
            if (order.number() % 5 == 0) {
                ctx.status("The warehouse holds it");
                ctx.receive(RELEASE).await(Duration.ofMinutes(2));
            }
            ctx.sleep(Duration.ofSeconds(2 + order.number() % 4));
            ctx.step("ship", () -> ship(order), retry(3));
            ctx.publish(STATUS, "SHIPPED");
            return new Receipt(payment, parcel);
        } catch (StepFailedException | CancelledException failure) {
            throw saga.compensate(failure);
        }
    }

    /** Every third order meets a gateway that is down for a while; every thirteenth has a bad card. */
    private static String charge(WorkflowContext ctx, Order order) throws IOException {
        LOG.info("Charges {} cents to {}.", order.cents(), order.customer());
        work(200 + order.number() % 7 * 90);
        if (order.number() % 13 == 0) {
            throw new TerminalException("The card of customer %s was refused.".formatted(order.customer()));
        }
        if (order.number() % 3 == 0 && ctx.attempt().number() <= 1 + order.number() % 5) {
            LOG.warn("The gateway answered 502 at attempt {}.", ctx.attempt().number());
            throw new IOException("The gateway answered 502.");
        }
        LOG.info("The gateway has taken the payment of order {}.", order.number());
        return "P-" + order.number();
    }

    private static void ship(Order order) throws IOException {
        work(180);
        if (order.number() % 11 == 0) {
            throw new IOException("No carrier takes parcel %s.".formatted(order.number()));
        }
    }

    /** Packs an order. */
    @Workflow("pack")
    public String pack(WorkflowContext ctx, Order order) {
        ctx.step("pick", () -> work(300 + order.number() % 5 * 100));
        ctx.step("wrap", () -> work(250));
        return ctx.step("print label", () -> "L-" + order.number());
    }

    /** Waits for a person, whom nobody reminds. */
    @Workflow("approval")
    public String approve(WorkflowContext ctx, String what) {
        Awakeable<String> decision = ctx.awakeable(String.class);
        ctx.step("ask", () -> work(30));
        ctx.status("Waits for a decision on " + what);
        return decision.await();
    }

    /** Imports a file, in a queue that lets few begin at once. */
    @Workflow("import-file")
    public int load(WorkflowContext ctx, Upload upload) {
        ctx.step("download", () -> work(700));
        return ctx.step("load", () -> rows(ctx.attempt(), upload));
    }

    private static int rows(Attempt attempt, Upload upload) {
        for (int block = 1; block <= BLOCKS; block++) {
            work(600);
            attempt.progress((double) block / BLOCKS, "block %s of %s".formatted(block, BLOCKS));
        }
        LOG.info("Loaded {} rows of {}.", upload.number() * 12, upload.supplier());
        return upload.number() * 12;
    }

    /** Adds up the orders of a minute. */
    @Workflow("report")
    public String report(WorkflowContext ctx) {
        ctx.step("add up", () -> work(400));
        return ctx.now().toString();
    }

    /** Stands for the time that real work takes. */
    static void work(int millis) {
        try {
            Thread.sleep(Duration.ofMillis(millis));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The demo stops.", stopped);
        }
    }
}
