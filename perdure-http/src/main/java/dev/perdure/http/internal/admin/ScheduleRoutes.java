package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.RunId;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.Services;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Schedules;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** Schedules. */
public final class ScheduleRoutes {
    private static final String NAME = "name";

    private static final Shape<ScheduleInfo.Recent> RECENT = Shape.<ScheduleInfo.Recent>named("ScheduledRun")
            .text("run", "Its id.", ScheduleInfo.Recent::run)
            .time("scheduled_for", "For which time.", ScheduleInfo.Recent::scheduledFor)
            .text("state", "Its state; missing if the run is not there any more.", ScheduleInfo.Recent::state);

    private static final Shape<ScheduleInfo> SCHEDULE = Shape.<ScheduleInfo>named("Schedule")
            .text(NAME, "Its name.", ScheduleInfo::name)
            .text("definition", "The name of what it runs.", ScheduleInfo::definition)
            .text("when", "Its times in words.", ScheduleInfo::when)
            .text("source", "Where it comes from.", ScheduleInfo::source)
            .text(
                    "paused",
                    "Why it is paused, if it is.",
                    schedule -> schedule.status().paused())
            .text(
                    "orphaned",
                    "Why no worker fires it, if none does.",
                    schedule -> schedule.status().orphaned())
            .number(
                    "fired",
                    "How many runs it has started at fire times.",
                    schedule -> schedule.status().fired())
            .number(
                    "waiting",
                    "How many fire times wait until a run has ended.",
                    schedule -> schedule.status().waiting())
            .texts("next", "Its next fire times.", ScheduleInfo::next)
            .list("recent", "The last runs that it started, newest first.", RECENT, ScheduleInfo::recent)
            .number(
                    "failures",
                    "How many runs have failed since one last completed.",
                    schedule -> schedule.health().failures())
            .time(
                    "last_success",
                    "When a run last completed.",
                    schedule -> schedule.health().lastSuccess())
            .time(
                    "last_skipped",
                    "The last fire time without a run.",
                    schedule -> schedule.health().lastSkipped())
            .text(
                    "skip_reason",
                    "Why it has none.",
                    schedule -> schedule.health().skipReason());

    private static final Shape<List<ScheduleInfo>> SCHEDULES = Shape.<List<ScheduleInfo>>named("Schedules")
            .list("schedules", "By name. The next page begins after the last one.", SCHEDULE, schedules -> schedules);

    private static final Shape<RunId> TRIGGERED = Shape.<RunId>named("TriggeredRun")
            .text("run", "The id of the run, which a worker starts a moment later.", run -> run);

    private final Services services;

    /** With these services. */
    public ScheduleRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/schedules", "Lists schedules.")
                        .with(Parameter.query("after", "The name after which to begin."), Paging.LIMIT)
                        .answers(200, "A page.", SCHEDULES)
                        .does(call -> Answers.ok(SCHEDULES.json(services.perdure()
                                .schedules()
                                .list(call.query("after").orElse(""), Paging.limit(call))))),
                Route.get("/schedules/{name}", "Shows a schedule.")
                        .answers(200, "The schedule.", SCHEDULE)
                        .does(call -> Answers.ok(
                                SCHEDULE.json(services.perdure().schedules().get(call.path(NAME))))),
                Route.get(
                                "/schedules/{name}/runs",
                                "Shows the last %s runs that a schedule started, with what came of them."
                                        .formatted(FiredRuns.MOST))
                        .answers(200, "The runs.", FiredRuns.SHAPE)
                        .does(call -> Answers.ok(new FiredRuns(services).of(call.path(NAME)))),
                change(
                        Route.put(
                                        "/schedules/{name}",
                                        "Makes a schedule, or changes it. It has what the body says, and nothing else.")
                                .body(ScheduleBody.PROPERTIES),
                        (schedules, call) -> schedules.put(ScheduleBody.schedule(call.path(NAME), call, services))),
                change(
                        Route.post("/schedules/{name}/pause", "Fires nothing until it is resumed.")
                                .body(required("note", ValueType.TEXT, "Why, for those who look at it.")),
                        (schedules, call) -> schedules.pause(call.path(NAME), call.requiredText("note"))),
                change(
                        Route.post("/schedules/{name}/resume", "Fires again from the next fire time on."),
                        (schedules, call) -> schedules.resume(call.path(NAME))),
                change(
                        Route.post("/schedules/{name}/skip-next", "Does not fire at the next fire time."),
                        (schedules, call) -> schedules.skipNext(call.path(NAME))),
                change(
                        Route.post("/schedules/{name}/reset", "Goes back to what the code declares."),
                        (schedules, call) -> schedules.reset(call.path(NAME))),
                change(
                        Route.post("/schedules/{name}/backfill", "Starts a run for each fire time of a range.")
                                .body(
                                        required("from", ValueType.TIME, "The beginning of the range."),
                                        required("to", ValueType.TIME, "Its end."),
                                        optional("overlap", ValueType.TEXT, "WAIT_ALL by default.")),
                        ScheduleRoutes::backfill),
                Route.post("/schedules/{name}/trigger", "Starts a run now.")
                        .answers(202, "The run.", TRIGGERED)
                        .does(call ->
                                Answers.of(202, TRIGGERED.json(schedules(call).trigger(call.path(NAME))))),
                Route.delete("/schedules/{name}", "Deletes a schedule. Runs that it has started go on.")
                        .answers(202, "The request is durable; a worker carries it out a moment later.")
                        .does(this::delete));
    }

    private Schedules schedules(Call call) {
        return services.perdure().as(call.operator()).schedules();
    }

    private Route change(Route route, BiConsumer<Schedules, Call> change) {
        return route.answers(202, "The request is durable; a worker carries it out a moment later.")
                .does(call -> {
                    change.accept(schedules(call), call);
                    return accepted();
                });
    }

    private static ApiResponse accepted() {
        return new ApiResponse(202, Map.of(), new ApiResponse.Bytes(new byte[0]));
    }

    private ApiResponse delete(Call call) {
        schedules(call).delete(call.path(NAME));
        return accepted();
    }

    private static void backfill(Schedules schedules, Call call) {
        Instant from = call.bodyTime("from").orElseThrow();
        Instant to = call.bodyTime("to").orElseThrow();
        Overlap overlap =
                Call.constant(Overlap.class, "overlap", call.text("overlap").orElse("WAIT_ALL"));
        schedules.backfill(call.path(NAME), from, to, overlap);
    }
}
