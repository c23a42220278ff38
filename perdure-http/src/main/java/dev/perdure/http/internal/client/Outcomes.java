package dev.perdure.http.internal.client;

import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.error.RecordedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.EngineView.Signature;
import dev.perdure.spi.Runs;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Waits for the end of a run, for a bounded time, and shows it. */
final class Outcomes {
    /** A wait is cut into such parts, so that it ends soon after the API is closed. */
    private static final Duration PART = Duration.ofSeconds(1);

    /** How a run ended, or that it has not. */
    private record View(
            Runs.Found run,
            RunState state,
            Optional<String> reason,
            Optional<JsonNode> result,
            Optional<JsonNode> failure) {}

    private static final Shape<View> OUTCOME = Shape.<View>named("Outcome")
            .text("id", "The id of the run.", view -> view.run().ref().id())
            .text("state", "Its state.", View::state)
            .text("reason", "Why it is in its state, or what it waits for.", View::reason)
            .any("result", "Its result, if it has completed.", View::result)
            .any("failure", "What it failed with: type, message and stack.", View::failure);

    /** What an outcome looks like. */
    static final Shape<?> SHAPE = OUTCOME;

    private final Services services;

    Outcomes(Services services) {
        this.services = services;
    }

    /** How long the caller wants to wait. */
    Duration wait(Call call) {
        Duration wait = call.duration("wait").orElse(Duration.ZERO);
        if (wait.isNegative() || wait.compareTo(services.longestWait()) > 0) {
            throw Problem.invalid("The parameter 'wait' is %s; it is at most %s. Ask again after that."
                    .formatted(wait, services.longestWait()));
        }
        return wait;
    }

    /** 200 if the run ends within this time, 202 if not. */
    ApiResponse after(Runs.Found run, Duration wait) throws InterruptedException {
        Optional<Runs.Ended> ended = ended(run, wait);
        return ended.map(end -> Answers.ok(OUTCOME.json(view(run, end))))
                .orElseGet(() -> Answers.of(202, OUTCOME.json(unfinished(run))));
    }

    private Optional<Runs.Ended> ended(Runs.Found run, Duration wait) throws InterruptedException {
        Optional<Runs.Ended> now = services.view().store().runs().ended(List.of(run.ref())).stream()
                .findFirst();
        if (now.isPresent() || wait.isZero()) {
            return now;
        }
        return services.turns().waiting(() -> {
            long ends = System.nanoTime() + wait.toNanos();
            Optional<Runs.Ended> end = Optional.empty();
            long left = wait.toNanos();
            while (end.isEmpty() && left > 0 && !services.closing().getAsBoolean()) {
                end = services.view().awaitEnd(run.ref(), Duration.ofNanos(Math.min(left, PART.toNanos())));
                left = ends - System.nanoTime();
            }
            return end;
        });
    }

    private View unfinished(Runs.Found run) {
        Runs.Found now = services.view().store().runs().find(run.ref().id()).orElse(run);
        return new View(
                now, now.info().state(), services.shown().run(now.info()).reason(), Optional.empty(), Optional.empty());
    }

    private View view(Runs.Found run, Runs.Ended end) {
        if (end.removed()) {
            throw new UnknownRunException("Run '%s' no longer exists: it has ended, and its retention is over."
                    .formatted(run.ref().id()));
        }
        String definition = run.info().definition();
        if (end.state() == RunState.COMPLETED) {
            return new View(
                    run,
                    end.state(),
                    Optional.empty(),
                    services.shown()
                            .typed(
                                    new Subject(Kind.RESULT, definition, ""),
                                    end.outcome(),
                                    PayloadPlace.result(run.ref().id()),
                                    services.view().signature(definition).map(Signature::resultType)),
                    Optional.empty());
        }
        Optional<String> reason = end.reason().isEmpty()
                ? Optional.empty()
                : Optional.of(services.shown().text(new Subject(Kind.FAILURE, definition, ""), end.reason()));
        return new View(run, end.state(), reason, Optional.empty(), failure(run, definition));
    }

    private Optional<JsonNode> failure(Runs.Found run, String definition) {
        try {
            services.perdure().run(run.ref().id(), TypeRef.of(Void.class)).resultNow();
            return Optional.empty();
        } catch (RunFailedException failed) {
            return failed.getCause() instanceof RecordedException recorded
                    ? Optional.of(services.shown().failure(definition, recorded))
                    : Optional.empty();
        }
    }
}
