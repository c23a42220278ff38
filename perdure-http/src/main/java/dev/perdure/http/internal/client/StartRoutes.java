package dev.perdure.http.internal.client;

import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Inputs;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.ObjectKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** Starts workflows and DAGs, calls virtual objects, and waits for results. */
public final class StartRoutes {
    /** How long an Idempotency-Key names its run. */
    private static final Duration KEY_LIVES = Duration.ofHours(24);

    private static final Body.Any INPUT =
            new Body.Any("The input, as JSON of the type that is registered; none if it takes none.");
    private static final Parameter WAIT =
            Parameter.query("wait", "How long to wait for the result, such as PT10S. Not at all by default.");
    private static final Parameter ID =
            Parameter.query("id", "The id of the run. A second start with it and the same input attaches to the run.");
    private static final Parameter KEY = new Parameter(
            "Idempotency-Key",
            Parameter.Place.HEADER,
            "Makes repeated requests one start for 24 hours. It chooses the id of the run.",
            false);

    private final Services services;
    private final Outcomes outcomes;

    /** With these services. */
    public StartRoutes(Services services) {
        this.services = services;
        this.outcomes = new Outcomes(services);
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                answering(Route.post("/definitions/{definition}/start", "Starts a workflow or a DAG.")
                                .with(ID, KEY, WAIT)
                                .with(
                                        Parameter.query("queue", "The queue."),
                                        Parameter.query("key", "The key in the queue."),
                                        Parameter.query("priority", "The priority; higher runs begin first."),
                                        Parameter.query("version", "The version to pin the run to."),
                                        Parameter.query("timeout", "The timeout of the run, such as PT1H."),
                                        Parameter.query("delay", "The delay before it begins, such as PT5M."),
                                        Parameter.query("memo", "What a person reads about the run."))
                                .body(INPUT))
                        .does(this::start),
                answering(Route.post("/objects/{type}/{key}/{handler}", "Calls a handler of a virtual object.")
                                .with(ID, KEY, WAIT)
                                .body(INPUT))
                        .does(this::call),
                answering(Route.get("/runs/{id}/result", "Waits for the end of a run.")
                                .with(WAIT))
                        .does(call -> outcomes.after(services.found(call), outcomes.wait(call))));
    }

    private static Route answering(Route route) {
        return route.answers(200, "The run has ended: its result or failure.", Outcomes.SHAPE)
                .answers(202, "The run is durable and has not ended.", Outcomes.SHAPE);
    }

    private ApiResponse start(Call call) throws InterruptedException {
        Duration wait = outcomes.wait(call);
        String definition = call.path("definition");
        Object input = Inputs.of(services, definition, call.json());
        if (services.view()
                        .signature(definition)
                        .map(EngineView.Signature::kind)
                        .orElseThrow()
                == EngineView.Kind.HANDLER) {
            throw Problem.invalid(
                    "'%s' is a handler of a virtual object. Call it with POST /objects/{type}/{key}/{handler}."
                            .formatted(definition));
        }
        StartOptions options = options(call);
        options = and(options, call.query("queue"), StartOptions::queue);
        options = and(options, call.query("key"), StartOptions::key);
        options = options.priority(call.number("priority", 0, Integer.MIN_VALUE, Integer.MAX_VALUE));
        options = and(options, call.query("version"), StartOptions::version);
        options = and(options, call.duration("timeout"), StartOptions::timeout);
        options = and(options, call.duration("delay"), StartOptions::delay);
        options = and(options, call.query("memo"), StartOptions::memo);
        return answer(
                services.perdure().start(Invocation.of(definition, input, TypeRef.of(Void.class)), options), wait);
    }

    private ApiResponse call(Call call) throws InterruptedException {
        Duration wait = outcomes.wait(call);
        ObjectKey object = new ObjectKey(call.path("type"), call.path("key"));
        String handler = call.path("handler");
        Object input = Inputs.of(services, object.type() + "/" + handler, call.json());
        return answer(services.view().call(object, handler, input, options(call)), wait);
    }

    private static StartOptions options(Call call) {
        StartOptions defaults = StartOptions.defaults();
        StartOptions named = and(defaults, call.query("id").map(RunId::of), StartOptions::withId);
        return and(
                named,
                call.header("Idempotency-Key").map(key -> StartKey.idempotencyKey(key, KEY_LIVES)),
                StartOptions::startKey);
    }

    private static <T> StartOptions and(
            StartOptions options, Optional<T> value, BiFunction<StartOptions, T, StartOptions> option) {
        return value.map(given -> option.apply(options, given)).orElse(options);
    }

    private ApiResponse answer(Run<?> started, Duration wait) throws InterruptedException {
        Runs.Found run = services.view().store().runs().find(started.id()).orElseThrow();
        return outcomes.after(run, wait);
    }
}
