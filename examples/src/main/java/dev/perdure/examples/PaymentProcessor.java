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

/** A payment that a gateway carries out, and tells of by a webhook, minutes or days later. */
@VirtualObject("payment")
public final class PaymentProcessor {
    /** What the gateway says. */
    public record Callback(boolean success, String detail) {}

    private static final Topic<Callback> CALLBACK = Topic.of("callback", Callback.class);
    private static final StateKey<String> STATUS = StateKey.of("status", String.class);
    private static final StateKey<String> WAITING = StateKey.of("waiting", String.class);

    private final Gateway gateway;

    /** With the gateway. */
    public PaymentProcessor(Gateway gateway) {
        this.gateway = gateway;
    }

    // region webhook
    /** Holds the payment while the gateway takes its time: no other payment under this key begins. */
    @Handler
    public String pay(ObjectContext ctx, Integer cents) {
        ctx.set(STATUS, "PENDING");
        ctx.set(WAITING, ctx.runId().value());
        ctx.run("initiate", () -> gateway.initiate(ctx.key(), cents));
        Callback callback = ctx.promise(CALLBACK).orTimeout(Duration.ofDays(3)).await();
        ctx.clear(WAITING);
        ctx.set(STATUS, callback.success() ? "COMPLETED" : "FAILED");
        return callback.detail();
    }

    /** Shared, because the call that waits for it holds the key: an exclusive one would wait for that, and that for it. */
    @Handler
    public void webhook(SharedObjectContext ctx, Callback callback) {
        String waiting = ctx.get(WAITING).orElseThrow(() -> new TerminalException("No payment is pending."));
        ctx.resolve(RunId.of(waiting), CALLBACK, callback);
    }
    // endregion

    /** How far it is. */
    @Handler
    public String status(SharedObjectContext ctx) {
        return ctx.get(STATUS).orElse("UNKNOWN");
    }

    /** Carries payments out. */
    @FunctionalInterface
    public interface Gateway {
        /** Begins a payment. */
        void initiate(String payment, int cents);
    }
}
