package dev.perdure.http.internal.runs;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.internal.show.Shown;
import dev.perdure.http.security.Role;
import java.util.List;
import java.util.Optional;

/** Commands all runs that a filter selects. */
public final class BulkRoutes {
    /** A bulk action with its report. */
    private record Progress(RunView run, Optional<BulkReport> report) {}

    private static final Shape<BulkReport.Refusal> REFUSAL = Shape.<BulkReport.Refusal>named("Refusal")
            .text("run", "The run.", BulkReport.Refusal::run)
            .text("reason", "Why it was not changed, and what to do.", BulkReport.Refusal::reason);

    private static final Shape<BulkReport> REPORT = Shape.<BulkReport>named("BulkReport")
            .number("changed", "On how many runs it took effect.", BulkReport::changed)
            .number("skipped", "For how many there was nothing left to do.", BulkReport::skipped)
            .number("refused", "How many the store refused to change.", BulkReport::refused)
            .list("refusals", "The first of these.", REFUSAL, BulkReport::refusals);

    private static final Shape<Progress> PROGRESS = Shape.<Progress>named("BulkAction")
            .object(
                    "run",
                    "The run of the bulk action. Its status tells how far it is.",
                    RunView.SHAPE,
                    progress -> Optional.of(progress.run()))
            .object("report", "What it has done, when it has completed.", REPORT, Progress::report);

    private final Services services;

    /** With these services. */
    public BulkRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.post(
                                "/bulk",
                                "Applies an action to all runs that the query selects. DELETE needs the role ADMIN.")
                        .with(Filters.SELECTING)
                        .with(Filters.ALL)
                        .body(
                                required(
                                        "action",
                                        ValueType.TEXT,
                                        "CANCEL, KILL, PAUSE, RESUME, RETRY, RERUN, FORK, DELETE, MOVE_TO_QUEUE or MOVE_TO_VERSION."),
                                optional(
                                        "text",
                                        ValueType.TEXT,
                                        "The reason, the queue or version to move to, or the position from which to fork."))
                        .answers(202, "The bulk action is durable.", PROGRESS)
                        .does(this::start),
                Route.get("/bulk/preview", "Counts the runs that a bulk action would be applied to now, by state.")
                        .with(Filters.SELECTING)
                        .with(Parameter.query("action", "The action."), Parameter.query("text", "Its text."))
                        .answers(200, "The counts.", FindRoutes.COUNTS)
                        .does(call -> Answers.ok(FindRoutes.COUNTS.json(FindRoutes.InState.of(services.perdure()
                                .runs(Filters.selected(call))
                                .dryRun(action(
                                        call.query("action").orElseThrow(BulkRoutes::noAction),
                                        call.query("text").orElse(""))))))),
                Route.get("/bulk/{id}", "Shows how far a bulk action is.")
                        .answers(200, "The bulk action.", PROGRESS)
                        .does(call -> Answers.ok(PROGRESS.json(progress(RunId.of(call.path("id")))))));
    }

    private static Problem noAction() {
        return Problem.invalid("The query has no parameter 'action'. Say which bulk action, such as action=RETRY.");
    }

    private static BulkAction action(String kind, String text) {
        return new BulkAction(Call.constant(BulkAction.Kind.class, "bulk action", kind), text);
    }

    private ApiResponse start(Call call) {
        BulkAction action =
                action(call.requiredText("action"), call.text("text").orElse(""));
        if (action.kind() == BulkAction.Kind.DELETE && !call.caller().role().includes(Role.ADMIN)) {
            throw new Problem(
                    403,
                    "RoleMissing",
                    "'%s' has the role %s, and deleting runs needs ADMIN. Use a token of that role."
                            .formatted(call.caller().name(), call.caller().role()));
        }
        Run<BulkReport> run = services.perdure()
                .as(call.operator())
                .runs(Filters.selectedOnPurpose(call))
                .start(action);
        return Answers.of(202, PROGRESS.json(progress(run.id())));
    }

    private Progress progress(RunId id) {
        Run<BulkReport> run = services.perdure().run(id, TypeRef.of(BulkReport.class));
        RunView view = services.shown().run(run.info());
        if (!view.info().definition().equals(Shown.BULK)) {
            throw Problem.unknown("UnknownBulkAction", "Run '%s' is no bulk action. Show it as a run.".formatted(id));
        }
        return new Progress(
                view,
                view.info().state() == RunState.COMPLETED ? run.resultNow().map(this::redacted) : Optional.empty());
    }

    private BulkReport redacted(BulkReport report) {
        return new BulkReport(
                report.changed(),
                report.skipped(),
                report.refused(),
                report.refusals().stream()
                        .map(refusal -> new BulkReport.Refusal(
                                refusal.run(), services.shown().problem(refusal.reason())))
                        .toList());
    }
}
