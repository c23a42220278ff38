package dev.perdure.http.internal.admin;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Runs.WaitingCall;
import dev.perdure.spi.States;
import dev.perdure.spi.change.ObjectKey;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Virtual objects: which there are, their state, and the calls that wait for them. */
public final class ObjectRoutes {
    /** A page of types. */
    private record Types(List<String> types, Optional<String> next) {}

    private static final Shape<Types> TYPES = Shape.<Types>named("ObjectTypes")
            .texts("types", "By name.", Types::types)
            .text("next", Paging.NEXT, Types::next);

    private static final Shape<States.Listed> LISTED = Shape.<States.Listed>named("ListedObject")
            .text("key", "Its key.", States.Listed::key)
            .text("holder", "The id of the run that holds it.", States.Listed::holder)
            .number(
                    "waiting",
                    "How many calls wait for it, %s at most.".formatted(States.MOST_COUNTED),
                    States.Listed::waiting)
            .flag("more", "Whether there may be more.", listed -> listed.waiting() == States.MOST_COUNTED);

    /** A page of keys. */
    private record Keys(List<States.Listed> keys, Optional<String> next) {}

    private static final Shape<Keys> KEYS = Shape.<Keys>named("ObjectKeys")
            .list("keys", "By key.", LISTED, Keys::keys)
            .text("next", Paging.NEXT, Keys::next);

    /** An object with some of its state. */
    private record View(ObjectKey object, JsonNode state, Optional<String> next) {}

    private static final Shape<View> OBJECT = Shape.<View>named("Object")
            .text("type", "The type of the object.", view -> view.object().type())
            .text("key", "Its key.", view -> view.object().key())
            .any("state", "Its values by name; empty if it has none.", view -> Optional.of(view.state()))
            .text("next", Paging.NEXT, View::next);

    /** The calls of an object. */
    private record Calls(Optional<RunView> holder, List<RunView> waiting, Optional<Long> next) {}

    private static final Shape<Calls> CALLS = Shape.<Calls>named("ObjectCalls")
            .object("holder", "The run that holds the object.", RunView.SHAPE, Calls::holder)
            .list("waiting", "The runs that wait for it, in the order of their turns.", RunView.SHAPE, Calls::waiting)
            .text("next", Paging.NEXT, Calls::next);

    private final Services services;

    /** With these services. */
    public ObjectRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/objects", "Lists the types of virtual objects that were called.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", TYPES)
                        .does(this::types),
                Route.get("/objects/{type}", "Lists the virtual objects of a type that were called exclusively.")
                        .with(Parameter.query("prefix", "What their keys begin with."))
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", KEYS)
                        .does(this::keys),
                Route.get("/objects/{type}/{key}", "Shows the state of a virtual object.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "The object.", OBJECT)
                        .does(this::show),
                Route.get(
                                "/objects/{type}/{key}/calls",
                                "Shows which run holds a virtual object, and which wait for it.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", CALLS)
                        .does(this::calls));
    }

    private States states() {
        return services.view().store().states();
    }

    private static String after(Call call) {
        return call.query("after").orElse("");
    }

    private static ObjectKey object(Call call) {
        return new ObjectKey(call.path("type"), call.path("key"));
    }

    private static <T, N> Optional<N> next(List<T> page, int limit, Function<T, N> place) {
        return page.size() < limit ? Optional.empty() : Optional.of(place.apply(page.getLast()));
    }

    private ApiResponse types(Call call) {
        List<String> types = states().types(after(call), Paging.limit(call));
        return Answers.ok(TYPES.json(new Types(types, next(types, Paging.limit(call), type -> type))));
    }

    private ApiResponse keys(Call call) {
        List<States.Listed> keys = states().list(new States.Page(
                call.path("type"), call.query("prefix").orElse(""), after(call), Paging.limit(call)));
        return Answers.ok(KEYS.json(new Keys(keys, next(keys, Paging.limit(call), States.Listed::key))));
    }

    private ApiResponse show(Call call) {
        ObjectKey object = object(call);
        ObjectNode state = Json.object();
        States.Values page = states().read(object, after(call), Paging.limit(call), Paging.BYTES);
        page.values()
                .forEach((name, payload) -> services.shown()
                        .payload(new Subject(Kind.STATE, object.type(), name), payload)
                        .ifPresent(value -> state.set(name, value)));
        Optional<String> next = page.last()
                ? Optional.empty()
                : Optional.of(page.values().lastEntry().getKey());
        return Answers.ok(OBJECT.json(new View(object, state, next)));
    }

    private ApiResponse calls(Call call) {
        Runs runs = services.view().store().runs();
        long after = call.offset("after").orElse(0L);
        List<WaitingCall> waiting = runs.waitingCalls(object(call), after, Paging.limit(call));
        return Answers.ok(CALLS.json(new Calls(
                runs.holder(object(call)).map(services.shown()::run),
                waiting.stream()
                        .map(WaitingCall::run)
                        .map(services.shown()::run)
                        .toList(),
                next(waiting, Paging.limit(call), WaitingCall::number))));
    }
}
