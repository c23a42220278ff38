package dev.perdure.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowBody;
import dev.perdure.memory.MemoryStore;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The spans of what is sent and received, of retried runs and of failures. */
@SuppressWarnings("try") // a scope is only opened and closed
class SentSpansTest {
    private static final Topic<String> PAID = Topic.of("paid", String.class);
    private static final Topic<String> SIGNED = Topic.of("signed", String.class);
    private static final Topic<String> STOCK = Topic.of("stock", String.class);

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build())
            .build();

    @AfterEach
    void close() {
        telemetry.close();
    }

    private static Definition<String, String> flow(String name, WorkflowBody<String, String> body) {
        return Definition.of(name, String.class, String.class, body);
    }

    private static Perdure started(Tracing tracing, Object... workflows) {
        return tracing.start(Perdure.on(new MemoryStore())
                .register(workflows)
                .warmWindow(Duration.ofMillis(1)) // waits leave memory, so that runs are replayed
                .retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1))));
    }

    private List<SpanData> named(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
    }

    private SpanData only(String name) {
        assertThat(named(name)).as(name).hasSize(1);
        return named(name).getFirst();
    }

    private void awaitSpans(String name, int count) {
        await().atMost(Duration.ofSeconds(10)).until(() -> named(name).size() >= count);
    }

    private void assertLinked(String received, SpanData sent) {
        assertThat(only(received).getLinks())
                .as(received)
                .extracting(LinkData::getSpanContext)
                .extracting("traceId", "spanId")
                .containsExactly(org.assertj.core.groups.Tuple.tuple(sent.getTraceId(), sent.getSpanId()));
    }

    @Test
    void what_a_run_receives_has_a_link_to_the_span_that_sent_it() {
        AtomicReference<String> token = new AtomicReference<>();
        Definition<String, String> order = flow("order", (ctx, in) -> {
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            token.set(awakeable.token());
            var stock = ctx.event(STOCK);
            ctx.receive(PAID).await();
            ctx.promise(SIGNED).await();
            awakeable.await();
            stock.await();
            return ctx.step("ship", () -> in);
        });
        Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"), StartOptions.id("o-1"));
            await().until(() -> run.state() == RunState.SUSPENDED);
            try (Scope scope = request.makeCurrent()) {
                run.send(PAID, "yes");
                run.promise(SIGNED).resolve("yes");
                perdure.resolve(token.get(), "yes");
                perdure.emit(STOCK, "yes");
            }
            run.result();
            awaitSpans("event stock", 1);
        }
        request.end();
        assertThat(exporter.getFinishedSpanItems())
                .extracting(SpanData::getName)
                .as("none of them twice, although the run was replayed")
                .containsExactlyInAnyOrder(
                        "request",
                        "start order",
                        "send paid",
                        "send signed",
                        "send",
                        "send stock",
                        "receive paid",
                        "promise signed",
                        "awakeable",
                        "event stock",
                        "step ship",
                        "run order");
        for (String name : List.of("send paid", "send signed", "send", "send stock")) {
            assertThat(only(name).getParentSpanId())
                    .as(name)
                    .isEqualTo(request.getSpanContext().getSpanId());
        }
        assertThat(only("send paid").getAttributes().get(RunSpans.RUN)).isEqualTo("o-1");
        assertThat(only("send paid").getAttributes().get(RunSpans.SENT)).isEqualTo("message");
        assertLinked("receive paid", only("send paid"));
        assertLinked("promise signed", only("send signed"));
        assertLinked("awakeable", only("send"));
        assertLinked("event stock", only("send stock"));
        assertThat(only("receive paid").getTraceId())
                .as("the run stays in its own trace")
                .isEqualTo(only("start order").getTraceId())
                .isNotEqualTo(request.getSpanContext().getTraceId());
    }

    @Test
    void a_message_that_a_run_sends_belongs_to_its_trace_and_is_linked_although_it_was_there_before() {
        Definition<String, String> order = flow("order", (ctx, in) -> {
            ctx.sleep(Duration.ofMillis(30)); // the message arrives meanwhile
            return ctx.receive(PAID).await();
        });
        Definition<String, String> payment = flow("payment", (ctx, in) -> {
            ctx.send(RunId.of("o-1"), PAID, "yes");
            ctx.sleep(Duration.ofMillis(5));
            return ctx.step("book", () -> in);
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order, payment)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"), StartOptions.id("o-1"));
            perdure.start(Invocation.of(payment, "x"), StartOptions.id("p-1")).result();
            run.result();
            awaitSpans("receive paid", 1);
        }
        assertThat(only("send paid").getParentSpanId())
                .isEqualTo(only("start payment").getSpanId());
        assertThat(only("send paid").getAttributes().get(RunSpans.SENDER)).isEqualTo("p-1");
        assertLinked("receive paid", only("send paid"));
    }

    @Test
    void runs_that_end_right_before_the_engine_closes_have_their_last_spans() {
        Definition<String, String> order = flow("order", (ctx, in) -> ctx.step("charge", () -> in));
        try (Tracing tracing = Tracing.of(telemetry)) {
            try (Perdure perdure = started(tracing, order)) {
                for (int i = 0; i < 50; i++) {
                    perdure.start(Invocation.of(order, "pen")).result();
                }
            }
        }
        assertThat(named("run order")).hasSize(50);
    }

    @Test
    void names_of_spans_have_no_key_of_an_event() {
        Definition<String, String> order = flow("order", (ctx, in) -> {
            var stock = ctx.event(STOCK.key("customer-7"));
            ctx.step("ask", () -> in);
            return stock.await();
        });
        Definition<String, String> depot = flow("depot", (ctx, in) -> {
            ctx.emit(STOCK.key("customer-7"), "yes");
            return in;
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order, depot)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"), StartOptions.id("o-1"));
            await().until(() -> run.state() == RunState.SUSPENDED);
            perdure.start(Invocation.of(depot, "pen")).result();
            run.result();
            awaitSpans("event stock", 1);
            awaitSpans("run depot", 1);
        }
        assertLinked("event stock", only("send stock"));
        assertThat(only("step emit 'stock'").getAttributes().get(RunSpans.STEP)).isEqualTo("emit 'stock'");
        assertThat(exporter.getFinishedSpanItems())
                .allSatisfy(span -> assertThat(span.toString()).doesNotContain("customer-7"));
    }

    @Test
    void a_run_that_is_retried_has_no_span_twice() {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> order = flow("order", (ctx, in) -> {
            ctx.sleep(Duration.ofMillis(20));
            ctx.receive(PAID).await();
            return ctx.step(
                    "charge",
                    () -> {
                        if (broken.get()) {
                            throw new IOException("no route");
                        }
                        return in;
                    },
                    StepOptions.retry(1));
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            Run<String> run = perdure.start(
                    Invocation.of(order, "pen"), StartOptions.id("o-1").message(PAID, "yes"));
            awaitSpans("run order", 1);
            awaitSpans("receive paid", 1);
            broken.set(false);
            run.retry();
            run.result();
            awaitSpans("run order", 2);
        }
        only("sleep");
        only("receive paid");
        assertThat(named("run order"))
                .extracting(span -> span.getAttributes().get(RunSpans.STATE))
                .containsExactly("FAILED", "COMPLETED");
        assertThat(named("run order").getLast().getStartEpochNanos())
                .as("the second one begins with the retry")
                .isGreaterThanOrEqualTo(named("run order").getFirst().getEndEpochNanos());
        assertThat(named("step charge")).as("the body ran twice").hasSize(2);
    }

    @Test
    void spans_have_the_class_of_an_exception_and_not_its_message() {
        Definition<String, String> order = flow(
                "order",
                (ctx, in) -> ctx.step(
                        "charge",
                        () -> {
                            throw new IOException("card 4711");
                        },
                        StepOptions.retry(1)));
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            perdure.start(Invocation.of(order, "pen"));
            awaitSpans("run order", 1);
        }
        assertThat(only("step charge").getStatus().getDescription()).isEqualTo("java.io.IOException");
        assertThat(only("run order").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(exporter.getFinishedSpanItems().toString()).doesNotContain("4711");
    }

    @Test
    void an_attempt_that_runs_out_of_its_time_has_failed() {
        Definition<String, String> order = flow(
                "order",
                (ctx, in) -> ctx.step(
                        "charge",
                        () -> {
                            new CountDownLatch(1).await();
                            return in;
                        },
                        StepOptions.retry(1).timeout(Duration.ofMillis(20))));
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            perdure.start(Invocation.of(order, "pen"));
            awaitSpans("run order", 1);
        }
        SpanData charge = only("step charge");
        assertThat(charge.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(charge.getStatus().getDescription()).isEqualTo("java.util.concurrent.TimeoutException");
        assertThat(charge.getAttributes().get(Failures.INTERRUPTED)).isNull();
    }

    @Test
    void an_attempt_that_is_interrupted_has_not_failed() {
        CountDownLatch begun = new CountDownLatch(1);
        Definition<String, String> order = flow(
                "order",
                (ctx, in) -> ctx.step("charge", () -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return in;
                }));
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"));
            await().until(() -> begun.getCount() == 0);
            run.cancel("ordered twice");
            awaitSpans("step charge", 1);
        }
        assertThat(only("step charge").getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(only("step charge").getAttributes().get(Failures.INTERRUPTED))
                .isTrue();
    }
}
