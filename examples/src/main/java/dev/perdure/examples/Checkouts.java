package dev.perdure.examples;

import static dev.perdure.StartOptions.id;

import dev.perdure.Awakeable;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Topic;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.TimedOutException;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Pays through a gateway that answers with a callback, seconds or days later. */
public final class Checkouts {
    /** The status that the run publishes. */
    public static final Topic<String> STATUS = Topic.of("status", String.class);

    /** The amount to pay, and how long to wait for the gateway. */
    public record Checkout(int cents, Duration timeout) {}

    /** The content of the gateway's callback. */
    public record GatewayAnswer(boolean success, String transaction, String error) {}

    /** The outcome of the payment. */
    public record Result(boolean paid, String detail) {}

    /** The payment gateway. */
    public interface Gateway {
        /** Begins a payment. The gateway calls back later with this token. */
        void begin(String payment, int cents, String token);
    }

    private final Gateway gateway;

    /** Checkouts that pay through this gateway. */
    public Checkouts(Gateway gateway) {
        this.gateway = gateway;
    }

    // region workflow
    @Workflow("checkout")
    public Result pay(WorkflowContext ctx, Checkout checkout) {
        Awakeable<GatewayAnswer> callback = ctx.awakeable(GatewayAnswer.class);
        ctx.step("begin", () -> gateway.begin(ctx.runId().value(), checkout.cents(), callback.token()));
        ctx.publish(STATUS, "PENDING");
        try {
            GatewayAnswer answer = callback.orTimeout(checkout.timeout()).await(); // holds no thread and no heap
            ctx.publish(STATUS, answer.success() ? "COMPLETED" : "FAILED");
            return new Result(answer.success(), answer.success() ? answer.transaction() : answer.error());
        } catch (TimedOutException noAnswer) {
            ctx.publish(STATUS, "EXPIRED");
            return new Result(false, "The gateway did not call back.");
        }
    }
    // endregion

    // region webhook
    /** Called by the HTTP endpoint for the gateway's callback. It needs only the token. */
    public static void onWebhook(Perdure perdure, String token, GatewayAnswer callback) {
        perdure.resolve(token, callback);
    }
    // endregion

    /** Pays through a gateway that answers at once. */
    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<String> calls = new ArrayBlockingQueue<>(1);
        Gateway gateway = (payment, cents, token) -> calls.add(token);
        try (Perdure perdure =
                Perdure.on(new MemoryStore()).register(new Checkouts(gateway)).start()) {
            Run<Result> run = perdure.start(Checkouts::pay, new Checkout(1999, Duration.ofDays(3)), id("checkout-42"));
            onWebhook(perdure, calls.take(), new GatewayAnswer(true, "TX-1", ""));
            System.out.println(run.result());
        }
    }
}
