package dev.perdure.http.internal.admin;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.change.ObjectKey;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The state of virtual objects. */
public final class ObjectRoutes {
    /** An object with its state. */
    private record View(ObjectKey object, JsonNode state) {}

    private static final Shape<View> OBJECT = Shape.<View>named("Object")
            .text("type", "The type of the object.", view -> view.object().type())
            .text("key", "Its key.", view -> view.object().key())
            .any("state", "Its values by name; empty if it has none.", view -> Optional.of(view.state()));

    private final Services services;

    /** With these services. */
    public ObjectRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(Route.get("/objects/{type}/{key}", "Shows the state of a virtual object.")
                .answers(200, "The object.", OBJECT)
                .does(this::show));
    }

    private ApiResponse show(Call call) {
        ObjectKey object = new ObjectKey(call.path("type"), call.path("key"));
        ObjectNode state = Json.object();
        services.view()
                .store()
                .states()
                .readAll(object)
                .forEach((name, payload) -> services.shown()
                        .payload(new Subject(Kind.STATE, object.type(), name), payload)
                        .ifPresent(value -> state.set(name, value)));
        return Answers.ok(OBJECT.json(new View(object, state)));
    }
}
