package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Services;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.reaction.Reactions;
import java.util.List;
import java.util.function.BiConsumer;

/** Reactions. */
public final class ReactionRoutes {
    private static final String NAME = "name";

    private static final Shape<ReactionInfo> REACTION = Shape.<ReactionInfo>named("Reaction")
            .text(NAME, "Its name.", ReactionInfo::name)
            .texts(
                    "occasions",
                    "When it starts a run.",
                    reaction -> reaction.occasions().stream().sorted().toList())
            .text("late_after", "After what time a run is late, if that is an occasion.", ReactionInfo::late)
            .texts(
                    "definitions",
                    "The definitions whose runs it is for; empty for all.",
                    reaction -> reaction.definitions().stream().sorted().toList())
            .text("starts", "The definition that it starts.", ReactionInfo::starts)
            .text("queue", "The queue of the runs that it starts.", ReactionInfo::queue)
            .text("paused", "Why it starts nothing, if it is paused.", ReactionInfo::paused);

    private static final Shape<List<ReactionInfo>> REACTIONS = Shape.<List<ReactionInfo>>named("Reactions")
            .list("reactions", "By name.", REACTION, reactions -> reactions);

    private final Services services;

    /** With these services. */
    public ReactionRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/reactions", "Lists reactions: workflows that start when something happens to a run.")
                        .answers(200, "The reactions.", REACTIONS)
                        .does(call -> Answers.ok(
                                REACTIONS.json(services.perdure().reactions().list()))),
                change(
                        Route.post("/reactions/{name}/pause", "Lets a reaction start nothing until it is resumed.")
                                .body(required("reason", ValueType.TEXT, "Why, for those who look at it.")),
                        (reactions, call) -> reactions.pause(call.path(NAME), call.requiredText("reason"))),
                change(
                        Route.post("/reactions/{name}/resume", "Lets a reaction start runs again."),
                        (reactions, call) -> reactions.resume(call.path(NAME))),
                change(
                        Route.delete("/reactions/{name}", "Removes a reaction. Runs that it has started stay."),
                        (reactions, call) -> reactions.delete(call.path(NAME))));
    }

    private Route change(Route route, BiConsumer<Reactions, Call> change) {
        return route.answers(204, "The command is durable and has taken effect.")
                .does(call -> {
                    change.accept(services.perdure().as(call.operator()).reactions(), call);
                    return Answers.done();
                });
    }
}
