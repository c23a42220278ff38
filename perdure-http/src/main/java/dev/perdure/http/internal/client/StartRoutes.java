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
import dev.perdure.http.internal.show.RunOptions;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.ObjectKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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

    private static final List<Parameter> KEYS = List.of(
            Parameter.query("deduplication_key", "A key that one run has at a time."),
            Parameter.query(
                    "until", "Until when the run has the deduplication key: BEGUN or ENDED, which is the default."),
            Parameter.query(
                    "duplicate",
                    "What a second start under the deduplication key does: ATTACH, the default, REFUSE or REPLACE."),
            Parameter.query("debounce_key", "A key under which starts that follow each other become one run."),
            Parameter.query("quiet", "How long that run waits for another start, such as PT30S."),
            Parameter.query(
                    "longest_wait", "How long it waits after the first start at most. As long as 'quiet' by default."));

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
                                .with(KEYS)
                                .with(RunOptions.PARAMETERS)
                                .with(
                                        Parameter.query("delay", "The delay before it begins, such as PT5M."),
                                        Parameter.query(
                                                "any_input",
                                                "Whether to attach to a run with this id or key also if its input is another."))
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
        StartOptions options = RunOptions.and(key(options(call), call), call.duration("delay"), StartOptions::delay);
        options = RunOptions.ofQuery(call.flag("any_input") ? options.attachToAnyInput() : options, call);
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
        StartOptions named =
                RunOptions.and(StartOptions.defaults(), call.query("id").map(RunId::of), StartOptions::withId);
        return RunOptions.and(
                named,
                call.header("Idempotency-Key").map(key -> StartKey.idempotencyKey(key, KEY_LIVES)),
                StartOptions::startKey);
    }

    private static StartOptions key(StartOptions options, Call call) {
        List<StartKey> keys = Stream.of(deduplication(call), debounce(call))
                .flatMap(Optional::stream)
                .toList();
        if (keys.size() + call.header("Idempotency-Key").stream().count() > 1) {
            throw Problem.invalid(
                    "A start has one key at most: an Idempotency-Key, a 'deduplication_key' or a 'debounce_key'. Give one of them.");
        }
        return RunOptions.and(options, keys.stream().findFirst(), StartOptions::startKey);
    }

    private static Optional<StartKey> deduplication(Call call) {
        return key(call, "deduplication_key", "until", "duplicate").map(key -> {
            StartKey.Until until = call.query("until")
                    .map(text -> Call.constant(StartKey.Until.class, "until", text))
                    .orElse(StartKey.Until.ENDED);
            StartKey.Duplicate duplicate = call.query("duplicate")
                    .map(text -> Call.constant(StartKey.Duplicate.class, "duplicate", text))
                    .orElse(StartKey.Duplicate.ATTACH);
            return new StartKey.Deduplication(key, until, duplicate);
        });
    }

    private static Optional<StartKey> debounce(Call call) {
        return key(call, "debounce_key", "quiet", "longest_wait").map(key -> {
            Duration quiet = call.duration("quiet")
                    .orElseThrow(
                            () -> Problem.invalid(
                                    "The start has a 'debounce_key' and no 'quiet'. Say how long the run waits for another start."));
            return StartKey.debounce(key, quiet, call.duration("longest_wait").orElse(quiet));
        });
    }

    /** A key, without which the parameters that belong to it mean nothing. */
    private static Optional<String> key(Call call, String name, String... belonging) {
        Optional<String> key = call.query(name);
        for (String parameter : belonging) {
            if (key.isEmpty() && call.query(parameter).isPresent()) {
                throw Problem.invalid("The parameter '%s' belongs to '%s', which is missing. Give both, or neither."
                        .formatted(parameter, name));
            }
        }
        return key;
    }

    private ApiResponse answer(Run<?> started, Duration wait) throws InterruptedException {
        Runs.Found run = services.view().store().runs().find(started.id()).orElseThrow();
        return outcomes.after(run, wait);
    }
}
