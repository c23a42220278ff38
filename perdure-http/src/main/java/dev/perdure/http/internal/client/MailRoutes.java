package dev.perdure.http.internal.client;

import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Webhook;
import dev.perdure.spi.Runs;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Messages, promises, events, and answers to awakeables, also from webhooks. */
public final class MailRoutes {
    private static final Body.Any VALUE = new Body.Any("The value, as JSON; null if there is none.");

    private static final Shape<Integer> REACHED = Shape.<Integer>named("Reached")
            .number("reached", "How many waiting calls the event reached.", count -> count);

    private final Services services;
    private final Map<String, DeclaredWebhook> webhooks;

    /** With these services, and the webhooks by their names. */
    public MailRoutes(Services services, Map<String, DeclaredWebhook> webhooks) {
        this.services = services;
        this.webhooks = Map.copyOf(webhooks);
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.post("/runs/{id}/messages/{topic}", "Sends a message to a run.")
                        .body(VALUE)
                        .answers(204, "The message is durable.")
                        .does(this::send),
                Route.post("/runs/{id}/promises/{name}/resolve", "Resolves a promise of a run.")
                        .body(VALUE)
                        .answers(204, "The answer is durable.")
                        .does(this::resolvePromise),
                Route.post("/events/{topic}", "Emits an event to every run that waits for it now.")
                        .with(Parameter.query("key", "The key of the event."))
                        .body(VALUE)
                        .answers(200, "How many calls it reached.", REACHED)
                        .does(this::emit),
                Route.post("/awakeables/{token}/resolve", "Resolves an awakeable. The token is the permission.")
                        .open(this::checkToken)
                        .body(VALUE)
                        .answers(204, "The answer is durable.")
                        .does(call -> {
                            services.perdure().resolve(call.path("token"), plain(call.json()));
                            return Answers.done();
                        }),
                Route.post("/awakeables/{token}/reject", "Rejects an awakeable. The token is the permission.")
                        .open(this::checkToken)
                        .body(required("reason", ValueType.TEXT, "The reason, which the workflow gets."))
                        .answers(204, "The answer is durable.")
                        .does(call -> {
                            services.perdure().reject(call.path("token"), call.requiredText("reason"));
                            return Answers.done();
                        }),
                Route.post(
                                "/webhooks/{webhook}/{token}",
                                "Resolves an awakeable with the body of a webhook, which its sender has signed.")
                        .open(this::checkWebhook)
                        .body(new Body.Raw(
                                "What the sender sends: JSON, or a text. The signature is over these bytes."))
                        .answers(204, "The answer is durable.")
                        .does(this::webhook));
    }

    private ApiResponse send(Call call) {
        Object value = plain(call.json());
        services.perdure().send(RunId.of(call.path("id")), topic(call.path("topic"), value), value);
        return Answers.done();
    }

    private ApiResponse resolvePromise(Call call) {
        Object value = plain(call.json());
        services.run(call).promise(topic(call.path("name"), value)).resolve(value);
        return Answers.done();
    }

    private ApiResponse emit(Call call) {
        Object value = plain(call.json());
        Topic<@Nullable Object> topic = topic(call.path("topic"), value);
        int reached = call.query("key")
                .map(key -> services.perdure().emit(topic.key(key), value))
                .orElseGet(() -> services.perdure().emit(topic, value));
        return Answers.ok(REACHED.json(reached));
    }

    private static @Nullable Object plain(Optional<JsonNode> json) {
        return json.filter(value -> !value.isNull()).map(Json::plain).orElse(null);
    }

    /** The value is written as its own class. The run reads it as the type that its code asks for. */
    @SuppressWarnings("unchecked") // it is the class of the value, or the class that has only null
    private static Topic<@Nullable Object> topic(String name, @Nullable Object value) {
        if (name.startsWith(Runs.OF_THE_ENGINE)) {
            throw Services.ofTheEngine("The topic '%s'".formatted(name));
        }
        Class<?> type = value == null ? Void.class : value.getClass();
        return (Topic<@Nullable Object>) (Topic<?>) Topic.of(name, type);
    }

    /** A token alone is enough for an awakeable that no webhook answers. */
    private void checkToken(Map<String, String> path) {
        String definition = definition(path);
        webhooks.forEach((name, webhook) -> {
            if (webhook.isFor(definition)) {
                throw new Problem(
                        403,
                        "SignatureNeeded",
                        "This awakeable is answered through the webhook '%s', whose sender signs the body. Send it there, or answer as an operator with POST /runs/{id}/awakeables/{position}/resolve."
                                .formatted(name));
            }
        });
    }

    private void checkWebhook(Map<String, String> path) {
        String name = path.getOrDefault("webhook", "");
        if (!declared(name).isFor(definition(path))) {
            throw new Problem(
                    403,
                    "OtherWebhook",
                    "The webhook '%s' does not answer this awakeable. Name the definition of its run in webhook(…) when you build the API."
                            .formatted(name));
        }
    }

    private String definition(Map<String, String> path) {
        return services.view().awaiting(path.getOrDefault("token", "")).info().definition();
    }

    private DeclaredWebhook declared(String name) {
        DeclaredWebhook webhook = webhooks.get(name);
        if (webhook == null) {
            throw Problem.unknown(
                    "UnknownWebhook",
                    "This API has no webhook '%s'. Name it with webhook(…) when you build the API.".formatted(name));
        }
        return webhook;
    }

    private ApiResponse webhook(Call call) {
        Webhook webhook = declared(call.path("webhook")).check();
        if (!webhook.isSigned(call.request(), call.bytes())) {
            throw Problem.wrongSecret(
                    "WrongSignature",
                    "The body is not signed with the secret of the webhook, or the signature is too old. Compare the secrets.");
        }
        services.perdure().resolve(call.path("token"), plain(Optional.of(received(call.bytes()))));
        return Answers.done();
    }

    private static JsonNode received(byte[] body) {
        try {
            return Json.read(body);
        } catch (JacksonException noJson) {
            return Json.text(new String(body, StandardCharsets.UTF_8));
        }
    }
}
