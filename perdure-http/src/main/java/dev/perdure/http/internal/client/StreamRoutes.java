package dev.perdure.http.internal.client;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Runs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** What runs publish: a page of it, or a stream that goes on until the run has ended. */
public final class StreamRoutes {
    private static final int PAGE = 100;
    private static final Duration PART = Duration.ofSeconds(1);
    /** So many parts without a value, and a comment tells the client that the stream is alive. */
    private static final int QUIET_PARTS = 15;

    /** A published value. */
    private record View(Mailboxes.Published published, Optional<JsonNode> value) {}

    private static final Shape<View> VALUE = Shape.<View>named("Published")
            .number(
                    "offset",
                    "Grows with every value; give it as 'after' to continue.",
                    view -> view.published().offset())
            .time("at", "When it was published.", view -> view.published().at())
            .any("value", "The value.", View::value);

    /** A page of published values. */
    private record Page(List<View> values, Optional<Long> next) {}

    private static final Shape<Page> VALUES = Shape.<Page>named("PublishedPage")
            .list("values", "Oldest first, 100 at most.", VALUE, Page::values)
            .number("next", Paging.NEXT, Page::next);

    private final Services services;

    /** With these services. */
    public StreamRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/runs/{id}/published/{topic}", "Lists what a run has published under a topic.")
                        .with(Parameter.query("after", "The offset after which to begin. 0 by default."))
                        .answers(200, "The values.", VALUES)
                        .does(this::list),
                Route.get(
                                "/runs/{id}/published/{topic}/stream",
                                "Follows what a run publishes under a topic, as server-sent events, until the run has ended.")
                        .with(
                                Parameter.query("after", "The offset after which to begin. 0 by default."),
                                new Parameter(
                                        "Last-Event-ID",
                                        Parameter.Place.HEADER,
                                        "The offset of the last event that the client has got, in place of 'after'.",
                                        false))
                        .answers(200, "A stream of events 'value' with the offset as id, and at last 'end'.")
                        .does(this::stream));
    }

    private ApiResponse list(Call call) {
        Runs.Found run = services.found(call);
        String topic = call.path("topic");
        Mailboxes.PublishedPage page = services.view()
                .store()
                .mailboxes()
                .published(new Mailboxes.Place(run.ref(), topic, after(call)), PAGE, Paging.BYTES);
        Optional<Long> next = page.last()
                ? Optional.empty()
                : Optional.of(page.values().getLast().offset());
        return Answers.ok(VALUES.json(new Page(
                page.values().stream()
                        .map(published -> view(run, topic, published))
                        .toList(),
                next)));
    }

    private View view(Runs.Found run, String topic, Mailboxes.Published published) {
        return new View(
                published,
                services.shown()
                        .payload(new Subject(Kind.PUBLISHED, run.info().definition(), topic), published.payload()));
    }

    private static long after(Call call) {
        return call.header("Last-Event-ID")
                .map(StreamRoutes::offset)
                .orElseGet(() -> call.offset("after").orElse(0L));
    }

    private static long offset(String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException wrong) {
            throw Problem.invalid("The header 'Last-Event-ID' is no offset. Send the id of the last event.");
        }
    }

    private ApiResponse stream(Call call) {
        Runs.Found run = services.found(call);
        long after = after(call);
        String topic = call.path("topic");
        services.turns().requireRoom();
        return Answers.events(sink -> services.turns().streaming(() -> follow(run, topic, after, sink)));
    }

    private void follow(Runs.Found run, String topic, long after, ApiResponse.Sink sink)
            throws IOException, InterruptedException {
        long last = after;
        int quiet = 0;
        send(sink, ": follows\n\n");
        while (!services.closing().getAsBoolean()) {
            Optional<Mailboxes.Shown> seen =
                    services.view().awaitPublished(new Mailboxes.Place(run.ref(), topic, last), PART);
            List<Mailboxes.Published> values = seen.map(Mailboxes.Shown::values).orElse(List.of());
            for (Mailboxes.Published value : values) {
                String json = Json.text(VALUE.json(view(run, topic, value)));
                send(sink, "id: %s\nevent: value\ndata: %s\n\n".formatted(value.offset(), json));
                last = value.offset();
            }
            if (seen.isPresent() && values.isEmpty()) {
                send(sink, "event: end\ndata: {}\n\n");
                return;
            }
            quiet = values.isEmpty() ? quiet + 1 : 0;
            if (quiet == QUIET_PARTS) {
                send(sink, ": nothing new\n\n");
                quiet = 0;
            }
        }
    }

    private static void send(ApiResponse.Sink sink, String text) throws IOException {
        sink.send(text.getBytes(StandardCharsets.UTF_8));
    }
}
