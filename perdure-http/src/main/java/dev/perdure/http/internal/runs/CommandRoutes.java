package dev.perdure.http.internal.runs;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.ForkOptions;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Inputs;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Commands one run, in the name of the caller. */
public final class CommandRoutes {
    private static final String REASON = "reason";
    private static final String ALLOW_COMPENSATED = "allow_compensated";

    private final Services services;

    /** With these services. */
    public CommandRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                withReason("cancel", "Cancels a run. Its workflow can compensate.", Run::cancel),
                withReason("kill", "Ends a run and its children without letting them compensate.", Run::kill),
                withReason("pause", "Stops a run where it is until it is resumed.", Run::pause),
                command(Route.post("/runs/{id}/resume", "Lets a paused run continue."), (run, call) -> {
                    requireLive(run);
                    run.resume();
                }),
                command(
                        Route.post(
                                "/runs/{id}/retry",
                                "Lets a run that failed or was cancelled continue from the step that failed."),
                        (run, call) -> run.retry()),
                command(
                        Route.post(
                                "/runs/{id}/rerun",
                                "Lets a run that failed or was cancelled begin anew under its id, also one that has compensated."),
                        (run, call) -> services.perdure().as(call.operator()).rerun(run.id())),
                command(
                        Route.post("/runs/{id}/repair", "Replaces what a step has recorded, while the run is at rest.")
                                .body(
                                        required("position", ValueType.INTEGER, "The position of the step."),
                                        optional("value", ValueType.ANY, "What the step is to have returned."),
                                        optional("failure", ValueType.TEXT, "What the step is to have failed with."),
                                        required("why", ValueType.TEXT, "The reason, for the audit.")),
                        services::ownRun,
                        (run, call) -> run.repair(repair(call))),
                command(
                        Route.post(
                                        "/runs/{id}/awakeables/{position}/resolve",
                                        "Resolves an awakeable of a run without its token.")
                                .body(optional("value", ValueType.ANY, "The value; null by default.")),
                        (run, call) -> run.resolveAwakeable(
                                call.pathNumber("position"),
                                call.property("value").map(Json::plain).orElse(null))),
                command(
                        Route.post(
                                        "/runs/{id}/awakeables/{position}/reject",
                                        "Rejects an awakeable of a run without its token.")
                                .body(required(REASON, ValueType.TEXT, "The reason, which the workflow gets.")),
                        (run, call) -> run.rejectAwakeable(call.pathNumber("position"), call.requiredText(REASON))),
                Route.post("/runs/{id}/fork", "Starts another run with what a run has recorded before a position.")
                        .body(
                                required("position", ValueType.INTEGER, "The position at which the fork continues."),
                                optional("id", ValueType.TEXT, "The id of the fork; a new one by default."),
                                optional("input", ValueType.ANY, "Another input."))
                        .with(Parameter.query(
                                ALLOW_COMPENSATED,
                                "Whether the fork may take over steps that the saga of the run has undone."))
                        .answers(201, "The fork.", RunView.SHAPE)
                        .does(this::fork),
                Route.delete("/runs/{id}", "Deletes a run that has ended, with its children and tasks.")
                        .answers(204, "It is deleted.")
                        .does(this::delete));
    }

    private Route withReason(String name, String about, BiConsumer<Run<Void>, String> command) {
        return command(
                Route.post("/runs/{id}/" + name, about)
                        .body(optional(REASON, ValueType.TEXT, "The reason; who asked for it by default.")),
                (run, call) -> {
                    requireLive(run);
                    command.accept(
                            run,
                            call.text(REASON)
                                    .orElseGet(() -> "%s by %s through the HTTP API"
                                            .formatted(name, call.caller().name())));
                });
    }

    /** A command to a run that has ended has no effect; the caller should know. */
    private static void requireLive(Run<Void> run) {
        RunState state = run.state();
        if (state.isTerminal()) {
            throw new RunEndedException(
                    "Run '%s' has ended (%s); nothing was done. Retry or fork it to let it continue."
                            .formatted(run.id(), state));
        }
    }

    private Route command(Route route, BiConsumer<Run<Void>, Call> command) {
        return command(route, services::run, command);
    }

    private Route command(Route route, Function<Call, Run<Void>> found, BiConsumer<Run<Void>, Call> command) {
        return route.answers(200, "The run afterwards. The command is durable.", RunView.SHAPE)
                .does(call -> {
                    Run<Void> run = found.apply(call);
                    command.accept(run, call);
                    return Answers.ok(RunView.SHAPE.json(services.shown().run(run.info())));
                });
    }

    private static Repair repair(Call call) {
        Optional<JsonNode> value = call.property("value");
        Optional<String> failure = call.text("failure");
        if (value.isPresent() == failure.isPresent()) {
            throw Problem.invalid("Give the outcome of the step: either 'value' or 'failure'.");
        }
        int position = call.requiredNumber("position");
        String why = call.requiredText("why");
        return failure.map(message -> Repair.failure(position, message, why))
                .orElseGet(() -> Repair.result(position, value.map(Json::plain).orElse(null), why));
    }

    private ApiResponse fork(Call call) {
        ForkOptions from = ForkOptions.from(call.requiredNumber("position"));
        ForkOptions allowed = call.flag(ALLOW_COMPENSATED) ? from.allowCompensated() : from;
        ForkOptions named = call.text("id").map(allowed::id).orElse(allowed);
        Run<Void> run = services.ownRun(call);
        ForkOptions options = call.property("input")
                .map(input -> named.input(typed(run, input)))
                .orElse(named);
        return Answers.of(
                201, RunView.SHAPE.json(services.shown().run(run.fork(options).info())));
    }

    /** The input as the type that the definition takes. */
    private @Nullable Object typed(Run<Void> run, JsonNode input) {
        return Inputs.of(services, run.info().definition(), Optional.of(input));
    }

    private ApiResponse delete(Call call) {
        Runs.Found found = services.found(call);
        Audit audit = new Audit(
                UUID.randomUUID(),
                call.operator(),
                AuditEntry.Action.DELETE,
                AuditEntry.Subject.RUN,
                found.ref().id().value(),
                0,
                "");
        Outcome outcome = services.view()
                .store()
                .removals()
                .delete(
                        found.ref().id(),
                        new Change.Seen(found.info().createdAt(), found.info().changedAt()),
                        audit);
        if (outcome instanceof Outcome.Refused refused) {
            throw new Problem(409, "DeleteRefused", refused.reason());
        }
        if (outcome instanceof Outcome.UnknownRun) {
            throw new UnknownRunException("The run '%s' has changed in the meantime. Look at it again."
                    .formatted(found.ref().id()));
        }
        return Answers.done();
    }
}
