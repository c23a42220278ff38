package dev.perdure.opentelemetry;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.postgres.PostgresStore;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/** Starts an order in the trace of a request, and waits to be killed. */
final class KilledProcess {
    static final String ORDER = "o-1";
    static final Topic<String> PAID = Topic.of("paid", String.class);

    /** The order is charged, waits for a message and is shipped. */
    static final Definition<String, String> FLOW = Definition.of("order", String.class, String.class, (ctx, in) -> {
        ctx.step("charge", () -> "PAY-1");
        ctx.receive(PAID).await();
        return ctx.step("ship", () -> Baggage.current().getEntryValue("tenant"));
    });

    private KilledProcess() {}

    static OpenTelemetrySdk telemetry(SpanExporter exporter) {
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .build();
    }

    static PostgresStore store(PGSimpleDataSource database) {
        return PostgresStore.on(database).notifications(false).open();
    }

    @SuppressWarnings("try") // the scopes are only opened and closed
    public static void main(String[] args) throws Exception {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(args[0]);
        database.setUser(args[1]);
        database.setPassword(args[2]);
        OpenTelemetrySdk telemetry = telemetry(new SpanLines());
        Perdure perdure = Tracing.of(telemetry)
                .start(Perdure.on(store(database)).register(FLOW).warmWindow(Duration.ofMillis(1)));
        Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
        try (var inRequest = request.makeCurrent();
                var forTenant = Baggage.builder().put("tenant", "acme").build().makeCurrent()) {
            perdure.start(Invocation.of(FLOW, "pen"), StartOptions.id(ORDER));
        }
        request.end();
        new CountDownLatch(1).await();
    }
}
