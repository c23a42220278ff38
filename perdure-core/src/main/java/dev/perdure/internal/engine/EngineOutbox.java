package dev.perdure.internal.engine;

import dev.perdure.Definition;
import dev.perdure.Outbox;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.text.Texts;
import dev.perdure.object.ObjectSends;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns starts, mail and cancels into changes for an inbox that the application commits. */
final class EngineOutbox implements Outbox {
    private final Registry registry;
    private final TypedDags graphs;
    private final Starter starter;
    private final MailSender mailroom;
    private final Inbox inbox;

    EngineOutbox(Registry registry, TypedDags graphs, Starter starter, MailSender mailroom, Inbox inbox) {
        this.registry = registry;
        this.graphs = graphs;
        this.starter = starter;
        this.mailroom = mailroom;
        this.inbox = inbox;
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public <W, R extends @Nullable Object> RunId start(WorkflowMethod.Supplier<W, R> method, StartOptions options) {
        return start(registry.target(method), null, options);
    }

    @Override
    public <W, I extends @Nullable Object> RunId startVoid(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public <W> RunId startVoid(WorkflowMethod.Action<W> method, StartOptions options) {
        return start(registry.target(method), null, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> RunId start(
            Definition<I, R> definition, I input, StartOptions options) {
        return start(Target.of(definition), input, options);
    }

    @Override
    public RunId start(String definition, @Nullable Object input, StartOptions options) {
        Target target = registry.find(definition)
                .map(Registered::target)
                .orElseGet(() -> new Target(definition, input == null ? void.class : input.getClass(), void.class));
        return start(target, input, options);
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> RunId start(
            Dag<I, O> graph, I input, StartOptions options) {
        return start(graphs.of(graph).callee(), input, options);
    }

    private RunId start(Target target, @Nullable Object input, StartOptions options) {
        return start(CallTarget.of(target), input, options);
    }

    private RunId start(CallTarget callee, @Nullable Object input, StartOptions options) {
        Change.Start start = starter.order(callee, input, options).change(null);
        inbox.put(inOrder(start));
        return start.run().id();
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            WorkflowMethod.Function<W, I, R> method, List<I> inputs, Function<I, StartOptions> options) {
        return startAll(CallTarget.of(registry.target(method)), inputs, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            Definition<I, R> definition, List<I> inputs, Function<I, StartOptions> options) {
        return startAll(CallTarget.of(Target.of(definition)), inputs, options);
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> List<RunId> startAll(
            Dag<I, O> graph, List<I> inputs, Function<I, StartOptions> options) {
        return startAll(graphs.of(graph).callee(), inputs, options);
    }

    @SuppressWarnings("NullAway") // an input is null only where I allows it
    private <I extends @Nullable Object> List<RunId> startAll(
            CallTarget callee, List<I> inputs, Function<I, StartOptions> options) {
        List<Change> starts = new ArrayList<>();
        List<RunId> ids = new ArrayList<>();
        for (I input : inputs) {
            Change.Start start =
                    starter.order(callee, input, options.apply(input)).change(null);
            starts.addAll(inOrder(start));
            ids.add(start.run().id());
        }
        inbox.put(starts);
        return ids;
    }

    /** A start, and then the messages that come with it. */
    private static List<Change> inOrder(Change.Start start) {
        List<Change> changes = new ArrayList<>();
        changes.add(new Change.Start(start.run(), null, List.of(), start.tasks()));
        start.mails().forEach(mail -> changes.add(new Change.Deliver(start.run().id(), mail)));
        return changes;
    }

    @Override
    public <O> ObjectSends<O> object(Class<O> type, String key) {
        ObjectMethods.requireName(type);
        Texts.requireName("object key", key);
        return new OutboxObject<>(key, registry::handler, this::start);
    }

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        deliver(run, mailroom.message(topic, value));
    }

    @Override
    public <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value) {
        deliver(run, mailroom.resolution(promise, value));
    }

    @Override
    public void reject(RunId run, Topic<?> promise, String reason) {
        deliver(run, mailroom.rejection(promise, reason));
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        inbox.put(List.of(mailroom.resolution(token, value)));
    }

    @Override
    public void reject(String token, String reason) {
        inbox.put(List.of(mailroom.rejection(token, reason)));
    }

    private void deliver(RunId run, Mail mail) {
        inbox.put(List.of(new Change.Deliver(run, mail)));
    }

    @Override
    public void cancel(RunId run, String reason) {
        Texts.requireReason(reason);
        inbox.put(List.of(new Change.Command(run, Change.Order.CANCEL, reason)));
    }
}
