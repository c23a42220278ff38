package dev.perdure.opentelemetry;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.StartCall;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context of a trace in the headers of a run. They always have the format of the W3C, whatever propagators the
 * application uses between its services: what a run keeps for months must not depend on a setting that changes.
 */
final class TraceHeaders {
    /** The one that matters most is first. */
    private static final List<String> NAMES = List.of("traceparent", "tracestate", "baggage");

    private static final TextMapPropagator FORMAT =
            TextMapPropagator.composite(W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance());
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
        Map<String, String> written = new HashMap<>();
        FORMAT.inject(context, written, (into, name, value) -> {
            if (into != null) {
                into.put(name, value);
            }
        });
        StartCall changed = call;
        for (String name : NAMES) {
            changed = changed(changed, name, written.get(name));
        }
        return changed;
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
