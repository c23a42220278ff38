package dev.perdure.testing;

import dev.perdure.Definition;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.object.ObjectHandle;
import dev.perdure.spi.Inbox;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Forwards the engine's API, so that a test reads like production code. */
abstract class ForwardingPerdure implements Perdure {
    /** The engine that starts runs now. */
    abstract Perdure engine();

    /** A handle that outlives the engine that made it. */
    abstract <R extends @Nullable Object> Run<R> lasting(Run<R> run);

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return lasting(engine().start(method, input));
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return lasting(engine().start(method, input, options));
    }

    @Override
    public <W, R extends @Nullable Object> Run<R> start(WorkflowMethod.Supplier<W, R> method) {
        return lasting(engine().start(method));
    }

    @Override
    public <W, R extends @Nullable Object> Run<R> start(WorkflowMethod.Supplier<W, R> method, StartOptions options) {
        return lasting(engine().start(method, options));
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> startVoid(
            WorkflowMethod.Consumer<W, I> method, I input) {
        return lasting(engine().startVoid(method, input));
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> startVoid(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return lasting(engine().startVoid(method, input, options));
    }

    @Override
    public <W> Run<@Nullable Void> startVoid(WorkflowMethod.Action<W> method) {
        return lasting(engine().startVoid(method));
    }

    @Override
    public <W> Run<@Nullable Void> startVoid(WorkflowMethod.Action<W> method, StartOptions options) {
        return lasting(engine().startVoid(method, options));
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Run<R> start(Definition<I, R> definition, I input) {
        return lasting(engine().start(definition, input));
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            Definition<I, R> definition, I input, StartOptions options) {
        return lasting(engine().start(definition, input, options));
    }

    @Override
    public <R extends @Nullable Object> Run<R> start(
            String definition, @Nullable Object input, TypeRef<R> resultType, StartOptions options) {
        return lasting(engine().start(definition, input, resultType, options));
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            WorkflowMethod.Function<W, I, R> method, List<I> inputs, Function<I, StartOptions> options) {
        return engine().startAll(method, inputs, options).stream()
                .map(this::lasting)
                .toList();
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            Definition<I, R> definition, List<I> inputs, Function<I, StartOptions> options) {
        return engine().startAll(definition, inputs, options).stream()
                .map(this::lasting)
                .toList();
    }

    /** A handle that outlives the engine that made it. */
    abstract <O extends @Nullable Object> DagRun<O> lasting(DagRun<O> run);

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(Dag<I, O> dag, I input) {
        return lasting(engine().start(dag, input));
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options) {
        return lasting(engine().start(dag, input, options));
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> List<DagRun<O>> startAll(
            Dag<I, O> dag, List<I> inputs, Function<I, StartOptions> options) {
        return engine().startAll(dag, inputs, options).stream()
                .<DagRun<O>>map(this::lasting)
                .toList();
    }

    @Override
    public <O extends @Nullable Object> DagRun<O> graph(RunId id, Dag<?, O> dag) {
        return lasting(engine().graph(id, dag));
    }

    @Override
    public <O> ObjectHandle<O> object(Class<O> type, String key) {
        return new LastingObject<>(this, type, key);
    }

    @Override
    public Outbox outbox(Inbox inbox) {
        return engine().outbox(inbox);
    }

    @Override
    public <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType) {
        return lasting(engine().run(id, resultType));
    }

    @Override
    public List<RunInfo> list(RunFilter filter) {
        return engine().list(filter);
    }

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        engine().send(run, topic, value);
    }

    @Override
    public <T extends @Nullable Object> void sendAll(
            Collection<RunId> runs, Topic<T> topic, Function<RunId, ? extends T> value) {
        engine().sendAll(runs, topic, value);
    }

    @Override
    public <T extends @Nullable Object> void resolveAll(
            Collection<RunId> runs, Topic<T> promise, Function<RunId, ? extends T> value) {
        engine().resolveAll(runs, promise, value);
    }

    @Override
    public <T extends @Nullable Object> int emit(Topic<T> event, T value) {
        return engine().emit(event, value);
    }

    @Override
    public <T extends @Nullable Object> int emit(Topic<T> event, String key, T value) {
        return engine().emit(event, key, value);
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        engine().resolve(token, value);
    }

    @Override
    public void reject(String token, String reason) {
        engine().reject(token, reason);
    }
}
