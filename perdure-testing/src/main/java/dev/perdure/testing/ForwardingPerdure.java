package dev.perdure.testing;

import dev.perdure.EventTopic;
import dev.perdure.Invocation;
import dev.perdure.Operations;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowMethod;
import dev.perdure.audit.Audits;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.EncryptedValues;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.ClosedException;
import dev.perdure.object.ObjectHandle;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.Queues;
import dev.perdure.reaction.Reactions;
import dev.perdure.retention.Retentions;
import dev.perdure.schedule.Schedules;
import dev.perdure.spi.Inbox;
import dev.perdure.status.StoreStatus;
import dev.perdure.version.Versions;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Forwards the engine's API, so that a test reads like production code. */
abstract class ForwardingPerdure implements Perdure {
    /** The engine that starts runs now. */
    abstract Perdure engine();

    /**
     * Makes a request of the engine, or of the next one if a fault has killed that engine meanwhile. A closed engine
     * refuses a request before it writes anything, so nothing is done twice.
     */
    final <T extends @Nullable Object> T ask(Function<Perdure, T> request) {
        boolean outermost = enterCall();
        try {
            return asked(request);
        } finally {
            leaveCall(outermost);
        }
    }

    /**
     * A thread of the test begins a call, during which other threads of the test do not move time. Returns whether the
     * call is not part of another one.
     */
    boolean enterCall() {
        return false;
    }

    /** @param outermost what {@link #enterCall()} has returned */
    void leaveCall(boolean outermost) {}

    private <T extends @Nullable Object> T asked(Function<Perdure, T> request) {
        Perdure asked = engine();
        try {
            return request.apply(asked);
        } catch (ClosedException killed) {
            if (engine().equals(asked)) {
                throw killed;
            }
            return asked(request);
        }
    }

    private void tell(Consumer<Perdure> request) {
        ask(engine -> {
            request.accept(engine);
            return engine;
        });
    }

    /** A handle that outlives the engine that made it. */
    abstract <R extends @Nullable Object> Run<R> lasting(Run<R> run);

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return ask(engine -> lasting(engine.start(method, input)));
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return ask(engine -> lasting(engine.start(method, input, options)));
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> start(WorkflowMethod.Consumer<W, I> method, I input) {
        return lasting(this.<Run<@Nullable Void>>ask(engine -> engine.start(method, input)));
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> start(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return lasting(this.<Run<@Nullable Void>>ask(engine -> engine.start(method, input, options)));
    }

    @Override
    public <R extends @Nullable Object> Run<R> start(Invocation<R> invocation) {
        return ask(engine -> lasting(engine.start(invocation)));
    }

    @Override
    public <R extends @Nullable Object> Run<R> start(Invocation<R> invocation, StartOptions options) {
        return ask(engine -> lasting(engine.start(invocation, options)));
    }

    @Override
    public <T extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            List<T> items, Function<? super T, Invocation<R>> invocation, Function<? super T, StartOptions> options) {
        return ask(engine -> engine.startAll(items, invocation, options)).stream()
                .map(this::lasting)
                .toList();
    }

    /** A handle that outlives the engine that made it. */
    abstract <O extends @Nullable Object> DagRun<O> lasting(DagRun<O> run);

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(Dag<I, O> dag, I input) {
        return ask(engine -> lasting(engine.start(dag, input)));
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options) {
        return ask(engine -> lasting(engine.start(dag, input, options)));
    }

    @Override
    public <O> ObjectHandle<O> object(Class<O> type, String key) {
        return new LastingObject<>(this, type, key);
    }

    @Override
    public Outbox outbox(Inbox inbox) {
        return new LastingOutbox(this, inbox);
    }

    @Override
    public <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType) {
        return ask(engine -> lasting(engine.run(id, resultType)));
    }

    @Override
    public Operations as(Operator operator) {
        return engine().as(operator);
    }

    @Override
    public Audits audit() {
        return engine().audit();
    }

    @Override
    public Queues queues() {
        return engine().queues();
    }

    @Override
    public Schedules schedules() {
        return engine().schedules();
    }

    @Override
    public Versions versions() {
        return engine().versions();
    }

    @Override
    public Retentions retention() {
        return engine().retention();
    }

    @Override
    public StoreStatus status() {
        return engine().status();
    }

    @Override
    public Reactions reactions() {
        return engine().reactions();
    }

    @Override
    public Limiters limiters() {
        return engine().limiters();
    }

    @Override
    public void rerun(RunId id) {
        tell(engine -> engine.rerun(id));
    }

    @Override
    public SelectedRuns runs(RunFilter filter) {
        return new LastingRuns(this, filter);
    }

    @Override
    public EncryptedValues encryptedValues() {
        return key -> ask(engine -> lasting(engine.encryptedValues().reencrypt(key)));
    }

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        tell(engine -> engine.send(run, topic, value));
    }

    @Override
    public <T extends @Nullable Object> void sendAll(
            Collection<RunId> runs, Topic<T> topic, Function<RunId, ? extends T> value) {
        tell(engine -> engine.sendAll(runs, topic, value));
    }

    @Override
    public <T extends @Nullable Object> void resolveAll(
            Collection<RunId> runs, Topic<T> promise, Function<RunId, ? extends T> value) {
        tell(engine -> engine.resolveAll(runs, promise, value));
    }

    @Override
    public <T extends @Nullable Object> int emit(EventTopic<T> topic, T value) {
        return ask(engine -> engine.emit(topic, value));
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        tell(engine -> engine.resolve(token, value));
    }

    @Override
    public void reject(String token, String reason) {
        tell(engine -> engine.reject(token, reason));
    }
}
