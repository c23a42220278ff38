package dev.perdure.opentelemetry;

import dev.perdure.HistoryEvent;
import dev.perdure.HistoryEvent.Kind;
import dev.perdure.HistoryEvent.Status;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes the spans of a run that has ended, from what the store has of it: their times are those of the store's clock.
 *
 * <p>A run that has ended may be retried, and ends again. Then the spans until its first end are there already, so only
 * what came after that has spans now.
 */
final class RunSpans {
    static final AttributeKey<String> RUN = AttributeKey.stringKey("perdure.run.id");
    static final AttributeKey<String> DEFINITION = AttributeKey.stringKey("perdure.definition");
    static final AttributeKey<String> QUEUE = AttributeKey.stringKey("perdure.queue");
    static final AttributeKey<String> STATE = AttributeKey.stringKey("perdure.run.state");
    static final AttributeKey<String> STEP = AttributeKey.stringKey("perdure.step");
    static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("perdure.attempt");
    static final AttributeKey<String> SENT = AttributeKey.stringKey("perdure.sent");
    static final AttributeKey<String> SENDER = AttributeKey.stringKey("perdure.sender.id");
    static final AttributeKey<String> DURATION = AttributeKey.stringKey("perdure.wait.duration");

    private static final String EMITS = "emit '";
    private static final Set<Kind> RECEIVED = Set.of(Kind.RECEIVE, Kind.PROMISE);

    private final Tracer tracer;
    private final RunInfo run;
    private final Context context;
    private final Failures failures;
    /** When the run went on after an end; when it was created if it has ended once. */
    private Instant since;

    RunSpans(Tracer tracer, RunInfo run, Context context, Failures failures) {
        this.tracer = tracer;
        this.run = run;
        this.context = context;
        this.failures = failures;
        this.since = run.createdAt();
    }

    /** A span with the attributes that all have. */
    static SpanBuilder of(Tracer tracer, String name, RunId run, String definition) {
        return tracer.spanBuilder(name).setAttribute(RUN, run.value()).setAttribute(DEFINITION, definition);
    }

    private SpanBuilder span(String name, Instant start) {
        return of(tracer, name, run.id(), run.definition()).setParent(context).setStartTimestamp(start);
    }

    /** Makes the span of the run, and one for each wait in its journal. */
    void emit(List<HistoryEvent> history) {
        since = wentOn(history);
        Span whole = span("run " + run.definition(), since)
                .setSpanKind(SpanKind.CONSUMER)
                .setAttribute(STATE, run.state().name())
                .startSpan();
        if (run.state() == RunState.FAILED) {
            failures.run(whole, run.reason().orElse(""));
        }
        whole.end(run.changedAt());
        Map<Integer, SpanContext> links = links(history);
        Map<Integer, HistoryEvent> begun = new HashMap<>();
        for (HistoryEvent event : history) {
            if (event.status() == Status.BEGUN) {
                begin(event, begun);
            } else if (event.status() != Status.HEADERS) {
                HistoryEvent began = begun.remove(event.position());
                if (began != null || isReceived(event)) {
                    wait(began == null ? event : began, event.at(), event.status(), links.get(event.position()));
                }
            }
        }
        begun.values().stream()
                .filter(open -> open.kind() != Kind.CHILD) // Maybe it was only started, and nobody waited for it.
                .forEach(open -> wait(open, run.changedAt(), Status.ABSENT, null));
    }

    /** A message that was there before the run asked for it has no beginning. */
    private static boolean isReceived(HistoryEvent event) {
        return RECEIVED.contains(event.kind()) && (event.status() == Status.VALUE || event.status() == Status.FAILURE);
    }

    private Instant wentOn(List<HistoryEvent> history) {
        Instant from = run.createdAt();
        boolean ended = false;
        for (HistoryEvent event : history) {
            if (event.status() == Status.ENTERED) {
                from = ended ? event.at() : from;
                ended = RunState.valueOf(event.name()).isTerminal();
            }
        }
        return from;
    }

    /** The spans that have sent what the run received, by the position of the call that received it. */
    private static Map<Integer, SpanContext> links(List<HistoryEvent> history) {
        Map<Integer, SpanContext> links = new HashMap<>();
        history.stream()
                .filter(event -> event.status() == Status.HEADERS)
                .forEach(event -> links.put(
                        event.position(), TraceHeaders.link(event.reason().orElse(""))));
        return links;
    }

    private void begin(HistoryEvent event, Map<Integer, HistoryEvent> begun) {
        switch (event.kind()) {
            // Nothing in the journal says that they end, because their end is known when they begin.
            case SLEEP, TIMER ->
                wait(
                        event,
                        earlier(event.at().plus(Duration.parse(event.name())), run.changedAt()),
                        Status.VALUE,
                        null);
            case RECEIVE, CHILD, PROMISE, AWAKEABLE, EVENT -> begun.put(event.position(), event);
            default -> {
                // A step has spans of its own.
            }
        }
    }

    /** Without what differs from run to run: backends group spans by name, and the key of an event may name a customer. */
    private static String nameOf(HistoryEvent wait) {
        String kind = wait.kind().name().toLowerCase(Locale.ROOT);
        String name = wait.kind() == Kind.EVENT ? withoutKey(wait.name()) : wait.name();
        return isTimed(wait) ? kind : (kind + " " + name).strip();
    }

    private static boolean isTimed(HistoryEvent wait) {
        return wait.kind() == Kind.SLEEP || wait.kind() == Kind.TIMER;
    }

    /** The name of an event without its key. */
    private static String withoutKey(String event) {
        int slash = event.indexOf('/');
        return slash < 0 ? event : event.substring(0, slash);
    }

    /** The name of a step, without the key of the event if it is the step in which a run emits one. */
    static String stepName(String step) {
        return step.startsWith(EMITS) && step.endsWith("'")
                ? EMITS + withoutKey(step.substring(EMITS.length(), step.length() - 1)) + "'"
                : step;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private void wait(HistoryEvent began, Instant end, Status status, @Nullable SpanContext sender) {
        if (end.isBefore(since)) {
            return; // It has its span since the end before.
        }
        Instant from = began.at().isBefore(since) ? since : began.at();
        SpanBuilder builder = span(nameOf(began), from);
        if (isTimed(began)) {
            builder.setAttribute(DURATION, began.name());
        }
        if (sender != null && sender.isValid()) {
            builder.addLink(sender);
        }
        Span span = builder.startSpan();
        if (status == Status.FAILURE) {
            span.setStatus(StatusCode.ERROR);
        }
        span.end(end);
    }
}
