package dev.perdure.http.internal.runs;

import dev.perdure.HistoryEvent;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditFilter;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RecordedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.AuditView;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.report.StepProgress;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Reads one run. */
public final class ReadRoutes {
    private static final Payload NO_PAYLOAD = Payload.EMPTY;

    /** A run with its payloads. */
    private record Details(
            RunView run,
            Runs.Basis basis,
            JsonNode headers,
            Optional<JsonNode> input,
            Optional<JsonNode> result,
            Optional<JsonNode> failure,
            List<StepProgress> progress) {}

    private static final Shape<ObjectCall> OBJECT = Shape.<ObjectCall>named("ObjectOfCall")
            .text("type", "The type of the object.", call -> call.object().type())
            .text("key", "Its key.", call -> call.object().key())
            .text("hold", "Whether the call holds it.", ObjectCall::hold);

    private static final Shape<Details> DETAILS = Shape.<Details>named("RunDetails")
            .object("run", "The run.", RunView.SHAPE, details -> Optional.of(details.run()))
            .text(
                    "version",
                    "The version that it is pinned to.",
                    details -> details.basis().version())
            .time(
                    "deadline",
                    "When its timeout ends.",
                    details -> details.basis().deadline())
            .object(
                    "object",
                    "The virtual object that it calls.",
                    OBJECT,
                    details -> Optional.ofNullable(details.basis().object()))
            .any(
                    "headers",
                    "The headers that interceptors gave it at its start.",
                    details -> Optional.of(details.headers()))
            .any("input", "Its input.", Details::input)
            .any("result", "Its result, if it has completed.", Details::result)
            .any("failure", "What it failed with: type, message and stack.", Details::failure)
            .list(
                    "progress",
                    "How far those of its steps are that have not ended and have reported something.",
                    ReportRoutes.PROGRESS,
                    Details::progress);

    /** An event with its reason after the redaction. */
    private record EventView(HistoryEvent event, Optional<String> reason, String text) {}

    private static final Shape<EventView> EVENT = Shape.<EventView>named("HistoryEvent")
            .text("kind", "What it is about.", view -> view.event().kind())
            .text(
                    "name",
                    "The name of the step, topic, child or state.",
                    view -> view.event().name())
            .text("status", "What happened.", view -> view.event().status())
            .number(
                    "position",
                    "The position in the journal; 0 for a change of state.",
                    view -> view.event().position())
            .number(
                    "attempt",
                    "Which attempt it was; 0 if it has none.",
                    view -> view.event().attempt())
            .time("at", "When it became durable.", view -> view.event().at())
            .time(
                    "next_attempt_at",
                    "When the next attempt is due.",
                    view -> view.event().nextAttemptAt())
            .text("reason", "What it failed with, or why; or the headers of what was received.", EventView::reason)
            .text("text", "The event in one line.", EventView::text);

    /** A page of a list. */
    private record Page<T>(List<T> list, Optional<String> next) {}

    private static final Shape<Page<EventView>> HISTORY = Shape.<Page<EventView>>named("History")
            .list("history", "Oldest first.", EVENT, Page::list)
            .text("next", Paging.NEXT, Page::next);

    /** An entry of a journal with its payload. */
    private record EntryView(Recorded recorded, Optional<JsonNode> payload) {}

    private static final Shape<EntryView> ENTRY = Shape.<EntryView>named("JournalEntry")
            .number(
                    "position",
                    "The position of the call.",
                    view -> view.recorded().entry().position())
            .number(
                    "note",
                    "0 for the answer, 1 and more for what happened before.",
                    view -> view.recorded().entry().note())
            .text("kind", "The kind of call.", view -> view.recorded().entry().kind())
            .text("name", "Its name.", view -> view.recorded().entry().name())
            .text("status", "Its outcome.", view -> view.recorded().entry().status())
            .time("at", "When it became durable.", view -> view.recorded().at())
            .number(
                    "payload_bytes",
                    "The size of the payload.",
                    view -> view.recorded().entry().payload().size())
            .any("payload", "The value or failure; left out if it has more than 256 KiB.", EntryView::payload);

    /** A page of a journal. */
    private record JournalPage(List<EntryView> entries, Optional<Integer> next) {}

    private static final Shape<JournalPage> JOURNAL = Shape.<JournalPage>named("JournalPage")
            .list("entries", "By position and note.", ENTRY, JournalPage::entries)
            .number("next", Paging.NEXT, JournalPage::next);

    /** A task or child. */
    private record BelowView(RunView run, Runs.Below below) {}

    private static final Shape<Runs.Entered> ENTERED = Shape.<Runs.Entered>named("EnteredState")
            .text("state", "The state.", Runs.Entered::state)
            .time("at", "When it was entered.", Runs.Entered::at);

    private static final Shape<BelowView> BELOW = Shape.<BelowView>named("RunBelow")
            .object("run", "The run.", RunView.SHAPE, below -> Optional.of(below.run()))
            .texts(
                    "after",
                    "The ids of the tasks that it comes after.",
                    view -> view.below().after().stream().map(RunId::value).toList())
            .list(
                    "history",
                    "The first 100 states that it has been in, oldest first.",
                    ENTERED,
                    view -> view.below().history());

    private static final Shape<Page<BelowView>> TASKS = Shape.<Page<BelowView>>named("Tasks")
            .list("tasks", "In the order of the DAG.", BELOW, Page::list)
            .text("next", Paging.NEXT, Page::next);

    private static final Shape<Page<BelowView>> CHILDREN = Shape.<Page<BelowView>>named("Children")
            .list("children", "Oldest first.", BELOW, Page::list)
            .text("next", Paging.NEXT, Page::next);

    /** A mail with its payload. */
    private record MailView(Mailboxes.Arrived arrived, Optional<JsonNode> payload) {}

    private static final Shape<MailView> ONE_MAIL = Shape.<MailView>named("Mail")
            .number(
                    "number",
                    "Its number in the order of arrival.",
                    view -> view.arrived().number())
            .time("at", "When it arrived.", view -> view.arrived().at())
            .text(
                    "kind",
                    "How it is addressed.",
                    view -> view.arrived().mail().channel().kind())
            .text(
                    "name",
                    "The topic or promise.",
                    view -> view.arrived().mail().channel().name())
            .number(
                    "position",
                    "The position of the call that it answers, or 0.",
                    view -> view.arrived().mail().channel().position())
            .text("status", "VALUE or FAILURE.", view -> view.arrived().mail().status())
            .any("payload", "The value or failure; left out if it has more than 256 KiB.", MailView::payload);

    private static final Shape<List<MailView>> MAIL =
            Shape.<List<MailView>>named("MailPage").list("mail", "In the order of arrival.", ONE_MAIL, mail -> mail);

    private final Services services;

    /** With these services. */
    public ReadRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/runs/{id}", "Shows a run with its input and its result or failure.")
                        .answers(200, "The run.", DETAILS)
                        .does(this::show),
                Route.get(
                                "/runs/{id}/history",
                                "Shows the journal and the changes of state of a run, without payloads.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page of the history.", HISTORY)
                        .does(this::history),
                Route.get("/runs/{id}/journal", "Shows the journal of a run with its payloads, one page at a time.")
                        .with(Parameter.query("after", "The position after which to begin. 0 by default."))
                        .answers(200, "A page of the journal.", JOURNAL)
                        .does(this::journal),
                Route.get("/runs/{id}/tasks", "Shows the tasks of the run of a DAG.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page of the tasks.", TASKS)
                        .does(this::tasks),
                Route.get("/runs/{id}/children", "Shows the children that a run has started.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page of the children.", CHILDREN)
                        .does(this::children),
                Route.get("/runs/{id}/mail", "Shows the mail that a run has not taken yet.")
                        .with(Parameter.query("after", "The number of the mail after which to begin. 0 by default."))
                        .answers(200, "The mail.", MAIL)
                        .does(this::mail),
                Route.get("/runs/{id}/audit", "Shows the commands to a run, newest first.")
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", AuditView.PAGE)
                        .does(this::audit));
    }

    private ApiResponse audit(Call call) {
        AuditFilter page =
                AuditFilter.run(services.found(call).ref().id().value()).limit(Paging.limit(call));
        return Answers.ok(AuditView.PAGE.json(AuditView.page(
                services,
                call.query("after").map(AuditView::decoded).map(page::after).orElse(page))));
    }

    private Runs runs() {
        return services.view().store().runs();
    }

    private ApiResponse show(Call call) {
        Runs.Found found = services.found(call);
        String definition = found.info().definition();
        Runs.Basis basis =
                runs().basis(found.ref()).orElseGet(() -> new Runs.Basis(null, NO_PAYLOAD, 0, null, List.of(), null));
        Optional<EngineView.Signature> signature = services.view().signature(definition);
        boolean ended = found.info().state().isTerminal();
        Optional<Payload> result = found.info().state() == RunState.COMPLETED
                ? runs().ended(List.of(found.ref())).stream()
                        .map(Runs.Ended::outcome)
                        .findFirst()
                : Optional.empty();
        return Answers.ok(DETAILS.json(new Details(
                services.shown().run(found.info()),
                basis,
                services.shown().headers(found.info()),
                services.shown().input(found.info(), basis.input(), signature.map(EngineView.Signature::inputType)),
                result.flatMap(payload -> services.shown()
                        .typed(
                                new Subject(Kind.RESULT, definition, ""),
                                payload,
                                PayloadPlace.result(found.ref().id()),
                                signature.map(EngineView.Signature::resultType))),
                ended ? failure(found) : Optional.empty(),
                ended ? List.of() : ReportRoutes.progress(services, found))));
    }

    private Optional<JsonNode> failure(Runs.Found found) {
        String definition = found.info().definition();
        try {
            services.view().run(found.ref()).resultNow();
            return Optional.empty();
        } catch (RunFailedException failed) {
            return failed.getCause() instanceof RecordedException recorded
                    ? Optional.of(services.shown().failure(definition, recorded))
                    : Optional.empty();
        } catch (PayloadException ofAnotherCodec) { // the message says so
            String message = String.valueOf(ofAnotherCodec.getMessage());
            return Optional.of(Json.object()
                    .put("message", services.shown().text(new Subject(Kind.FAILURE, definition, ""), message)));
        }
    }

    private ApiResponse history(Call call) {
        Runs.Found found = services.found(call);
        String definition = found.info().definition();
        EngineView.HistoryPage page = services.view()
                .history(
                        found.ref(),
                        call.query("after").map(HistoryPlaces::read).orElse(EngineView.HistoryPlace.FIRST),
                        Paging.limit(call));
        return Answers.ok(HISTORY.json(new Page<>(
                page.events().stream().map(event -> view(event, definition)).toList(),
                page.next().map(HistoryPlaces::text))));
    }

    private EventView view(HistoryEvent event, String definition) {
        Kind kind = event.status() == HistoryEvent.Status.HEADERS ? Kind.DESCRIPTION : Kind.FAILURE;
        Subject what = new Subject(kind, definition, event.name());
        Optional<String> reason = event.reason().map(text -> services.shown().text(what, text));
        return new EventView(event, reason, services.shown().text(what, event.text()));
    }

    private ApiResponse journal(Call call) {
        Runs.Found found = services.found(call);
        int after = call.number("after", 0, 0, Integer.MAX_VALUE);
        Journals.Page page = services.view().store().journals().read(found.ref(), after, Paging.BYTES);
        List<EntryView> entries = page.entries().stream()
                .map(recorded -> new EntryView(
                        recorded,
                        services.shown()
                                .small(
                                        new Subject(
                                                recorded.entry().status() == Entry.Status.HEADERS
                                                        ? Kind.DESCRIPTION
                                                        : Kind.ENTRY,
                                                found.info().definition(),
                                                recorded.entry().name()),
                                        recorded.entry().payload())))
                .toList();
        Optional<Integer> next = page.last()
                ? Optional.empty()
                : Optional.of(page.entries().getLast().entry().position());
        return Answers.ok(JOURNAL.json(new JournalPage(entries, next)));
    }

    private ApiResponse tasks(Call call) {
        return Answers.ok(TASKS.json(below(runs().tasks(services.found(call).ref(), place(call), Paging.limit(call)))));
    }

    private ApiResponse children(Call call) {
        return Answers.ok(
                CHILDREN.json(below(runs().children(services.found(call).ref(), place(call), Paging.limit(call)))));
    }

    private Page<BelowView> below(Runs.BelowPage page) {
        return new Page<>(
                page.runs().stream()
                        .map(below -> new BelowView(services.shown().run(below.info()), below))
                        .toList(),
                page.next().map(place -> place.key() + "@" + place.createdAt()));
    }

    private static Runs.BelowPlace place(Call call) {
        return call.query("after")
                .map(text -> {
                    try {
                        int mark = text.indexOf('@');
                        return new Runs.BelowPlace(
                                Paging.time(text.substring(mark + 1)),
                                Long.parseLong(text.substring(0, Math.max(mark, 0))));
                    } catch (NumberFormatException wrong) {
                        throw Paging.unknownPlace();
                    }
                })
                .orElse(Runs.BelowPlace.FIRST);
    }

    private ApiResponse mail(Call call) {
        Runs.Found found = services.found(call);
        long after = call.offset("after").orElse(0L);
        return Answers.ok(MAIL.json(
                services.view().store().mailboxes().unread(found.ref(), after, Paging.BYTES).stream()
                        .map(arrived -> new MailView(
                                arrived,
                                services.shown()
                                        .small(
                                                new Subject(
                                                        Kind.MAIL,
                                                        found.info().definition(),
                                                        arrived.mail().channel().name()),
                                                arrived.mail().payload())))
                        .toList()));
    }
}
