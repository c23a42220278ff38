package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.object.LocalCaller.Reply;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.change.ObjectKey;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The {@link CallPipeline}s of one worker session, by the virtual object whose calls they execute. */
public final class CallPipelines {
    private final PipelineHost host;
    private final Map<ObjectKey, CallPipeline> byObject = new ConcurrentHashMap<>();
    /**
     * Handlers that have done more than read and write the state: their calls join a pipeline only when the store knows
     * them.
     */
    private final Set<String> excluded = ConcurrentHashMap.newKeySet();

    private final AtomicLong provisionalKeys = new AtomicLong();

    /** No pipelines yet. */
    public CallPipelines(PipelineHost host) {
        this.host = host;
    }

    PipelineHost host() {
        return host;
    }

    /** Executes a call that holds the object, and then the calls that are known to wait behind it. */
    public void launch(ObjectKey object, HeldRun held, Journals.Page journal, List<Claimed> next) {
        CallPipeline expected = byObject.computeIfAbsent(object, key -> new CallPipeline(this, key, true));
        if (!expected.begin(held, journal, next)) {
            CallPipeline another = new CallPipeline(this, object, true);
            byObject.put(object, another);
            another.begin(held, journal, next);
        }
    }

    /** A pipeline behind a call that is about to be started, unless the object already has one. */
    public Optional<CallPipeline> open(ObjectKey object) {
        CallPipeline pipeline = new CallPipeline(this, object, false);
        return byObject.putIfAbsent(object, pipeline) == null ? Optional.of(pipeline) : Optional.empty();
    }

    /** Executes a call for a caller in this process, behind other calls of the same object, if that is possible. */
    public Reply execute(LocalCaller caller, ObjectKey object) {
        CallPipeline pipeline = byObject.get(object);
        return pipeline != null && !excluded.contains(caller.run().definition())
                ? pipeline.execute(caller)
                : new Reply.NotStored();
    }

    /** A call of this object is about to be started outside the pipeline. */
    public void expect(ObjectKey object, RunId call) {
        CallPipeline pipeline = byObject.get(object);
        if (pipeline != null) {
            pipeline.expect(call);
        }
    }

    /** The start of that call has returned. The call now waits for the object in the store, or it does not. */
    public void started(ObjectKey object, RunId call, boolean waits) {
        CallPipeline pipeline = byObject.get(object);
        if (pipeline != null) {
            pipeline.started(call, waits);
        }
    }

    /** The session is over: no pipeline writes anything more. */
    public void abandon() {
        byObject.values().forEach(CallPipeline::abandon);
    }

    void remove(CallPipeline pipeline) {
        byObject.remove(pipeline.object(), pipeline);
    }

    void exclude(Registered handler) {
        excluded.add(handler.target().name());
    }

    /** A key for a run that is not in the store yet. No run in the store has it. */
    long provisionalKey() {
        return provisionalKeys.decrementAndGet();
    }
}
