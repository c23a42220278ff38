package dev.perdure.opentelemetry;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.TypeRef;
import dev.perdure.spi.report.EngineLog;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Reads the runs that this process has ended, on a thread of its own, and makes their last spans. The process that commits
 * the end of a run does it, after the commit, so no other process does it again.
 *
 * <p>Only runs whose traces are sampled are read: the code of a run tells here that it ends, with its context. A run that
 * is killed or cancelled while it waits has no code that could tell, so it is read in any case.
 */
final class EndedRuns implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.tracing");
    /** Runs that wait to be read. More than these have no last spans. */
    private static final int MOST_WAITING = 10_000;

    private final Tracer tracer;
    private final Failures failures;
    /** Runs whose code has ended, and whose end is not yet durable. */
    private final Set<RunId> expected = ConcurrentHashMap.newKeySet();

    private final ThreadPoolExecutor reader = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            Thread.ofVirtual().name("perdure-tracing-", 0).factory(),
            new ThreadPoolExecutor.DiscardPolicy());

    private volatile @Nullable Supplier<Perdure> engine;
    /** What the supplier gave: an application that is closing may not give it again, while runs still wait to be read. */
    private volatile @Nullable Perdure given;

    EndedRuns(Tracer tracer, Failures failures) {
        this.tracer = tracer;
        this.failures = failures;
    }

    EndedRuns telling(Failures told) {
        EndedRuns changed = new EndedRuns(tracer, told);
        changed.engine = engine;
        return changed;
    }

    void readFrom(Supplier<Perdure> source) {
        engine = source;
    }

    /** The code of a run has ended. Its end is not durable yet, and may never be if the worker loses the run. */
    void expect(RunId run, Context context) {
        if (isSampled(context)) {
            if (expected.size() >= MOST_WAITING) {
                expected.clear(); // runs that were lost at their end
            }
            expected.add(run);
        }
    }

    private static boolean isSampled(Context context) {
        SpanContext span = Span.fromContext(context).getSpanContext();
        return span.isValid() && span.isSampled();
    }

    /** The end of a run is durable. */
    void ended(RunId run, boolean perhapsWithoutCode) {
        Supplier<Perdure> source = engine;
        if (source != null && (expected.remove(run) || perhapsWithoutCode)) {
            reader.execute(() -> emit(source, run));
        }
    }

    private Perdure engine(Supplier<Perdure> source) {
        Perdure found = given;
        if (found == null) {
            found = source.get();
            given = found;
        }
        return found;
    }

    private void emit(Supplier<Perdure> source, RunId id) {
        try {
            Run<Object> run = engine(source).run(id, TypeRef.of(Object.class));
            RunInfo info = run.info();
            Context context = TraceHeaders.read(info.description().headers(), Context.root());
            if (isSampled(context)) {
                new RunSpans(tracer, info, context, failures).emit(run.history());
            }
        } catch (RuntimeException unreadable) { // the engine, or the application around it, is closing
            LOG.debug("Run {} cannot be read, so its trace lacks the spans of the run and its waits.", id, unreadable);
        }
    }

    @Override
    public void close() {
        reader.shutdown();
        try {
            if (!reader.awaitTermination(5, TimeUnit.SECONDS)) {
                reader.shutdownNow();
            }
        } catch (InterruptedException interrupted) {
            reader.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
