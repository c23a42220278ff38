package dev.perdure.opentelemetry;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.RunChange;
import dev.perdure.RunListener;
import dev.perdure.RunState;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.SendCall;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.Unwinding;
import dev.perdure.interceptor.WorkflowCall;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A trace for each run. A start makes a span, and its context stays with the run: whenever and wherever a worker enters
 * the code, that context is the current one, so that the spans of steps, of children and of the application's own code
 * belong to the trace. At the end of the run follow the span of the run and those of its waits. A replay makes no spans.
 *
 * <pre>{@code
 * try (Tracing tracing = Tracing.of(openTelemetry);
 *         Perdure perdure = tracing.start(Perdure.on(store).register(new Orders()))) {
 *     …
 * }
 * }</pre>
 *
 * <p>{@code docs/operate/tracing.md} lists the spans and their attributes. Safe for use by several threads.
 */
public final class Tracing implements Interceptor, RunListener, AutoCloseable {
    private final Tracer tracer;
    private final EndedRuns ended;
    private final Failures failures;

    private Tracing(Tracer tracer, EndedRuns ended, Failures failures) {
        this.tracer = tracer;
        this.ended = ended;
        this.failures = failures;
    }

    /** Tracing for one engine, which {@link #start} makes. */
    public static Tracing of(OpenTelemetry openTelemetry) {
        Tracer tracer = openTelemetry.getTracer("dev.perdure");
        Failures told = new Failures(false);
        return new Tracing(tracer, new EndedRuns(tracer, told), told);
    }

    /**
     * Tracing for an engine that others make, such as a framework. Register it both as an interceptor and as a listener of
     * that engine.
     *
     * @param engine gives the engine, once it has started
     */
    public static Tracing of(OpenTelemetry openTelemetry, Supplier<Perdure> engine) {
        Tracing tracing = of(openTelemetry);
        tracing.ended.readFrom(engine);
        return tracing;
    }

    /**
     * The same with the messages and stack traces of exceptions in its spans. Without this, spans have only the class of an
     * exception, because a message may hold data of the application, and traces often leave it. Use it in place of this one.
     */
    public Tracing withExceptionMessages() {
        Failures told = new Failures(true);
        return new Tracing(tracer, ended.telling(told), told);
    }

    /** Starts an engine whose runs are traced. Close the engine before this. */
    public Perdure start(PerdureBuilder builder) {
        Perdure perdure = builder.interceptor(this).listener(this).start();
        ended.readFrom(() -> perdure);
        return perdure;
    }

    @Override
    public StartCall start(StartCall call) {
        Context current = Context.current();
        Context parent = Span.fromContext(current).getSpanContext().isValid()
                ? current
                : TraceHeaders.read(call.headers(), current);
        Span span = RunSpans.of(tracer, "start " + call.definition(), call.run(), call.definition())
                .setParent(parent)
                .setSpanKind(SpanKind.PRODUCER)
                .setAttribute(RunSpans.QUEUE, call.queue())
                .startSpan();
        span.end();
        return span.getSpanContext().isValid() ? TraceHeaders.write(call, parent.with(span)) : call;
    }

    /** What a run sends without a trace of its own, such as one that SQL has started, begins none. */
    @Override
    public SendCall send(SendCall call) {
        Context current = Context.current();
        if (call.sentBy().isPresent()
                && !Span.fromContext(current).getSpanContext().isValid()) {
            return call;
        }
        SpanBuilder builder = tracer.spanBuilder(("send " + call.name()).strip())
                .setParent(current)
                .setSpanKind(SpanKind.PRODUCER)
                .setAttribute(RunSpans.SENT, call.kind().name().toLowerCase(Locale.ROOT));
        call.to().ifPresent(run -> builder.setAttribute(RunSpans.RUN, run.value()));
        call.sentBy().ifPresent(run -> builder.setAttribute(RunSpans.SENDER, run.value()));
        Span span = builder.startSpan();
        span.end();
        return span.getSpanContext().isSampled() ? TraceHeaders.write(call, current.with(span)) : call;
    }

    @Override
    public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
        Context context = TraceHeaders.read(call.headers(), Context.root());
        Callable<T> inContext = context.wrap(code);
        return () -> {
            boolean leaves = false;
            try {
                return inContext.call();
            } catch (Unwinding left) {
                leaves = true;
                throw left;
            } finally {
                if (!leaves) {
                    ended.expect(call.run(), context);
                }
            }
        };
    }

    @Override
    public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
        Context context = Context.current();
        String name = RunSpans.stepName(call.step());
        return () -> {
            Span span = RunSpans.of(tracer, "step " + name, call.run(), call.definition())
                    .setParent(context)
                    .setAttribute(RunSpans.STEP, name)
                    .setAttribute(RunSpans.ATTEMPT, (long) call.attempt())
                    .startSpan();
            try {
                return context.with(span).wrap(body).call();
            } catch (Throwable thrown) {
                failures.attempt(span, thrown);
                throw thrown;
            } finally {
                span.end();
            }
        };
    }

    /** For the engine: a run has changed its state. */
    @Override
    public void changed(RunChange change) {
        if (change.state().isTerminal()) {
            ended.ended(change.runId(), change.state() == RunState.CANCELLED);
        }
    }

    /** Waits a little for the spans of the runs that have ended. */
    @Override
    public void close() {
        ended.close();
    }
}
