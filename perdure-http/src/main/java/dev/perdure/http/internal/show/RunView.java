package dev.perdure.http.internal.show;

import dev.perdure.RunInfo;
import dev.perdure.http.internal.json.Shape;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * A run as the API shows it, without payloads.
 *
 * @param info the run
 * @param reason why it is in its state, after the redaction
 * @param status what it does, in its own words, after the redaction
 * @param memo its memo, after the redaction
 * @param attributes its attributes, after the redaction
 * @param unsearchable the names of attributes by which no run is found
 */
public record RunView(
        RunInfo info,
        Optional<String> reason,
        Optional<String> status,
        Optional<String> memo,
        JsonNode attributes,
        List<String> unsearchable) {
    /** What it looks like. */
    public static final Shape<RunView> SHAPE = Shape.<RunView>named("Run")
            .text("id", "Its id.", run -> run.info().id())
            .text("definition", "The name of what it runs.", run -> run.info().definition())
            .text("state", "Its state.", run -> run.info().state())
            .text("reason", "Why it is in its state, or what it waits for.", RunView::reason)
            .time("created_at", "When it was started.", run -> run.info().createdAt())
            .time("changed_at", "When it entered its state.", run -> run.info().changedAt())
            .time(
                    "wake_at",
                    "When its timer or back-off ends.",
                    run -> run.info().wakeAt())
            .number(
                    "recoveries",
                    "How often it was taken from a dead worker since it last made progress.",
                    run -> run.info().recoveries())
            .texts(
                    "awaited",
                    "What it waits for, apart from wake_at.",
                    run -> run.info().awaited())
            .text("status", "What it does, in its own words.", RunView::status)
            .text("memo", "What a person reads about it.", RunView::memo)
            .any("attributes", "What it is found by.", run -> Optional.of(run.attributes()))
            .texts(
                    "unsearchable",
                    "The names of those of its attributes by which no run is found: they are stored encrypted, or a newer version has written them.",
                    RunView::unsearchable);
}
