package dev.perdure.internal.engine;

import dev.perdure.Definition;
import dev.perdure.Outbox;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.spi.Change;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.NewRun;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns starts and cancels into changes for an inbox that somebody else commits. */
final class EngineOutbox implements Outbox {
    private final Registry registry;
    private final Starter starter;
    private final Inbox inbox;

    EngineOutbox(Registry registry, Starter starter, Inbox inbox) {
        this.registry = registry;
        this.starter = starter;
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
        return start(Engine.targetOf(definition), input, options);
    }

    @Override
    public RunId start(String definition, @Nullable Object input, StartOptions options) {
        Target target = registry.find(definition)
                .map(Registered::target)
                .orElseGet(() -> new Target(definition, input == null ? void.class : input.getClass(), void.class));
        return start(target, input, options);
    }

    private RunId start(Target target, @Nullable Object input, StartOptions options) {
        NewRun run = starter.newRun(target, input, options);
        inbox.put(List.of(new Change.Start(run, null)));
        return run.id();
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            WorkflowMethod.Function<W, I, R> method, List<I> inputs, Function<I, StartOptions> options) {
        return startAll(registry.target(method), inputs, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            Definition<I, R> definition, List<I> inputs, Function<I, StartOptions> options) {
        return startAll(Engine.targetOf(definition), inputs, options);
    }

    @SuppressWarnings("NullAway") // an input is null only where I allows it
    private <I extends @Nullable Object> List<RunId> startAll(
            Target target, List<I> inputs, Function<I, StartOptions> options) {
        List<Change> starts = new ArrayList<>();
        List<RunId> ids = new ArrayList<>();
        for (I input : inputs) {
            NewRun run = starter.newRun(target, input, options.apply(input));
            starts.add(new Change.Start(run, null));
            ids.add(run.id());
        }
        inbox.put(starts);
        return ids;
    }

    @Override
    public void cancel(RunId run, String reason) {
        Commands.requireReason(reason);
        inbox.put(List.of(new Change.Command(run, Change.Order.CANCEL, reason)));
    }
}
