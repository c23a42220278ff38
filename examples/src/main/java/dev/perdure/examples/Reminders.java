package dev.perdure.examples;

import static dev.perdure.StartOptions.id;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Sends a reminder 30 days after the sign-up, unless the customer has subscribed by then. */
public final class Reminders {
    /** A customer's trial. */
    public record Trial(String email) {}

    /** Sends mail. */
    public interface Mail {
        /** Sends a mail. */
        void send(String to, String subject);
    }

    /** The customer accounts. */
    public interface Accounts {
        /** Whether the customer with this address has subscribed. */
        boolean hasSubscribed(String email);
    }

    private final Mail mail;
    private final Accounts accounts;

    /** Reminders through this mail server, for these accounts. */
    public Reminders(Mail mail, Accounts accounts) {
        this.mail = mail;
        this.accounts = accounts;
    }

    // region workflow
    @Workflow("trial-reminder")
    public void remind(WorkflowContext ctx, Trial trial) {
        ctx.step("welcome", () -> mail.send(trial.email(), "Welcome"));
        ctx.sleep(Duration.ofDays(30));
        boolean subscribed = ctx.step("check", () -> accounts.hasSubscribed(trial.email()));
        if (!subscribed) {
            ctx.step("remind", () -> mail.send(trial.email(), "Your trial ends tomorrow"));
        }
    }
    // endregion

    /** Starts a reminder, shows that it sleeps, and leaves it sleeping. */
    public static void main(String[] args) throws InterruptedException {
        Mail mail = (to, subject) -> System.out.printf("Mail to %s: %s%n", to, subject);
        CountDownLatch asleep = new CountDownLatch(1);
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Reminders(mail, email -> false))
                .listener(change -> {
                    if (change.state() == RunState.SUSPENDED) {
                        asleep.countDown();
                    }
                })
                .start()) {
            Run<@Nullable Void> run = perdure.start(Reminders::remind, new Trial("ada@example.org"), id("trial-ada"));
            asleep.await();
            System.out.printf(
                    "%s is %s until %s%n",
                    run.id(), run.state(), run.info().wakeAt().orElseThrow());
            run.history()
                    .forEach(event -> System.out.printf("  %s  %d  %s%n", event.at(), event.position(), event.text()));
        }
    }
}
