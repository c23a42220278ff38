package dev.perdure.http.internal.show;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.error.UnknownRunException;
import dev.perdure.http.internal.guard.Turns;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Runs;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * What routes need.
 *
 * @param perdure the engine
 * @param view what an adapter sees of it
 * @param shown shows payloads
 * @param turns bounds how many requests ask and wait
 * @param longestWait how long a request waits for a run at most
 * @param closing whether the API is being closed
 */
public record Services(
        Perdure perdure, EngineView view, Shown shown, Turns turns, Duration longestWait, BooleanSupplier closing) {
    /** The run that the path names, in the name of the caller. */
    public Run<Void> run(Call call) {
        return perdure.as(call.operator()).run(id(call), TypeRef.of(Void.class));
    }

    /** The run that the path names, as the store has it. */
    public Runs.Found found(Call call) {
        return view.store()
                .runs()
                .find(id(call))
                .orElseThrow(() -> new UnknownRunException(
                        "There is no run '%s'. Check the id, or list the runs.".formatted(id(call))));
    }

    /**
     * The run that the path names, unless it is one of the engine itself, such as a schedule: what such a run records is
     * not for callers to change.
     */
    public Run<Void> ownRun(Call call) {
        Run<Void> run = run(call);
        if (run.info().definition().startsWith(Runs.OF_THE_ENGINE)) {
            throw ofTheEngine("Run '%s'".formatted(run.id()));
        }
        return run;
    }

    /** A refusal to change what belongs to the engine. */
    public static Problem ofTheEngine(String what) {
        return new Problem(
                403,
                "OfTheEngine",
                "%s belongs to the engine itself. Use the routes of schedules and bulk actions.".formatted(what));
    }

    private static RunId id(Call call) {
        return RunId.of(call.path("id"));
    }
}
