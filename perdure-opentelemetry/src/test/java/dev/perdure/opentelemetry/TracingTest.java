package dev.perdure.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowBody;
import dev.perdure.dag.Dag;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // a scope is only opened and closed
class TracingTest {
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final OpenTelemetrySdk telemetry = sdk(Sampler.parentBased(Sampler.alwaysOn()));

    private OpenTelemetrySdk sdk(Sampler sampler) {
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .setSampler(sampler)
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .build();
    }

    @AfterEach
    void close() {
        telemetry.close();
    }

    private static Definition<String, String> flow(String name, WorkflowBody<String, String> body) {
        return Definition.of(name, String.class, String.class, body);
    }

    private Perdure started(Tracing tracing, Object... workflows) {
        return tracing.start(Perdure.on(new MemoryStore())
                .register(workflows)
                .warmWindow(Duration.ofMillis(1)) // waits leave memory, so that runs are replayed
                .retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1))));
    }

    private Span caller() {
        return telemetry.getTracer("test").spanBuilder("request").startSpan();
    }

    private List<String> names() {
        return exporter.getFinishedSpanItems().stream().map(SpanData::getName).toList();
    }

    private SpanData only(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .reduce((one, other) -> {
                    throw new AssertionError("twice: " + name);
                })
                .orElseThrow(() -> new AssertionError(name + " is not among " + names()));
    }

    private void awaitSpan(String name) {
        await().atMost(Duration.ofSeconds(10)).until(() -> names().contains(name));
    }

    @Test
    void a_run_its_steps_waits_and_children_belong_to_the_trace_of_the_caller() {
        Definition<String, String> child = flow("parcel", (ctx, in) -> ctx.step("pack", () -> in));
        AtomicInteger entries = new AtomicInteger();
        Definition<String, String> order = flow("order", (ctx, in) -> {
            entries.incrementAndGet();
            ctx.step("charge", () -> "PAY-1");
            ctx.sleep(Duration.ofMillis(50));
            return ctx.call(Invocation.of(child, in));
        });
        Span request = caller();
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order, child)) {
            try (Scope scope = request.makeCurrent()) {
                Run<String> run = perdure.start(Invocation.of(order, "pen"), StartOptions.id("o-1"));
                assertThat(run.result()).isEqualTo("pen");
            }
            awaitSpan("run order");
            awaitSpan("child parcel");
            awaitSpan("run parcel");
        }
        request.end();
        assertThat(entries).hasValueGreaterThan(1);
        assertThat(names())
                .as("none of them twice, although the run was replayed")
                .containsExactlyInAnyOrder(
                        "request",
                        "start order",
                        "run order",
                        "step charge",
                        "sleep",
                        "start parcel",
                        "child parcel",
                        "run parcel",
                        "step pack");
        assertThat(exporter.getFinishedSpanItems())
                .extracting(SpanData::getTraceId)
                .containsOnly(request.getSpanContext().getTraceId());
        assertThat(only("start order").getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        for (String name : List.of("run order", "step charge", "sleep", "start parcel", "child parcel")) {
            assertThat(only(name).getParentSpanId())
                    .as(name)
                    .isEqualTo(only("start order").getSpanId());
        }
        for (String name : List.of("run parcel", "step pack")) {
            assertThat(only(name).getParentSpanId())
                    .as(name)
                    .isEqualTo(only("start parcel").getSpanId());
        }
        SpanData sleep = only("sleep");
        assertThat(sleep.getAttributes().get(RunSpans.DURATION)).isEqualTo("PT0.05S");
        assertThat(sleep.getEndEpochNanos() - sleep.getStartEpochNanos()).isEqualTo(50_000_000);
        SpanData run = only("run order");
        assertThat(run.getStartEpochNanos()).isLessThan(sleep.getStartEpochNanos());
        assertThat(run.getEndEpochNanos()).isGreaterThan(sleep.getEndEpochNanos());
        assertThat(run.getAttributes().asMap())
                .isEqualTo(Map.of(RunSpans.RUN, "o-1", RunSpans.DEFINITION, "order", RunSpans.STATE, "COMPLETED"));
    }

    @Test
    void baggage_and_the_current_span_are_there_in_steps_and_after_waits() {
        List<String> seen = new CopyOnWriteArrayList<>();
        Definition<String, String> order = flow("order", (ctx, in) -> {
            ctx.sleep(Duration.ofMillis(20));
            seen.add("workflow " + Baggage.current().getEntryValue("tenant"));
            return ctx.stepAsync("charge", () -> {
                        seen.add("step " + Baggage.current().getEntryValue("tenant"));
                        caller().end(); // as a library does inside of the step
                        return in;
                    })
                    .await();
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            Run<String> run;
            try (Scope scope = Baggage.builder().put("tenant", "acme").build().makeCurrent()) {
                run = perdure.start(Invocation.of(order, "pen"));
            }
            run.result();
        }
        assertThat(seen).endsWith("workflow acme", "step acme");
        assertThat(only("request").getParentSpanId())
                .isEqualTo(only("step charge").getSpanId());
    }

    @Test
    void an_attempt_that_fails_has_a_span_with_the_reason_and_so_has_a_run() {
        Definition<String, String> order = flow(
                "order",
                (ctx, in) -> ctx.step(
                        "charge",
                        () -> {
                            throw new IOException("no route");
                        },
                        StepOptions.retry(2)));
        try (Tracing tracing = Tracing.of(telemetry).withExceptionMessages();
                Perdure perdure = started(tracing, order)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"));
            awaitSpan("run order");
            assertThat(run.state().isTerminal()).isTrue();
        }
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("step charge"))
                .extracting(span -> span.getAttributes().get(RunSpans.ATTEMPT))
                .containsExactly(1L, 2L);
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("step charge"))
                .allSatisfy(span -> {
                    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
                    assertThat(span.getStatus().getDescription()).isEqualTo("java.io.IOException: no route");
                    assertThat(span.getEvents()).hasSize(1);
                });
        assertThat(only("run order").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(only("run order").getStatus().getDescription()).contains("no route");
    }

    @Test
    void an_exception_that_cannot_be_read_is_recorded_as_far_as_it_can_and_stays_the_reason() {
        Definition<String, String> order = flow(
                "order",
                (ctx, in) -> ctx.step(
                        "charge",
                        () -> {
                            throw new IOException("no route") {
                                private static final long serialVersionUID = 1L;

                                @Override
                                public String getMessage() {
                                    throw new IllegalStateException("no message");
                                }
                            };
                        },
                        StepOptions.retry(1)));
        try (Tracing tracing = Tracing.of(telemetry).withExceptionMessages();
                Perdure perdure = started(tracing, order)) {
            perdure.start(Invocation.of(order, "pen"));
            awaitSpan("run order");
        }
        String reason = "(its getMessage() threw java.lang.IllegalStateException)";
        assertThat(only("step charge").getStatus().getDescription()).endsWith(reason);
        assertThat(only("step charge").getEvents()).hasSize(1);
        assertThat(only("run order").getStatus().getDescription()).contains(reason);
    }

    @Test
    void a_run_that_is_killed_while_it_waits_has_its_spans_too() {
        Topic<String> paid = Topic.of("paid", String.class);
        Definition<String, String> order =
                flow("order", (ctx, in) -> ctx.receive(paid).await());
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order)) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"));
            await().until(() -> run.state() == RunState.SUSPENDED);
            run.kill("ordered twice");
            awaitSpan("receive paid");
        }
        assertThat(only("run order").getAttributes().get(RunSpans.STATE)).isEqualTo("CANCELLED");
        assertThat(only("receive paid").getEndEpochNanos())
                .isEqualTo(only("run order").getEndEpochNanos());
    }

    /** A virtual object with one handler. */
    @VirtualObject("account")
    static class Account {
        @Handler
        String open(ObjectContext ctx) {
            return ctx.step("open", () -> "opened");
        }
    }

    @Test
    void tasks_and_calls_of_objects_have_spans() {
        Dag<String, String> dag = Dag.of("suit", String.class, d -> {
            var cut = d.task("cut", task -> task.input());
            return d.after(cut).task("sew", (task, cloth) -> cloth + "!");
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, dag, new Account())) {
            assertThat(perdure.start(dag, "x").result()).isEqualTo("x!");
            assertThat(perdure.object(Account.class, "a").call(Account::open)).isEqualTo("opened");
            List.of("run suit", "run suit/cut", "run suit/sew", "run account/open")
                    .forEach(this::awaitSpan);
        }
        for (String name : List.of("run suit", "run suit/cut", "step cut", "run suit/sew", "step sew")) {
            assertThat(only(name).getParentSpanId())
                    .as(name)
                    .isEqualTo(only("start suit").getSpanId());
        }
        for (String name : List.of("run account/open", "step open")) {
            assertThat(only(name).getParentSpanId())
                    .as(name)
                    .isEqualTo(only("start account/open").getSpanId());
        }
    }

    @Test
    void a_trace_that_is_not_sampled_stays_so_and_is_not_read() {
        Definition<String, String> order = flow(
                "order",
                (ctx, in) ->
                        ctx.step("charge", () -> Span.current().getSpanContext().getTraceId()));
        AtomicInteger reads = new AtomicInteger();
        OpenTelemetrySdk never = sdk(Sampler.parentBased(Sampler.alwaysOff()));
        Perdure[] engine = new Perdure[1];
        Tracing tracing = Tracing.of(never, () -> {
            reads.incrementAndGet();
            return engine[0];
        });
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(order)
                .interceptor(tracing)
                .listener(tracing)
                .start()) {
            engine[0] = perdure;
            Run<String> run = perdure.start(Invocation.of(order, "pen"));
            String trace = run.result();
            assertThat(run.info().description().headers().get("traceparent")).matches("00-" + trace + "-.{16}-0[02]");
            tracing.close();
        }
        never.close();
        assertThat(names()).isEmpty();
        assertThat(reads).hasValue(0);
    }

    @Test
    void a_run_without_a_caller_begins_a_trace_of_its_own() {
        Definition<String, String> order = flow("order", (ctx, in) -> ctx.step("charge", () -> in));
        OpenTelemetry openTelemetry = telemetry;
        Store store = new MemoryStore();
        // region start
        try (Tracing tracing = Tracing.of(openTelemetry);
                Perdure perdure = tracing.start(Perdure.on(store).register(order))) {
            perdure.start(Invocation.of(order, "pen")).result();
            perdure.start(Invocation.of(order, "ink")).result();
        }
        // endregion
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("start order"))
                .hasSize(2)
                .allSatisfy(span ->
                        assertThat(span.getParentSpanContext().isValid()).isFalse())
                .extracting(SpanData::getTraceId)
                .doesNotHaveDuplicates();
    }

    @Test
    void too_much_baggage_is_left_out() {
        Definition<String, String> order = flow("order", (ctx, in) -> in);
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order);
                Scope scope =
                        Baggage.builder().put("long", "x".repeat(1_000)).build().makeCurrent()) {
            Run<String> run = perdure.start(Invocation.of(order, "pen"));
            assertThat(run.info().description().headers()).containsOnlyKeys("traceparent");
        }
    }

    @Test
    void a_run_that_is_only_started_is_no_wait() {
        Definition<String, String> mail = flow("mail", (ctx, in) -> in);
        Definition<String, String> order = flow("order", (ctx, in) -> {
            ctx.spawn(Invocation.of(mail, in), StartOptions.defaults());
            ctx.sleep(Duration.ofMillis(1));
            return in;
        });
        try (Tracing tracing = Tracing.of(telemetry);
                Perdure perdure = started(tracing, order, mail)) {
            perdure.start(Invocation.of(order, "pen")).result();
            awaitSpan("run mail");
            awaitSpan("sleep");
        }
        assertThat(names()).contains("start mail").doesNotContain("child mail");
    }
}
