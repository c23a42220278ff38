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

/** Pays through a gateway that answers by calling back, in seconds or in days. */
public final class Checkouts {
    /** What anyone may see of a payment. */
    public static final Topic<String> STATUS = Topic.of("status", String.class);

    /** What is to be paid. */
    public record Checkout(int cents, Duration patience) {}

    /** What the gateway says in its call. */
    public record GatewayAnswer(boolean success, String transaction, String error) {}

    /** How it ended. */
    public record Result(boolean paid, String detail) {}

    /** The payment gateway. */
    public interface Gateway {
        /** Begins a payment; the answer comes by a call with this token. */
        void begin(String payment, int cents, String token);
    }

    private final Gateway gateway;

    /** Checkouts at this gateway. */
    public Checkouts(Gateway gateway) {
        this.gateway = gateway;
    }

    // region workflow
    @Workflow("checkout")
    public Result pay(WorkflowContext ctx, Checkout checkout) {
        Awakeable<GatewayAnswer> callback = ctx.awakeable(GatewayAnswer.class);
        ctx.run("begin", () -> gateway.begin(ctx.runId().value(), checkout.cents(), callback.token()));
        ctx.publish(STATUS, "PENDING");
        try {
            GatewayAnswer answer = callback.orTimeout(checkout.patience()).await(); // no thread, no heap, only a row
            ctx.publish(STATUS, answer.success() ? "COMPLETED" : "FAILED");
            return new Result(answer.success(), answer.success() ? answer.transaction() : answer.error());
        } catch (TimedOutException silence) {
            ctx.publish(STATUS, "EXPIRED");
            return new Result(false, "The gateway did not call back.");
        }
    }
    // endregion

    // region webhook
    /** What your HTTP endpoint does with a call of the gateway: the token is all it needs. */
    public static void onWebhook(Perdure perdure, String token, GatewayAnswer callback) {
        perdure.resolve(token, callback);
    }
    // endregion

    /** Pays at a gateway that answers at once. */
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
