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

    /** Where a process can be killed. */
    enum Place {
        /** The run waits for a message. */
        WAIT,
        /** The body of a step is running. */
        BODY
    }

    private static final CountDownLatch NEVER = new CountDownLatch(1);
    private static volatile boolean holdsShipping;

    /** The order is charged, perhaps waits for a message, and is shipped. */
    static final Definition<Place, String> FLOW = Definition.of("order", Place.class, String.class, (ctx, place) -> {
        ctx.step("charge", () -> "PAY-1");
        if (place == Place.WAIT) {
            ctx.receive(PAID).await();
        }
        return ctx.step("ship", () -> {
            if (holdsShipping) {
                NEVER.await();
            }
            return Baggage.current().getEntryValue("tenant");
        });
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

    /** Takes the place, and URL, user and password of the database. */
    @SuppressWarnings("try") // the scopes are only opened and closed
    public static void main(String[] args) throws Exception {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(args[1]);
        database.setUser(args[2]);
        database.setPassword(args[3]);
        holdsShipping = true;
        OpenTelemetrySdk telemetry = telemetry(new SpanLines());
        Perdure perdure = Tracing.of(telemetry)
                .start(Perdure.on(store(database)).register(FLOW).warmWindow(Duration.ofMillis(1)));
        Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
        try (var inRequest = request.makeCurrent();
                var forTenant = Baggage.builder().put("tenant", "acme").build().makeCurrent()) {
            perdure.start(Invocation.of(FLOW, Place.valueOf(args[0])), StartOptions.id(ORDER));
        }
        request.end();
        NEVER.await();
    }
}
