package dev.perdure.http.internal.admin;

import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.EngineView.Signature;
import dev.perdure.spi.Runs.Ended;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.statistics.Statistics.Seen;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The last runs of a schedule with what came of them. However many they are, two statements read them.
 *
 * @param services where they are
 */
record FiredRuns(Services services) {
    /** As many as a schedule remembers. */
    static final int MOST = 10;

    /** A list shows only small results, in bytes: a larger one is on the page of its run. */
    private static final int LARGEST = 2_000;

    private static final Duration EVER = Duration.ofDays(36_500);

    /** A run, and what came of it if it has ended. */
    private record Fired(Seen run, Optional<JsonNode> result, Optional<String> reason) {
        Optional<Instant> endedAt() {
            return run.state().isTerminal() ? Optional.of(run.changedAt()) : Optional.empty();
        }
    }

    private static final Shape<Fired> FIRED = Shape.<Fired>named("FiredRun")
            .text("run", "Its id.", fired -> fired.run().run().id())
            .text("state", "Its state.", fired -> fired.run().state())
            .time("created_at", "When it was started.", fired -> fired.run().createdAt())
            .time("ended_at", "When it ended.", Fired::endedAt)
            .any("result", "Its result, if it has completed and the result is small.", Fired::result)
            .text("reason", "Why it failed or was cancelled.", Fired::reason);

    static final Shape<List<Fired>> SHAPE =
            Shape.<List<Fired>>named("FiredRuns").list("runs", "Newest first.", FIRED, runs -> runs);

    /** Those of a schedule. */
    JsonNode of(String schedule) {
        List<Seen> runs =
                services.view().store().statistics().newest(RunFilter.all().schedule(schedule), EVER, MOST);
        Map<Long, Ended> ended = services
                .view()
                .store()
                .runs()
                .ended(runs.stream()
                        .filter(run -> run.state().isTerminal())
                        .map(Seen::run)
                        .toList())
                .stream()
                .collect(Collectors.toMap(each -> each.run().key(), each -> each));
        return SHAPE.json(
                runs.stream().map(run -> fired(run, ended.get(run.run().key()))).toList());
    }

    private Fired fired(Seen run, @Nullable Ended ended) {
        if (ended == null) {
            return new Fired(run, Optional.empty(), Optional.empty());
        }
        if (run.state() == RunState.COMPLETED) {
            return new Fired(run, result(run, ended), Optional.empty());
        }
        Subject failed = new Subject(Kind.FAILURE, run.definition(), "");
        return new Fired(
                run,
                Optional.empty(),
                Optional.of(ended.reason())
                        .filter(reason -> !reason.isEmpty())
                        .map(reason -> services.shown().text(failed, reason)));
    }

    private Optional<JsonNode> result(Seen run, Ended ended) {
        return ended.outcome().size() > LARGEST
                ? Optional.empty()
                : services.shown()
                        .typed(
                                new Subject(Kind.RESULT, run.definition(), ""),
                                ended.outcome(),
                                PayloadPlace.result(run.run().id()),
                                services.view().signature(run.definition()).map(Signature::resultType));
    }
}
