package dev.perdure.examples;

import static dev.perdure.StartOptions.id;

import dev.perdure.DurableFuture;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.function.Consumer;

/** Waits for a person to approve or reject a request, and sends a reminder every day until then. */
public final class Approvals {
    /** The promise that the decision resolves. */
    public static final Topic<Decision> DECISION = Topic.of("decision", Decision.class);

    /** The status that the run publishes. */
    public static final Topic<String> STATUS = Topic.of("status", String.class);

    /** The request to approve. */
    public record Request(String what, int cents) {}

    /** The decision of a person. */
    public record Decision(boolean approved, String by, String reason) {}

    private final Consumer<String> mail;

    /** Approvals that send their mails to this consumer. */
    public Approvals(Consumer<String> mail) {
        this.mail = mail;
    }

    // region workflow
    @Workflow("approval")
    public Decision ask(WorkflowContext ctx, Request request) {
        DurableFuture<Decision> decision = ctx.promise(DECISION);
        ctx.publish(STATUS, "PENDING");
        ctx.step("ask", () -> mail.accept("Please decide on " + request.what()));
        while (DurableFuture.any(decision, ctx.timer(Duration.ofDays(1))).await() == 1) {
            ctx.step("remind", () -> mail.accept("Still waiting: " + request.what()));
        }
        Decision decided = decision.await();
        ctx.publish(STATUS, decided.approved() ? "APPROVED" : "REJECTED");
        return decided;
    }
    // endregion

    // region decide
    /** Called by the "approve" and "reject" buttons, in any process. A second click throws AlreadyResolvedException. */
    public static void decide(Perdure perdure, String request, Decision decision) {
        perdure.run(RunId.of(request), TypeRef.of(Decision.class))
                .promise(DECISION)
                .resolve(decision);
    }
    // endregion

    /** Starts an approval and decides it at once. */
    public static void main(String[] args) {
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Approvals(System.out::println))
                .start()) {
            Run<Decision> run = perdure.start(Approvals::ask, new Request("a new chair", 19_900), id("request-7"));
            decide(perdure, "request-7", new Decision(true, "Ada", "good for the back"));
            System.out.println(run.result());
        }
    }
}
