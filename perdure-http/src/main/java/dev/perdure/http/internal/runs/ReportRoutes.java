package dev.perdure.http.internal.runs;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.report.StepProgress;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.PublishedName;
import dev.perdure.spi.Runs;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.event.Level;

/** What steps of a run report while they run, and the topics under which the run has published. */
public final class ReportRoutes {
    static final Shape<StepProgress> PROGRESS = Shape.<StepProgress>named("StepProgress")
            .text("step", "The name of the step.", StepProgress::step)
            .number("position", "Its position in the journal.", StepProgress::position)
            .number("attempt", "Which attempt has reported it.", StepProgress::attempt)
            .number("fraction", "The part of the work that is done, from 0 to 1.", StepProgress::fraction)
            .text("message", "What the attempt says about it.", StepProgress::message)
            .time("at", "When the attempt last reported something, to about a second.", StepProgress::at);

    private static final Shape<LogLine> LINE = Shape.<LogLine>named("LogLine")
            .number("number", "Grows from line to line, and not always by one.", LogLine::number)
            .time("at", "When it was written.", LogLine::at)
            .text("level", "TRACE, DEBUG, INFO, WARN or ERROR.", LogLine::level)
            .text("step", "The name of the step.", LogLine::step)
            .number("position", "The position of the step in the journal.", LogLine::position)
            .number("attempt", "Which attempt has written it.", LogLine::attempt)
            .text("logger", "The name of its logger.", LogLine::logger)
            .text("text", "The message, and the stack trace if there is one.", LogLine::text);

    /** Log lines, and after which of them to go on. */
    private record Lines(LogPage page, Optional<Long> next) {}

    private static final Shape<Lines> LOG = Shape.<Lines>named("LogPage")
            .list("lines", "Oldest first.", LINE, lines -> lines.page().lines())
            .number(
                    "dropped",
                    "How many lines are not kept, because newer ones took their place.",
                    lines -> lines.page().dropped())
            .text(
                    "next",
                    "Give it as 'after' to read the lines behind these, also those that are yet to come.",
                    Lines::next);

    /** A page of topics. */
    private record Topics(List<PublishedName> topics, Optional<String> next) {}

    private static final Shape<PublishedName> TOPIC = Shape.<PublishedName>named("PublishedTopic")
            .text("topic", "The topic.", PublishedName::name)
            .number("values", "How many values, %s at most.".formatted(Mailboxes.MOST_COUNTED), PublishedName::values)
            .flag("more", "Whether there may be more.", topic -> topic.values() == Mailboxes.MOST_COUNTED)
            .number("latest_offset", "The offset of the latest value.", PublishedName::offset)
            .time("latest_at", "When the run published that.", PublishedName::at);

    private static final Shape<Topics> TOPICS = Shape.<Topics>named("PublishedTopics")
            .list("topics", "By name.", TOPIC, Topics::topics)
            .text("next", Paging.NEXT, Topics::next);

    private final Services services;

    /** With these services. */
    public ReportRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/runs/{id}/log", "Shows what the steps of a run have logged: the newest lines are kept.")
                        .with(Paging.PARAMETERS)
                        .with(Parameter.query("newest", "Whether the last lines are wanted, and not the first."))
                        .answers(200, "A page.", LOG)
                        .does(this::log),
                Route.get("/runs/{id}/published", "Lists the topics under which a run has published values.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", TOPICS)
                        .does(this::topics));
    }

    private ApiResponse log(Call call) {
        Runs.Found found = services.found(call);
        int limit = Paging.limit(call);
        Optional<Long> after = call.offset("after");
        LogFilter all = call.flag("newest") ? LogFilter.newest(limit) : LogFilter.oldest(limit);
        LogPage page = services.view()
                .run(found.ref())
                .log(after.map(number -> all.after(lineWith(number))).orElse(all));
        String definition = found.info().definition();
        List<LogLine> shown =
                page.lines().stream().map(line -> redacted(line, definition)).toList();
        Optional<Long> next =
                shown.isEmpty() ? after : Optional.of(shown.getLast().number());
        return Answers.ok(LOG.json(new Lines(new LogPage(shown, page.dropped()), next)));
    }

    /** Only its number tells where the next page begins. */
    private static LogLine lineWith(long number) {
        return new LogLine(number, "", 0, 0, Instant.EPOCH, Level.INFO, "", "");
    }

    private LogLine redacted(LogLine line, String definition) {
        return new LogLine(
                line.number(),
                line.step(),
                line.position(),
                line.attempt(),
                line.at(),
                line.level(),
                line.logger(),
                services.shown().text(new Subject(Kind.LOG, definition, line.step()), line.text()));
    }

    /** How far the steps of a run are that have not ended. */
    static List<StepProgress> progress(Services services, Runs.Found found) {
        String definition = found.info().definition();
        return services.view().run(found.ref()).progress().stream()
                .map(step -> new StepProgress(
                        step.step(),
                        step.position(),
                        step.attempt(),
                        step.fraction(),
                        services.shown().text(new Subject(Kind.DESCRIPTION, definition, step.step()), step.message()),
                        step.at()))
                .toList();
    }

    private ApiResponse topics(Call call) {
        int limit = Paging.limit(call);
        List<PublishedName> topics = services.view()
                .store()
                .mailboxes()
                .publishedNames(services.found(call).ref(), call.query("after").orElse(""), limit);
        Optional<String> next = topics.size() < limit
                ? Optional.empty()
                : Optional.of(topics.getLast().name());
        return Answers.ok(TOPICS.json(new Topics(topics, next)));
    }
}
