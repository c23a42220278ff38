package dev.perdure.opentelemetry;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;

/** Exports each span as a line of the standard output, at once. */
final class SpanLines implements SpanExporter {
    /** A span as a line. */
    record Line(String trace, String span, String parent, String name) {
        static Line of(SpanData data) {
            return new Line(data.getTraceId(), data.getSpanId(), data.getParentSpanId(), data.getName());
        }

        static Line parse(String text) {
            String[] parts = text.split(" ", 5);
            return new Line(parts[1], parts[2], parts[3], parts[4]);
        }

        @Override
        public String toString() {
            return "span %s %s %s %s".formatted(trace, span, parent, name);
        }
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        spans.forEach(span -> System.out.println(Line.of(span)));
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
    }
}
