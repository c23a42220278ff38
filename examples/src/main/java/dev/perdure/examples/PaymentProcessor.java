package dev.perdure.examples;

import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.error.TerminalException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.time.Duration;

/** A payment through a gateway that reports the outcome by a webhook, minutes or days later. */
@VirtualObject("payment")
public final class PaymentProcessor {
    /** The content of the gateway's webhook. */
    public record Callback(boolean success, String detail) {}

    private static final Topic<Callback> CALLBACK = Topic.of("callback", Callback.class);
    private static final StateKey<String> STATUS = StateKey.of("status", String.class);
    private static final StateKey<String> WAITING = StateKey.of("waiting", String.class);

    private final Gateway gateway;

    /** Payments through this gateway. */
    public PaymentProcessor(Gateway gateway) {
        this.gateway = gateway;
    }

    // region webhook
    /** Holds the key until the gateway has answered. So no other payment with this key begins meanwhile. */
    @Handler
    public String pay(ObjectContext ctx, Integer cents) {
        ctx.set(STATUS, "PENDING");
        ctx.set(WAITING, ctx.runId().value());
        ctx.step("initiate", () -> gateway.initiate(ctx.key(), cents));
        Callback callback = ctx.promise(CALLBACK).orTimeout(Duration.ofDays(3)).await();
        ctx.clear(WAITING);
        ctx.set(STATUS, callback.success() ? "COMPLETED" : "FAILED");
        return callback.detail();
    }

    /**
     * Shared, because {@code pay} holds the key while it waits for this call. An exclusive handler would wait for
     * {@code pay}, and {@code pay} for it: a deadlock.
     */
    @Handler
    public void webhook(SharedObjectContext ctx, Callback callback) {
        String waiting = ctx.get(WAITING).orElseThrow(() -> new TerminalException("No payment is pending."));
        ctx.promise(RunId.of(waiting), CALLBACK).resolve(callback);
    }
    // endregion

    /** The status of the payment. */
    @Handler
    public String status(SharedObjectContext ctx) {
        return ctx.get(STATUS).orElse("UNKNOWN");
    }

    /** The payment gateway. */
    @FunctionalInterface
    public interface Gateway {
        /** Begins a payment. */
        void initiate(String payment, int cents);
    }
}
