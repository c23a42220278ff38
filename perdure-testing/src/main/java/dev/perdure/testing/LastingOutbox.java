package dev.perdure.testing;

import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.PromiseResolver;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowMethod;
import dev.perdure.object.ObjectSends;
import dev.perdure.schedule.ScheduleChanges;
import dev.perdure.spi.Inbox;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An outbox that asks for the engine with each request: a test makes it before it registers workflows, and it outlives
 * engines that crash.
 */
record LastingOutbox(ForwardingPerdure perdure, Inbox inbox) implements Outbox {
    private Outbox present() {
        return perdure.engine().outbox(inbox);
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return present().start(method, input, options);
    }

    @Override
    public <W, I extends @Nullable Object> RunId start(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return present().start(method, input, options);
    }

    @Override
    public RunId start(Invocation<?> invocation, StartOptions options) {
        return present().start(invocation, options);
    }

    @Override
    public <T extends @Nullable Object> List<RunId> startAll(
            List<T> items,
            Function<? super T, ? extends Invocation<?>> invocation,
            Function<? super T, StartOptions> options) {
        return present().startAll(items, invocation, options);
    }

    @Override
    public <O> ObjectSends<O> object(Class<O> type, String key) {
        return present().object(type, key);
    }

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        present().send(run, topic, value);
    }

    @Override
    public <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name) {
        return present().promise(run, name);
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        present().resolve(token, value);
    }

    @Override
    public void reject(String token, String reason) {
        present().reject(token, reason);
    }

    @Override
    public void cancel(RunId run, String reason) {
        present().cancel(run, reason);
    }

    @Override
    public ScheduleChanges schedules() {
        return present().schedules();
    }
}
