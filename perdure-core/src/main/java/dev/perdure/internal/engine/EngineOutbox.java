package dev.perdure.internal.engine;

import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.PromiseResolver;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.text.Texts;
import dev.perdure.object.ObjectSends;
import dev.perdure.schedule.ScheduleChanges;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns starts, mail and cancels into changes for an inbox, which the application commits. */
final class EngineOutbox implements Outbox {
    private final Registry registry;
    private final CallTargets targets;
    private final Starter starter;
    private final MailSender mailSender;
    private final ScheduleWrites schedules;
    private final Inbox inbox;

    EngineOutbox(
            Registry registry,
            CallTargets targets,
            Starter starter,
            MailSender mailSender,
            ScheduleWrites schedules,
            Inbox inbox) {
        this.registry = registry;
        this.targets = targets;
        this.starter = starter;
        this.mailSender = mailSender;
        this.schedules = schedules;
        this.inbox = inbox;
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public <W, I extends @Nullable Object> RunId start(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public RunId start(Invocation<?> invocation, StartOptions options) {
        return start(targets.of(invocation), invocation.input(), options);
    }

    private RunId start(Target target, @Nullable Object input, StartOptions options) {
        return start(CallTarget.of(target), input, options);
    }

    private RunId start(CallTarget callee, @Nullable Object input, StartOptions options) {
        Change.Start start = starter.request(callee, input, options).change(null);
        inbox.put(inOrder(start));
        return start.run().id();
    }

    @Override
    @SuppressWarnings("NullAway") // an item is null only where T allows it
    public <T extends @Nullable Object> List<RunId> startAll(
            List<T> items,
            Function<? super T, ? extends Invocation<?>> invocation,
            Function<? super T, StartOptions> options) {
        Texts.requireGiven("function of options", options);
        Texts.requireGiven("function of invocations", invocation);
        Texts.requireGiven("list of items", items);
        List<Change> starts = new ArrayList<>();
        List<RunId> ids = new ArrayList<>();
        for (T item : items) {
            Invocation<?> wanted = invocation.apply(item);
            Change.Start start = starter.request(targets.of(wanted), wanted.input(), options.apply(item))
                    .change(null);
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
        Texts.requireGiven("class of the object", type);
        Texts.requireName("object key", key);
        ObjectMethods.requireName(type);
        return new OutboxObject<>(key, registry::handler, this::start);
    }

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        Texts.requireGiven("run id", run);
        deliver(run, mailSender.message(run, topic, value));
    }

    @Override
    public <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name) {
        Texts.requireGiven("name of the promise", name);
        Texts.requireGiven("run id", run);
        return new PromiseResolver<>() {
            @Override
            public void resolve(T value) {
                deliver(run, mailSender.resolution(run, name, value));
            }

            @Override
            public void reject(String reason) {
                deliver(run, mailSender.rejection(run, name, reason));
            }
        };
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        inbox.put(List.of(mailSender.resolution(token, value)));
    }

    @Override
    public void reject(String token, String reason) {
        inbox.put(List.of(mailSender.rejection(token, reason)));
    }

    private void deliver(RunId run, Mail mail) {
        inbox.put(List.of(new Change.Deliver(run, mail)));
    }

    @Override
    public void cancel(RunId run, String reason) {
        Texts.requireGiven("run id", run);
        Texts.requireReason(reason);
        inbox.put(List.of(new Change.Command(run, Change.CommandKind.CANCEL, reason)));
    }

    @Override
    public ScheduleChanges schedules() {
        return new OutboxSchedules(schedules, mailSender, inbox);
    }
}
