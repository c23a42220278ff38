package dev.perdure.cli.run;

import dev.perdure.HistoryEvent;
import dev.perdure.HistoryEvent.Kind;
import dev.perdure.HistoryEvent.Status;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Page;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Prints the history of a run. */
final class History {
    private static final Fields<Timed> EVENT = Fields.<Timed>of()
            .text(
                    "time",
                    timed -> timed.event().at().truncatedTo(ChronoUnit.MILLIS).toString())
            .json("at", timed -> timed.event().at())
            .text(
                    "position",
                    timed -> timed.event().position() == 0
                            ? ""
                            : "#" + timed.event().position())
            .json("position", timed -> timed.event().position())
            .text(
                    "attempt",
                    timed -> timed.event().attempt() == 0 ? "" : timed.event().attempt())
            .json("attempt", timed -> timed.event().attempt())
            .text("took", timed -> timed.took().isPresent() ? timed.took() : "")
            .json("took_ms", Timed::took)
            .json("kind", timed -> timed.event().kind())
            .json("name", timed -> timed.event().name())
            .json("status", timed -> timed.event().status())
            .json("reason", timed -> timed.event().reason())
            .json("next_attempt_at", timed -> timed.event().nextAttemptAt())
            .text("event", History::text)
            .json("text", timed -> timed.event().text());

    private History() {}

    /**
     * An event of a history.
     *
     * @param event the event
     * @param took how long that took which ends with the event, if it is known
     */
    private record Timed(HistoryEvent event, Optional<Duration> took) {}

    static void add(Page page, List<HistoryEvent> history) {
        page.many("history", EVENT, timed(history), "Nothing has happened yet.");
    }

    private static String text(Timed timed) {
        HistoryEvent event = timed.event();
        return event.text()
                + event.nextAttemptAt()
                        .map(next ->
                                " (the next attempt was due after %s)".formatted(Duration.between(event.at(), next)))
                        .orElse("");
    }

    /**
     * A call that records its beginning takes from there to its answer. The attempt of a step records only its end: it
     * takes from the event before it, or from when it was due.
     */
    private static List<Timed> timed(List<HistoryEvent> history) {
        Map<Integer, Instant> begun = new HashMap<>();
        List<Timed> timed = new ArrayList<>();
        @Nullable Instant before = null;
        for (HistoryEvent event : history) {
            if (event.status() == Status.PROGRESS || event.status() == Status.HEADERS) { // not the end of anything
                timed.add(new Timed(event, Optional.empty()));
                continue;
            }
            boolean body = event.kind() == Kind.STEP || event.kind() == Kind.TRANSACTION;
            Instant from = event.kind() == Kind.ANSWER ? null : begun.get(event.position());
            if (body && before != null && (from == null || from.isBefore(before))) {
                from = before;
            }
            timed.add(new Timed(event, from == null ? Optional.empty() : Optional.of(positive(from, event.at()))));
            if (event.status() == Status.BEGUN) {
                begun.put(event.position(), event.at());
            } else if (event.status() == Status.ATTEMPT) {
                begun.put(event.position(), event.nextAttemptAt().orElse(event.at()));
            }
            before = event.at();
        }
        return timed;
    }

    private static Duration positive(Instant from, Instant to) {
        return from.isBefore(to) ? Duration.between(from, to) : Duration.ZERO;
    }
}
