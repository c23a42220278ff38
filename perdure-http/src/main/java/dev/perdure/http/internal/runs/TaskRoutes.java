package dev.perdure.http.internal.runs;

import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.Runs;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Runs tasks of DAGs again, in the name of the caller. */
public final class TaskRoutes {
    private final Services services;

    /** With these services. */
    public TaskRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                rerun(
                        Route.post(
                                "/runs/{id}/tasks/retry-failed",
                                "Runs the tasks of a DAG's run again that failed or were cancelled, and all tasks that come after them."),
                        call -> Optional.empty()),
                rerun(
                        Route.post(
                                "/runs/{id}/tasks/{task}/rerun",
                                "Runs a task of a DAG's run again, and all tasks that come after it."),
                        call -> Optional.of(call.path("task"))));
    }

    private Route rerun(Route route, Function<Call, Optional<String>> task) {
        return route.answers(200, "The run afterwards. The command is durable.", RunView.SHAPE)
                .does(call -> {
                    Runs.Found run = services.found(call);
                    services.view().rerun(call.operator(), run.ref(), task.apply(call));
                    return Answers.ok(RunView.SHAPE.json(
                            services.shown().run(services.found(call).info())));
                });
    }
}
