package dev.perdure.examples;

import dev.perdure.Topic;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;

/**
 * The confirmation of an e-mail address. The main handler runs once per address. Shared handlers communicate with it
 * while it runs.
 */
// region once
@VirtualObject("email-confirmation")
public final class EmailConfirmation {
    private static final Topic<String> CONFIRMED = Topic.of("confirmed", String.class);
    private static final StateKey<String> STATUS = StateKey.of("status", String.class);

    private final Mailer mailer;

    /** Confirmations that send mail through this mailer. */
    public EmailConfirmation(Mailer mailer) {
        this.mailer = mailer;
    }

    /** Runs once for each address, however often it is called. */
    @Handler(once = true)
    public String run(ObjectContext ctx) {
        ctx.step("ask", () -> mailer.askToConfirm(ctx.key()));
        ctx.set(STATUS, "asked");
        String code = ctx.promise(CONFIRMED).await();
        ctx.set(STATUS, "confirmed");
        return code;
    }

    /** Called by the link in the mail. */
    @Handler
    public void confirm(SharedObjectContext ctx, String code) {
        ctx.promise(ctx.main(), CONFIRMED).resolve(code);
    }

    /** The status of the confirmation. */
    @Handler
    public String status(SharedObjectContext ctx) {
        return ctx.get(STATUS).orElse("unknown");
    }

    /** Sends mail. */
    @FunctionalInterface
    public interface Mailer {
        /** Asks the owner of this address to click on a link. */
        void askToConfirm(String address);
    }
}
// endregion
