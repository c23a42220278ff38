package dev.perdure.examples;

import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.http.ApiServer;
import dev.perdure.http.HttpApi;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import dev.perdure.http.security.Webhook;
import dev.perdure.memory.MemoryStore;

/** Serves the HTTP API beside the workers, for operators and for programs in other languages. */
public final class HttpEndpoint {
    private HttpEndpoint() {}

    /** What is ordered. */
    public record Order(String item, int cents) {}

    /** What the customer gets. */
    public record Receipt(String item, int cents) {}

    /** An order, which other programs start over HTTP. */
    static final Definition<Order, Receipt> ORDER = Definition.of(
            "order",
            Order.class,
            Receipt.class,
            (ctx, order) -> ctx.step("charge", () -> new Receipt(order.item(), order.cents())));

    /** The secrets, which come from the environment. */
    public record Secrets(String viewer, String operator, String github) {}

    // region serve
    static ApiServer serve(Perdure perdure, Secrets secrets, int port) {
        HttpApi api = HttpApi.on(perdure)
                .authentication(Tokens.none()
                        .with("grafana", Role.VIEWER, secrets.viewer())
                        .with("anna", Role.OPERATOR, secrets.operator()))
                .webhook("github", Webhook.github(secrets.github()))
                .redaction((what, json) -> what.definition().equals("payment") ? "\"(hidden)\"" : json)
                .build();
        return ApiServer.of(api).port(port).start();
    }
    // endregion

    /** Serves the API until the process is stopped. */
    public static void main(String[] args) throws InterruptedException {
        Secrets secrets = new Secrets(
                System.getenv("VIEWER_TOKEN"), System.getenv("OPERATOR_TOKEN"), System.getenv("GITHUB_SECRET"));
        try (Perdure perdure = Perdure.on(new MemoryStore()).register(ORDER).start();
                ApiServer server = serve(perdure, secrets, 8080)) {
            System.out.println("The API is at " + server.uri());
            Thread.currentThread().join();
        }
    }
}
