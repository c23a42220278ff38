package dev.perdure.opentelemetry;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.SendCall;
import dev.perdure.interceptor.StartCall;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context of a trace in the headers of a run, or of what is sent to one. They always have the format of the W3C, whatever propagators the
 * application uses between its services: what a run keeps for months must not depend on a setting that changes.
 */
final class TraceHeaders {
    /** The one that matters most is first. */
    private static final List<String> NAMES = List.of("traceparent", "tracestate", "baggage");

    private static final TextMapPropagator TRACE = W3CTraceContextPropagator.getInstance();
    private static final TextMapPropagator FORMAT =
            TextMapPropagator.composite(TRACE, W3CBaggagePropagator.getInstance());
    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // in newer versions only, and older ones demand it
        public Iterable<String> keys(Map<String, String> headers) {
            return headers.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private TraceHeaders() {}

    /** The start with the headers of this context, in place of those of the run that starts it. */
    static StartCall write(StartCall call, Context context) {
        Map<String, String> written = written(FORMAT, context);
        StartCall changed = call;
        for (String name : NAMES) {
            changed = changed(changed, name, written.get(name));
        }
        return changed;
    }

    private static Map<String, String> written(TextMapPropagator format, Context context) {
        Map<String, String> written = new HashMap<>();
        format.inject(context, written, (into, name, value) -> {
            if (into != null) {
                into.put(name, value);
            }
        });
        return written;
    }

    /** What is sent, with the headers of this context. A link has no baggage. */
    static SendCall write(SendCall call, Context context) {
        SendCall changed = call;
        for (Map.Entry<String, String> header : written(TRACE, context).entrySet()) {
            try {
                changed = changed.with(header.getKey(), header.getValue());
            } catch (InvalidRequestException tooLong) { // It is sent without the link.
                return call;
            }
        }
        return changed;
    }

    /** The span that these headers name; invalid if they name none. */
    static SpanContext link(String lines) {
        Map<String, String> headers = new HashMap<>();
        for (String line : lines.split("\n")) {
            int end = line.indexOf('=');
            if (end > 0) {
                headers.put(line.substring(0, end), line.substring(end + 1));
            }
        }
        return Span.fromContext(TRACE.extract(Context.root(), headers, GETTER)).getSpanContext();
    }

    /** Leaves out what does not fit into the headers of a run: a start must not fail because it is traced. */
    private static StartCall changed(StartCall call, String name, @Nullable String value) {
        StartCall without = call.without(name);
        try {
            return value == null ? without : without.with(name, value);
        } catch (InvalidRequestException tooLong) {
            return without;
        }
    }

    /** The context that a run was started in, on top of another one. */
    static Context read(Map<String, String> headers, Context base) {
        return FORMAT.extract(base, headers, GETTER);
    }
}
