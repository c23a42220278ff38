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

/** Makes the spans of a run that has ended, from what the store has of it: their times are those of the store's clock. */
final class RunSpans {
    static final AttributeKey<String> RUN = AttributeKey.stringKey("perdure.run.id");
    static final AttributeKey<String> DEFINITION = AttributeKey.stringKey("perdure.definition");
    static final AttributeKey<String> QUEUE = AttributeKey.stringKey("perdure.queue");
    static final AttributeKey<String> STATE = AttributeKey.stringKey("perdure.run.state");
    static final AttributeKey<String> STEP = AttributeKey.stringKey("perdure.step");
    static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("perdure.attempt");

    private final Tracer tracer;
    private final RunInfo run;
    private final Context context;

    RunSpans(Tracer tracer, RunInfo run, Context context) {
        this.tracer = tracer;
        this.run = run;
        this.context = context;
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
        Span whole = span("run " + run.definition(), run.createdAt())
                .setSpanKind(SpanKind.CONSUMER)
                .setAttribute(STATE, run.state().name())
                .startSpan();
        if (run.state() == RunState.FAILED) {
            whole.setStatus(StatusCode.ERROR, run.reason().orElse(""));
        }
        whole.end(run.changedAt());
        Map<Integer, HistoryEvent> begun = new HashMap<>();
        for (HistoryEvent event : history) {
            if (event.status() == Status.BEGUN) {
                begin(event, begun);
            } else {
                HistoryEvent began = begun.remove(event.position());
                if (began != null) {
                    wait(began, event.at(), event.status() == Status.FAILURE);
                }
            }
        }
        begun.values().stream()
                .filter(open -> open.kind() != Kind.CHILD) // Maybe it was only started, and nobody waited for it.
                .forEach(open -> wait(open, run.changedAt(), false));
    }

    private void begin(HistoryEvent event, Map<Integer, HistoryEvent> begun) {
        switch (event.kind()) {
            // Nothing in the journal says that they end, because their end is known when they begin.
            case SLEEP, TIMER ->
                wait(event, earlier(event.at().plus(Duration.parse(event.name())), run.changedAt()), false);
            case RECEIVE, CHILD, PROMISE, AWAKEABLE, EVENT -> begun.put(event.position(), event);
            default -> {
                // A step has spans of its own.
            }
        }
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private void wait(HistoryEvent began, Instant end, boolean failed) {
        Span span = span(began.kind().name().toLowerCase(Locale.ROOT) + " " + began.name(), began.at())
                .startSpan();
        if (failed) {
            span.setStatus(StatusCode.ERROR);
        }
        span.end(end);
    }
}
