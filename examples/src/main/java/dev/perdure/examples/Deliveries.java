package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Attempt;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Posts an invoice to a partner's server that is not always available, and that must not accept an invoice twice. */
public final class Deliveries {
    /** The invoice to deliver. */
    public record Invoice(String number, String text) {}

    /** The partner's answer. */
    public record Confirmation(String text) {}

    // region policy
    private static final RetryPolicy PATIENT = RetryPolicy.standard()
            .attempts(20)
            .initialDelay(Duration.ofSeconds(1))
            .maxDelay(Duration.ofMinutes(10))
            .totalTime(Duration.ofHours(6));
    // endregion

    private final HttpClient http;
    private final URI partner;

    /** Deliveries to a partner at this address. */
    public Deliveries(HttpClient http, URI partner) {
        this.http = http;
        this.partner = partner;
    }

    // region workflow
    @Workflow("invoice-delivery")
    public Confirmation deliver(WorkflowContext ctx, Invoice invoice) {
        return ctx.step(
                "post", () -> post(invoice, ctx.attempt()), retry(PATIENT).timeout(Duration.ofSeconds(30)));
    }
    // endregion

    // region body
    private Confirmation post(Invoice invoice, Attempt attempt) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(partner)
                .header("Idempotency-Key", attempt.idempotencyKey()) // the same for every attempt of this step
                .POST(BodyPublishers.ofString(invoice.text()))
                .build();
        HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
        int status = response.statusCode();
        if (status >= 500) {
            response.headers()
                    .firstValueAsLong("Retry-After")
                    .ifPresent(seconds -> attempt.retryAfter(Duration.ofSeconds(seconds)));
            throw new IOException("The partner answered " + status + "."); // the policy retries this
        }
        if (status >= 400) {
            throw new TerminalException("The partner refused the invoice: " + status + "."); // no policy retries this
        }
        return new Confirmation(response.body());
    }
    // endregion

    /** Delivers one invoice to a partner whose server fails at first. */
    public static void main(String[] args) throws IOException {
        try (FlakyPartner partner = FlakyPartner.failing(2, Duration.ofSeconds(1));
                HttpClient http = HttpClient.newHttpClient();
                Perdure perdure = Perdure.on(new MemoryStore())
                        .register(new Deliveries(http, partner.address()))
                        .start()) {
            Run<Confirmation> run =
                    perdure.start(Deliveries::deliver, new Invoice("2030-1", "One book"), id("invoice-2030-1"));
            System.out.println(run.result());
            System.out.printf(
                    "%d requests, %d invoice%n",
                    partner.keys().size(), partner.invoices().size());
        }
    }
}
