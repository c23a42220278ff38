package dev.perdure.internal.engine;

import dev.perdure.EventTopic;
import dev.perdure.Invocation;
import dev.perdure.KeyedTopic;
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
import dev.perdure.dag.Outputs;
import dev.perdure.internal.bulk.BulkCommands;
import dev.perdure.internal.bulk.BulkFunction;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.Commands;
import dev.perdure.internal.command.Commits;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.commit.PartCommitters;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.dag.TypedDag;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.handle.DagHandle;
import dev.perdure.internal.handle.EndedRunHandle;
import dev.perdure.internal.handle.ForkWriter;
import dev.perdure.internal.handle.RunHandle;
import dev.perdure.internal.object.LocalCaller.Reply;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.reencryption.ReencryptionFunction;
import dev.perdure.internal.schedule.SpecWriter;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.internal.waiter.ProgressWaiters;
import dev.perdure.internal.waiter.ResultWaiters;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.internal.worker.Listeners;
import dev.perdure.internal.worker.Session;
import dev.perdure.internal.worker.Worker;
import dev.perdure.internal.worker.WorkerLimits;
import dev.perdure.internal.worker.Workers;
import dev.perdure.object.ObjectHandle;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.Queues;
import dev.perdure.reaction.Reactions;
import dev.perdure.retention.Retention;
import dev.perdure.retention.Retentions;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Schedules;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Parts;
import dev.perdure.status.StoreStatus;
import dev.perdure.version.Versions;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of the public API: starts through {@link Starter}, handles to runs, start and close of the engine.
 */
public final class Engine implements Perdure, EngineView.Source {
    private final Settings settings;
    private final TypedDags dags;
    private final Registry registry;
    private final CallTargets targets;
    private final Waiters<RunRef, Runs.Ended> resultWaiters;
    private final Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progressWaiters;
    private final RunHandle.Services services;
    private final MailSender mailSender;
    private final Starter starter;
    private final MailSender outboxMail;
    private final Starter outboxStarter;
    private final ScheduleWrites scheduleWrites;
    private final BulkCommands bulkCommands;
    private final EngineOperations operations;
    private final Workers workers;
    private final List<Hints.Subscription> hints = new ArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private Engine(Settings settings) {
        this.settings = settings;
        this.dags = new TypedDags(settings.registrations(), settings.rules().stepTypes());
        List<Schedule> declared = DeclaredSchedules.of(settings);
        this.registry = new Registry(definitions(declared), settings.rules().codec());
        settings.store().queues().declare(settings.queues());
        settings.store().permits().declare(settings.limiters());
        Retention declaredRetention = settings.retention();
        if (declaredRetention != null) {
            settings.store().removals().declare(declaredRetention);
        }
        Listeners listeners = new Listeners(settings.listeners(), settings.clockwork());
        this.resultWaiters = new Waiters<>(
                "results",
                settings.clockwork(),
                new ResultWaiters(settings.store().runs(), this::isHere));
        this.progressWaiters = new Waiters<>(
                "progress",
                settings.clockwork(),
                new ProgressWaiters(settings.store().mailboxes()));
        Parts parts = settings.parts();
        PartCommitters clients =
                new PartCommitters(parts, settings.ledger(), settings.clockwork(), () -> !closed.get());
        WorkerLimits limits = new WorkerLimits(settings.store().queues()::known, settings.clockwork()::nanoTime);
        this.workers = settings.worker() == null
                ? Workers.none(parts)
                : Workers.joining(parts, part -> worker(part, listeners, clients, limits));
        Commits commits = new Commits(settings, workers, clients, closed::get);
        Auditor auditor = new Auditor(settings.operator(), settings.clockwork());
        Commands commands = new Commands(commits, listeners, settings.store().runs(), auditor);
        this.mailSender = new MailSender(settings, commits);
        this.targets = new CallTargets(registry, dags);
        settings.store().reactions().declare(EngineReactions.declared(settings.registrations(), targets));
        this.services = new RunHandle.Services(
                settings, dags, resultWaiters, progressWaiters, commands, mailSender, auditor, closed::get);
        this.starter = new Starter(settings, registry, workers, commits, mailSender);
        // A caller's own transaction may stay open for long, or never commit: what it passes stays inside of it.
        this.outboxMail = new MailSender(settings.inline(), commits);
        this.outboxStarter = new Starter(settings.inline(), registry, workers, commits, outboxMail);
        Values values = new Values(settings.rules().codec(), settings.rules().maxPayloadBytes());
        this.scheduleWrites =
                new ScheduleWrites(new SpecWriter(targets, values), values, mailSender, commits, settings.clockwork());
        this.bulkCommands =
                new BulkCommands(commits, commands, new ForkWriter(settings)::fork, settings.store(), listeners);
        this.operations = new EngineOperations(services, scheduleWrites, starter);
        operations.schedules().declare(declared);
        for (int part = 0; part < parts.stores().size(); part++) {
            int from = part;
            hints.add(parts.stores().get(part).hints().subscribe(hint -> hint(from, hint)));
        }
    }

    /** What was registered, and the engine's own definitions. */
    private List<Object> definitions(List<Schedule> declared) {
        List<Object> all = new ArrayList<>(DeclaredSchedules.definitions(dags, declared));
        all.add(new BulkFunction(settings.store().runs(), this::bulkCommands).registered());
        PayloadCodec codec = settings.rules().codec();
        if (codec.key().isPresent()) {
            all.add(new ReencryptionFunction(settings.store(), codec).registered());
        }
        return all;
    }

    private BulkCommands bulkCommands() {
        return bulkCommands;
    }

    /** Checks the registrations, joins the store and begins to work. */
    public static Engine start(Settings settings) {
        Engine engine = new Engine(settings);
        engine.resultWaiters.start();
        engine.progressWaiters.start();
        engine.workers.start();
        return engine;
    }

    private boolean isHere(RunRef run) {
        return workers.areHolding(run);
    }

    /** The worker that can hold a run, for the runs of other workers. */
    private WorkerId workerOf(RunId run) {
        return Objects.requireNonNull(workers.of(run)).session().id();
    }

    private Worker worker(int part, Listeners listeners, PartCommitters clients, WorkerLimits limits) {
        Settings ofPart = settings.on(settings.parts().stores().get(part));
        StoreClock clock = new StoreClock(settings.clockwork());
        return new Worker(
                ofPart,
                Objects.requireNonNull(ofPart.worker()),
                registry,
                new Session.Shared(part, clock, resultWaiters, listeners, registry, dags, clients, this::workerOf),
                limits);
    }

    private void hint(int part, Hints.Hint hint) {
        if (hint instanceof Hints.RunEnded ended) {
            resultWaiters.hint(ended.run());
            progressWaiters.hint(ended.run());
        }
        if (hint instanceof Hints.RunShows shows) {
            progressWaiters.hint(shows.run());
        }
        workers.hint(part, hint);
    }

    // ---- starting

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return start(method, input, StartOptions.defaults());
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> start(WorkflowMethod.Consumer<W, I> method, I input) {
        return start(method, input, StartOptions.defaults());
    }

    @Override
    public <W, I extends @Nullable Object> Run<@Nullable Void> start(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options) {
        return start(registry.target(method), input, options);
    }

    @Override
    public <R extends @Nullable Object> Run<R> start(Invocation<R> invocation) {
        return start(invocation, StartOptions.defaults());
    }

    @Override
    public <R extends @Nullable Object> Run<R> start(Invocation<R> invocation, StartOptions options) {
        CallTarget callee = targets.of(invocation);
        return handle(invocation, starter.start(callee, invocation.input(), options), callee);
    }

    /** The run of a DAG has a handle that can read the DAG's outputs. */
    private <R extends @Nullable Object> Run<R> handle(Invocation<R> invocation, RunRef run, CallTarget callee) {
        boolean givesDag =
                invocation instanceof Invocation.OfDag || callee.target().resultType() == Outputs.class;
        return targets.dag(invocation)
                .filter(dag -> givesDag)
                .<Run<R>>map(dag -> new DagHandle<>(run, dag, services))
                .orElseGet(() -> handle(run, callee.target().resultType()));
    }

    private <R extends @Nullable Object> Run<R> start(Target target, @Nullable Object input, StartOptions options) {
        return call(CallTarget.of(target), input, options);
    }

    private <R extends @Nullable Object> Run<R> call(CallTarget callee, @Nullable Object input, StartOptions options) {
        return handle(starter.start(callee, input, options), callee.target().resultType());
    }

    @Override
    public <O> ObjectHandle<O> object(Class<O> type, String key) {
        Texts.requireGiven("class of the object", type);
        Texts.requireName("object key", key);
        ObjectKey object = new ObjectKey(ObjectMethods.requireName(type), key);
        return new EngineObject<>(object, new Calls(), registry::handler, settings);
    }

    /** Makes the calls of virtual objects. */
    private final class Calls implements EngineObject.Caller {
        @Override
        public <R extends @Nullable Object> Run<R> start(
                CallTarget callee, @Nullable Object input, StartOptions options) {
            return Engine.this.call(callee, input, options);
        }

        @Override
        public <R extends @Nullable Object> Run<R> call(CallTarget callee, @Nullable Object input) {
            Type type = callee.target().resultType();
            return switch (starter.call(callee, input)) {
                case Reply.Ended(Runs.Ended ended) -> new EndedRunHandle<>(ended, type, services);
                case Reply.Stored(RunRef run) -> handle(run, type);
                case Reply.NotStored left -> throw new IllegalStateException("Not started: " + callee);
                case Reply.StartFirst first -> throw new IllegalStateException("Not started: " + callee);
            };
        }
    }

    @Override
    @SuppressWarnings("NullAway") // an item is null only where T allows it
    public <T extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            List<T> items, Function<? super T, Invocation<R>> invocation, Function<? super T, StartOptions> options) {
        Texts.requireGiven("function of options", options);
        Texts.requireGiven("function of invocations", invocation);
        Texts.requireGiven("list of items", items);
        List<Invocation<R>> invocations = new ArrayList<>();
        List<CallTarget> callees = new ArrayList<>();
        List<Starter.StartRequest> requests = new ArrayList<>();
        for (T item : items) {
            Invocation<R> wanted = invocation.apply(item);
            CallTarget callee = targets.of(wanted);
            invocations.add(wanted);
            callees.add(callee);
            requests.add(starter.request(callee, wanted.input(), options.apply(item)));
        }
        List<RunRef> started = starter.startAll(requests);
        List<Run<R>> runs = new ArrayList<>();
        for (int i = 0; i < started.size(); i++) {
            runs.add(handle(invocations.get(i), started.get(i), callees.get(i)));
        }
        return runs;
    }

    // ---- DAGs

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(Dag<I, O> dag, I input) {
        return start(dag, input, StartOptions.defaults());
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options) {
        TypedDag typed = dags.of(dag);
        return new DagHandle<>(starter.start(typed.callee(), input, options), typed, services);
    }

    /** As {@link #adopt(Run)}, for the run of a DAG. */
    public <O extends @Nullable Object> DagRun<O> adopt(DagRun<O> run) {
        if (!(run instanceof DagHandle<O> handle)) {
            throw new IllegalArgumentException("Not a handle of this library: " + run);
        }
        return new DagHandle<>(handle.ref(), handle.dag(), services);
    }

    @Override
    public Outbox outbox(Inbox inbox) {
        Texts.requireGiven("inbox", inbox);
        return new EngineOutbox(registry, targets, outboxStarter, outboxMail, scheduleWrites, inbox);
    }

    // ---- handles

    private <R extends @Nullable Object> Run<R> handle(RunRef ref, Type resultType) {
        return new RunHandle<>(ref, resultType, services);
    }

    /** A handle to the same run through this engine. For tests, whose handles outlive the engines that they restart. */
    public <R extends @Nullable Object> Run<R> adopt(Run<R> run) {
        if (!(run instanceof RunHandle<R> handle)) {
            throw new IllegalArgumentException("Not a handle of this library: " + run);
        }
        if (run instanceof DagHandle<R> dag) {
            return new DagHandle<>(dag.ref(), dag.dag(), services);
        }
        return handle(handle.ref(), handle.resultType());
    }

    @Override
    public <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType) {
        return operations.run(id, resultType);
    }

    @Override
    public Operations as(Operator operator) {
        Texts.requireGiven("operator", operator);
        Auditor auditor = new Auditor(operator, settings.clockwork());
        return new EngineOperations(services.of(auditor), scheduleWrites, starter);
    }

    @Override
    public Audits audit() {
        return filter -> {
            Texts.requireGiven("filter", filter);
            return settings.store().runs().audited(filter);
        };
    }

    // ---- mail

    @Override
    public <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value) {
        Texts.requireGiven("run id", run);
        Texts.requireGiven("topic", topic);
        mailSender.deliver(run, mailSender.message(run, topic, value));
    }

    @Override
    public <T extends @Nullable Object> void sendAll(
            Collection<RunId> runs, Topic<T> topic, Function<RunId, ? extends T> value) {
        Texts.requireGiven("function of values", value);
        Texts.requireGiven("topic", topic);
        List<RunId> all = Texts.requireElements("collection of runs", "run id", runs);
        mailSender.deliverAll(all, run -> mailSender.<T>message(run, topic, value.apply(run)));
    }

    @Override
    public <T extends @Nullable Object> void resolveAll(
            Collection<RunId> runs, Topic<T> promise, Function<RunId, ? extends T> value) {
        Texts.requireGiven("function of values", value);
        Texts.requireGiven("name of the promise", promise);
        List<RunId> all = Texts.requireElements("collection of runs", "run id", runs);
        mailSender.deliverAll(all, run -> mailSender.<T>resolution(run, promise, value.apply(run)));
    }

    @Override
    public <T extends @Nullable Object> int emit(EventTopic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        return switch (topic) {
            case Topic<T> any -> mailSender.emit(any, "", value);
            case KeyedTopic<T> keyed -> mailSender.emit(keyed.topic(), keyed.key(), value);
        };
    }

    @Override
    public void resolve(String token, @Nullable Object value) {
        mailSender.resolve(token, value);
    }

    @Override
    public void reject(String token, String reason) {
        mailSender.reject(token, reason);
    }

    @Override
    public void rerun(RunId id) {
        operations.rerun(id);
    }

    @Override
    public SelectedRuns runs(RunFilter filter) {
        return operations.runs(filter);
    }

    @Override
    public EncryptedValues encryptedValues() {
        return operations.encryptedValues();
    }

    @Override
    public Queues queues() {
        return operations.queues();
    }

    @Override
    public Schedules schedules() {
        return operations.schedules();
    }

    @Override
    public Limiters limiters() {
        return operations.limiters();
    }

    @Override
    public Versions versions() {
        return operations.versions();
    }

    @Override
    public Reactions reactions() {
        return operations.reactions();
    }

    @Override
    public Retentions retention() {
        return operations.retention();
    }

    @Override
    public StoreStatus status() {
        return settings.store().status();
    }

    @Override
    public EngineView view() {
        return new AttachedView(
                services, registry, new AttachedView.Waiting(resultWaiters, progressWaiters, closed::get), new Calls());
    }

    // ---- the end

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            hints.forEach(Hints.Subscription::close);
            workers.close();
            resultWaiters.close();
            progressWaiters.close();
            settings.rules().measurements().closed(this);
        }
    }

    /** Stops as if the process had been killed: writes nothing more. For tests of recovery. */
    public void crash() {
        if (closed.compareAndSet(false, true)) {
            hints.forEach(Hints.Subscription::close);
            workers.crash();
            resultWaiters.close();
            progressWaiters.close();
        }
    }
}
