package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.Services;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.QueueInfo;
import dev.perdure.queue.QueueInfo.Load;
import dev.perdure.queue.Queues;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import tools.jackson.databind.JsonNode;

/** Queues and limiters. */
public final class QueueRoutes {
    private static final String NAME = "name";
    private static final String QUEUE_NAME = "queue";
    private static final String SETTINGS = "settings";
    private static final String REASON = "reason";

    private static final Shape<Load> LOAD = Shape.<Load>named("Load")
            .number("waiting", "How many runs are ready and wait for a worker or for a place.", Load::waiting)
            .time("oldest", "When the oldest of them became ready.", Load::oldest)
            .number("begun", "How many have begun and have not ended.", Load::begun)
            .number("at_work", "How many of these a worker holds.", Load::atWork)
            .number("last_minute", "How many workers took in the last full minute.", Load::lastMinute);

    private static final Shape<QueueInfo> QUEUE = Shape.<QueueInfo>named("Queue")
            .text(NAME, "Its name.", QueueInfo::name)
            .text("paused", "Why it is paused, if it is.", QueueInfo::paused)
            .flag(
                    "known",
                    "Whether it can be changed: the code has declared it, or workers have taken runs with keys from it. Others are shown while runs wait in them or are at work.",
                    QueueInfo::known)
            .map(
                    "declared",
                    "What the code declares.",
                    queue -> queue.declared().settings())
            .map(
                    "changed",
                    "What operators have changed.",
                    queue -> queue.changed().settings())
            .object("load", "What waits and runs.", LOAD, queue -> Optional.of(queue.load()));

    private static final Shape<List<QueueInfo>> QUEUES =
            Shape.<List<QueueInfo>>named("Queues").list("queues", "By name.", QUEUE, queues -> queues);

    private static final Shape<QueueInfo.Key> KEY = Shape.<QueueInfo.Key>named("QueueKey")
            .text("key", "The key; empty for the runs without one.", QueueInfo.Key::key)
            .object("load", "What waits and runs under it.", LOAD, key -> Optional.of(key.load()));

    private static final Shape<List<QueueInfo.Key>> KEYS = Shape.<List<QueueInfo.Key>>named("QueueKeys")
            .list("keys", "Those with the most waiting runs first.", KEY, keys -> keys);

    private static final Shape<LimiterInfo> LIMITER = Shape.<LimiterInfo>named("Limiter")
            .text(NAME, "Its name.", LimiterInfo::name)
            .text("paused", "Why it is paused, if it is.", LimiterInfo::paused)
            .map(
                    "declared",
                    "What the code declares.",
                    limiter -> limiter.declared().settings())
            .map(
                    "changed",
                    "What operators have changed.",
                    limiter -> limiter.changed().settings())
            .number("waiting", "How many steps wait for a permit.", LimiterInfo::waiting)
            .time("oldest", "Since when the first of them waits.", LimiterInfo::oldest)
            .number("held", "How many steps hold a permit.", LimiterInfo::held);

    private static final Shape<List<LimiterInfo>> LIMITERS =
            Shape.<List<LimiterInfo>>named("Limiters").list("limiters", "By name.", LIMITER, limiters -> limiters);

    private static final Shape<QueueWindow.Point> POINT = Shape.<QueueWindow.Point>named("QueuePoint")
            .time("at", "When.", QueueWindow.Point::at)
            .number("waiting", "How many runs waited.", QueueWindow.Point::waiting)
            .number("begun", "How many had begun and had not ended.", QueueWindow.Point::begun);

    private static final Shape<QueueWindow.Line> LINE = Shape.<QueueWindow.Line>named("QueueLine")
            .text("queue", "The name of the queue.", QueueWindow.Line::queue)
            .list("points", "Oldest first.", POINT, QueueWindow.Line::points);

    private static final Shape<List<QueueWindow.Line>> LINES =
            Shape.<List<QueueWindow.Line>>named("QueueLines").list("queues", "By name.", LINE, lines -> lines);

    private final Services services;
    private final QueueWindow window = new QueueWindow(Instant::now);

    /** With these services. */
    public QueueRoutes(Services services) {
        this.services = services;
    }

    private ApiResponse lines(Call call) {
        if (window.isOld()) {
            window.saw(services.perdure().queues().list());
        }
        return Answers.ok(LINES.json(call.query(QUEUE_NAME).map(window::line).orElseGet(window::lines)));
    }

    private ApiResponse list() {
        List<QueueInfo> queues = services.perdure().queues().list();
        window.saw(queues);
        return Answers.ok(QUEUES.json(queues));
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/queues", "Lists the queues.")
                        .answers(200, "The queues.", QUEUES)
                        .does(call -> list()),
                Route.get(
                                "/statistics/queues",
                                "Shows queues over the last hour, as far as somebody has asked this process about queues.")
                        .with(Parameter.query(
                                QUEUE_NAME,
                                "Only this queue, with all its points. All queues together have 4,800 points at most."))
                        .answers(200, "The queues.", LINES)
                        .does(this::lines),
                Route.get("/queues/{name}", "Shows a queue.")
                        .answers(200, "The queue.", QUEUE)
                        .does(call -> Answers.ok(
                                QUEUE.json(services.perdure().queues().get(call.path(NAME))))),
                Route.get("/queues/{name}/keys", "Lists the keys that have runs in a queue.")
                        .with(Paging.LIMIT)
                        .answers(200, "The keys.", KEYS)
                        .does(call -> Answers.ok(
                                KEYS.json(services.perdure().queues().keys(call.path(NAME), Paging.limit(call))))),
                queue(
                        Route.post("/queues/{name}/pause", "Lets workers take no run from a queue.")
                                .body(required(REASON, ValueType.TEXT, "The reason.")),
                        (queues, call) -> queues.pause(call.path(NAME), call.requiredText(REASON))),
                queue(
                        Route.post("/queues/{name}/resume", "Lets workers take runs from a queue again."),
                        (queues, call) -> queues.resume(call.path(NAME))),
                queue(
                        Route.post("/queues/{name}/limits", "Changes limits of a queue; the others stay as they are.")
                                .body(
                                        required(
                                                SETTINGS,
                                                ValueType.MAP,
                                                "The limits as GET shows them, such as concurrency: 5 or rate: 100/PT1S; 'none' lifts one.")),
                        (queues, call) -> queues.limit(SettingsBody.queue(call.path(NAME), settings(call)))),
                queue(
                        Route.post("/queues/{name}/reset", "Goes back to the limits that the code declares."),
                        (queues, call) -> queues.reset(call.path(NAME))),
                Route.get("/limiters", "Lists the limiters of steps.")
                        .answers(200, "The limiters.", LIMITERS)
                        .does(call -> Answers.ok(
                                LIMITERS.json(services.perdure().limiters().list()))),
                Route.get("/limiters/{name}", "Shows a limiter.")
                        .answers(200, "The limiter.", LIMITER)
                        .does(call -> Answers.ok(
                                LIMITER.json(services.perdure().limiters().get(call.path(NAME))))),
                limiter(
                        Route.post("/limiters/{name}/pause", "Gives no step a permit.")
                                .body(required(REASON, ValueType.TEXT, "The reason.")),
                        (limiters, call) -> limiters.pause(call.path(NAME), call.requiredText(REASON))),
                limiter(
                        Route.post("/limiters/{name}/resume", "Gives steps permits again."),
                        (limiters, call) -> limiters.resume(call.path(NAME))),
                limiter(
                        Route.post(
                                        "/limiters/{name}/limits",
                                        "Changes limits of a limiter; the others stay as they are.")
                                .body(required(
                                        SETTINGS, ValueType.MAP, "The limits as GET shows them; 'none' lifts one.")),
                        (limiters, call) -> limiters.limit(SettingsBody.limiter(call.path(NAME), settings(call)))),
                limiter(
                        Route.post("/limiters/{name}/reset", "Goes back to the limits that the code declares."),
                        (limiters, call) -> limiters.reset(call.path(NAME))));
    }

    private static JsonNode settings(Call call) {
        return call.property(SETTINGS).orElseThrow();
    }

    private Route queue(Route route, BiConsumer<Queues, Call> change) {
        return route.answers(200, "The queue afterwards.", QUEUE).does(call -> {
            Queues queues = services.perdure().as(call.operator()).queues();
            change.accept(queues, call);
            return Answers.ok(QUEUE.json(queues.get(call.path(NAME))));
        });
    }

    private Route limiter(Route route, BiConsumer<Limiters, Call> change) {
        return route.answers(200, "The limiter afterwards.", LIMITER).does(call -> {
            Limiters limiters = services.perdure().as(call.operator()).limiters();
            change.accept(limiters, call);
            return Answers.ok(LIMITER.json(limiters.get(call.path(NAME))));
        });
    }
}
