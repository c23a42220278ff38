package dev.perdure.internal.execution;

import dev.perdure.Attempt;
import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.ContextMisuseException;
import dev.perdure.Dag;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.InvalidRequestException;
import dev.perdure.ObjectCalls;
import dev.perdure.PayloadException;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Settled;
import dev.perdure.StartOptions;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.TimedOutException;
import dev.perdure.Topic;
import dev.perdure.TransactionAction;
import dev.perdure.TransactionBody;
import dev.perdure.TransactionOptions;
import dev.perdure.TransactionSource;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.spi.Entry;
import dev.perdure.spi.ObjectCall;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Premise;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Transactor;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one execution: what user code sees of {@link Steps}, {@link Futures}, {@link Children} and {@link Letters}. */
class RunContext implements EngineContext {
    private final Held held;
    private final Host host;
    private final Transitions transitions;
    private final Calls calls;
    private final Values values;
    private final Steps steps;
    private final Futures futures;
    private final Children children;
    private final Letters letters;
    private final Derived derived;
    private final Logger logger;
    private final Map<String, Boolean> patches = new HashMap<>();

    /** What a context is made of. */
    record Parts(Held held, Host host, Transitions transitions, BodyGuard guard, Replay replay, Values values) {}

    RunContext(Parts parts) {
        this.held = parts.held();
        this.host = parts.host();
        this.transitions = parts.transitions();
        this.values = parts.values();
        this.derived = new Derived(held.run().id(), held.seed());
        this.steps = new Steps(host, transitions, parts.guard(), values, derived);
        this.calls = new Calls(
                held,
                transitions,
                parts.replay(),
                thread -> steps.current(thread).isPresent());
        this.futures = new Futures(calls, host, transitions, steps, values);
        this.letters =
                new Letters(calls, transitions, futures, values, derived, new Inbox(held, host, transitions), host);
        this.children = new Children(held, host, calls, transitions, futures, letters, values, derived);
        this.logger = new ReplayLogger(
                LoggerFactory.getLogger(
                        "dev.perdure.workflow." + held.definition().target().name()),
                calls::replaying);
    }

    /** The context of this run: of a workflow, or of a call of a virtual object. */
    static RunContext of(Parts parts) {
        ObjectCall call = parts.held().object();
        if (call == null) {
            return new RunContext(parts);
        }
        return switch (call.hold()) {
            case SHARED -> new SharedRunContext(parts, call.object());
            case EXCLUSIVE, ON_ARRIVAL ->
                new ObjectRunContext(parts, call.object(), parts.held().known());
        };
    }

    StateCalls stateCalls(StateSource source) {
        return new StateCalls(calls, transitions, values, source);
    }

    /** The bodies and children of this run. */
    Futures futures() {
        return futures;
    }

    /** The workflow has returned. */
    void close() {
        calls.close();
    }

    @Override
    public RunId runId() {
        return held.run().id();
    }

    // ---- steps

    @Override
    public <T extends @Nullable Object> T step(String name, StepBody<T> body) {
        return step(name, body, StepOptions.defaults());
    }

    @Override
    public <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options) {
        return this.<T>step(name, typeOf(name, body), body::call, options);
    }

    @Override
    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body) {
        return step(name, type, body, StepOptions.defaults());
    }

    @Override
    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body, StepOptions options) {
        return this.<T>step(name, typeOf(type), body::call, options);
    }

    @Override
    public void run(String name, StepAction body) {
        run(name, body, StepOptions.defaults());
    }

    @Override
    public void run(String name, StepAction body, StepOptions options) {
        this.<@Nullable Void>step(name, void.class, callable(body), options);
    }

    private Type typeOf(String name, StepBody<?> body) {
        Texts.requireName("step name", name);
        return host.rules().stepTypes().of(body, name);
    }

    private Type typeOf(TypeRef<?> type) {
        host.rules().codec().check(type.type());
        return type.type();
    }

    private static Callable<@Nullable Void> callable(StepAction body) {
        return () -> {
            body.run();
            return null;
        };
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    private <T extends @Nullable Object> T step(String name, Type type, Callable<T> body, StepOptions options) {
        Texts.requireName("step name", name);
        Call call = calls.take("step", Entry.Kind.STEP, name);
        return (T) steps.perform(call, calls.past(call), type, body, options);
    }

    // ---- transactions

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body) {
        return transaction(name, source, body, TransactionOptions.defaults());
    }

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options) {
        Texts.requireName("transaction name", name);
        return transaction(name, source, host.rules().stepTypes().of(body, name), body, options);
    }

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name,
            TransactionSource<C> source,
            TypeRef<T> type,
            TransactionBody<C, T> body,
            TransactionOptions options) {
        host.rules().codec().check(type.type());
        return transaction(name, source, type.type(), body, options);
    }

    @Override
    public <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body) {
        transact(name, source, body, TransactionOptions.defaults());
    }

    @Override
    public <C> void transact(
            String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options) {
        this.<C, @Nullable Object>transaction(
                name,
                source,
                void.class,
                handle -> {
                    body.run(handle);
                    return null;
                },
                options);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    private <C, T extends @Nullable Object> T transaction(
            String name,
            TransactionSource<C> source,
            Type type,
            TransactionBody<C, T> body,
            TransactionOptions options) {
        Texts.requireName("transaction name", name);
        if (!(source instanceof Transactor<C> transactor)) {
            throw new InvalidRequestException(
                    "The source of transaction '%s' is %s, which cannot run any. Take one from a module that knows databases, such as PostgresTransactions.on(store)."
                            .formatted(name, source));
        }
        Call call = calls.take("transaction", Entry.Kind.TRANSACTION, name);
        Steps.Doing doing = new TransactionAttempts<>(call, held, host, transitions, transactor, body, options);
        return (T) steps.perform(call, calls.past(call), type, doing, options.step());
    }

    // ---- futures

    @Override
    public <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body) {
        return stepAsync(name, body, StepOptions.defaults());
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body, StepOptions options) {
        return futures.step(name, typeOf(name, body), body::call, options);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> stepAsync(
            String name, TypeRef<T> type, StepBody<T> body, StepOptions options) {
        Texts.requireName("step name", name);
        return futures.step(name, typeOf(type), body::call, options);
    }

    @Override
    public DurableFuture<@Nullable Void> runAsync(String name, StepAction body) {
        return runAsync(name, body, StepOptions.defaults());
    }

    @Override
    public DurableFuture<@Nullable Void> runAsync(String name, StepAction body, StepOptions options) {
        Texts.requireName("step name", name);
        return futures.step(name, void.class, callable(body), options);
    }

    @Override
    public DurableFuture<@Nullable Void> timer(Duration duration) {
        return futures.timer("timer", duration);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<List<T>> all(List<? extends DurableFuture<? extends T>> parts) {
        return futures.all(parts);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> parts) {
        return futures.allSettled(parts);
    }

    @Override
    public DurableFuture<Integer> any(List<? extends DurableFuture<?>> parts) {
        return futures.any(parts);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> race(List<? extends DurableFuture<? extends T>> parts) {
        return futures.race(parts);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> firstSucceeded(
            List<? extends DurableFuture<? extends T>> parts) {
        return futures.firstSucceeded(parts);
    }

    @Override
    public <I extends @Nullable Object, T extends @Nullable Object> List<T> parallel(
            List<I> items, int atMost, Function<? super I, ? extends DurableFuture<? extends T>> begin) {
        if (atMost < 1) {
            throw new InvalidRequestException(
                    "parallel was called with a bound of %d; it is at least 1.".formatted(atMost));
        }
        return new Parallel<T>(this, atMost).over(items, begin);
    }

    // ---- children

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return startChild(method, input).await();
    }

    @Override
    public <W, R extends @Nullable Object> R call(WorkflowMethod.Supplier<W, R> method) {
        return startChild(method, ChildOptions.defaults()).await();
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> R call(Definition<I, R> definition, I input) {
        return startChild(definition, input).await();
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> O call(Dag<I, O> graph, I input) {
        return startChild(graph, input, ChildOptions.defaults()).await();
    }

    @Override
    public <I extends @Nullable Object, O extends @Nullable Object> Child<O> startChild(
            Dag<I, O> graph, I input, ChildOptions options) {
        return children.start(host.callee(graph), input, options);
    }

    @Override
    public <W, I extends @Nullable Object> void callVoid(WorkflowMethod.Consumer<W, I> method, I input) {
        startChildVoid(method, input, ChildOptions.defaults()).await();
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return startChild(method, input, ChildOptions.defaults());
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Function<W, I, R> method, I input, ChildOptions options) {
        return children.start(Callee.of(host.target(method)), input, options);
    }

    @Override
    public <W, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Supplier<W, R> method, ChildOptions options) {
        return children.start(Callee.of(host.target(method)), null, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            Definition<I, R> definition, I input) {
        return startChild(definition, input, ChildOptions.defaults());
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            Definition<I, R> definition, I input, ChildOptions options) {
        return children.start(Callee.of(Target.of(definition)), input, options);
    }

    @Override
    public <W, I extends @Nullable Object> Child<@Nullable Void> startChildVoid(
            WorkflowMethod.Consumer<W, I> method, I input, ChildOptions options) {
        return children.start(Callee.of(host.target(method)), input, options);
    }

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> RunId spawn(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options) {
        return children.spawn(Callee.of(host.target(method)), input, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> RunId spawn(
            Definition<I, R> definition, I input, StartOptions options) {
        return children.spawn(Callee.of(Target.of(definition)), input, options);
    }

    @Override
    public <O> ObjectCalls<O> object(Class<O> type, String key) {
        ObjectMethods.requireName(type);
        Texts.requireName("object key", key);
        return new CallsOfObject<>(children, host, key);
    }

    // ---- for functions of the engine's own

    @Override
    public List<Premise> premises() {
        return held.premises();
    }

    @Override
    public void awaitPremises() {
        if (held.premises().stream().anyMatch(premise -> !premise.state().isTerminal())) {
            transitions.awaitPremises();
        }
    }

    @Override
    public Optional<String> cancelledFromTheStart() {
        String cancel = transitions.control().cancel();
        return cancel == null || calls.replaying() ? Optional.empty() : Optional.of(cancel);
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        try {
            return values.decode(payload, type);
        } catch (PayloadException unreadable) {
            throw stop(
                    "What run '%s' comes after gave something that cannot be read back. %s Nothing was applied. Bring back the type that fits, then resume the run."
                            .formatted(held.run().id(), unreadable.getMessage()));
        }
    }

    @Override
    public @Nullable Object perform(String name, Type type, Callable<?> body, StepOptions options) {
        Call call = calls.take("step", Entry.Kind.STEP, name);
        return steps.perform(call, calls.past(call), type, body, options);
    }

    @Override
    public Encoded performLast(String name, Type type, Callable<?> body, StepOptions options) {
        Call call = calls.take("step", Entry.Kind.STEP, name);
        return steps.performLast(call, calls.past(call), type, body, options);
    }

    @Override
    public boolean isDecided(String decision) {
        return calls.nextIsPatch(decision);
    }

    @Override
    public DurableFuture<@Nullable Void> occurrence(String event) {
        return letters.occurrence(event);
    }

    @Override
    public <T extends @Nullable Object> Child<T> startChild(
            Target target, @Nullable Object input, ChildOptions options) {
        return children.start(Callee.of(target), input, options);
    }

    @Override
    public List<Runs.TaskRow> tasks() {
        return host.tasks(held.run());
    }

    @Override
    public void cancel(Collection<RunId> runs, String reason) {
        host.cancel(runs, reason);
    }

    @Override
    public Error stop(String reason) {
        return transitions.stop(reason);
    }

    // ---- messages

    @Override
    public <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic) {
        return letters.receive(topic);
    }

    @Override
    public <T> Optional<T> receive(Topic<T> topic, Duration timeout) {
        try {
            return Optional.ofNullable(letters.receive(topic).orTimeout(timeout).await());
        } catch (TimedOutException none) {
            return Optional.empty();
        }
    }

    @Override
    public <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value) {
        letters.send(to, topic, value);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name) {
        return letters.promise(name);
    }

    @Override
    public <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value) {
        letters.resolve(run, promise, value);
    }

    @Override
    public void reject(RunId run, Topic<?> promise, String reason) {
        letters.reject(run, promise, reason);
    }

    @Override
    public <T> Awakeable<T> awakeable(Class<T> type) {
        return awakeable(TypeRef.of(type));
    }

    @Override
    public <T extends @Nullable Object> Awakeable<T> awakeable(TypeRef<T> type) {
        return letters.awakeable(typeOf(type));
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> event(Topic<T> name) {
        return letters.event(name, "");
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> event(Topic<T> name, String key) {
        Texts.requireName("event key", key);
        return letters.event(name, key);
    }

    @Override
    public <T extends @Nullable Object> int emit(Topic<T> name, T value) {
        return emitted(name, "", value);
    }

    @Override
    public <T extends @Nullable Object> int emit(Topic<T> name, String key, T value) {
        Texts.requireName("event key", key);
        return emitted(name, key, value);
    }

    private <T extends @Nullable Object> int emitted(Topic<T> name, String key, T value) {
        Payload payload =
                values.store(value, name.type(), "the event '" + name + "'").payload();
        String event = Letters.eventName(name, key);
        Call call = calls.take("emit", Entry.Kind.STEP, "emit '" + event + "'");
        UUID token = derived.uuid("emit", call.position());
        Callable<Integer> body = () -> host.emit(name.name(), key, payload, token);
        Object reached = steps.perform(call, calls.past(call), Integer.class, body, StepOptions.defaults());
        return reached instanceof Integer count ? count : 0;
    }

    @Override
    public <T extends @Nullable Object> void publish(Topic<T> topic, T value) {
        letters.publish(topic, value);
    }

    @Override
    public Error continueAsNew(@Nullable Object input) {
        Payload payload = values.input(held.definition().target(), input);
        int position = calls.derived("continueAsNew");
        futures.finish();
        throw transitions.restart(payload, derived.seed(position));
    }

    // ---- time, chance, versions

    @Override
    public void sleep(Duration duration) {
        Calls.requireStorable("sleep", duration);
        Call call = calls.take("sleep", Entry.Kind.SLEEP, duration.toString());
        Replay.Past past = calls.rethrowDelivered(call);
        Optional<Recorded> begun = past.notes().stream().findFirst();
        Instant due;
        if (begun.isPresent()) {
            if (calls.replaying()) {
                return; // the run came past here before, whatever this worker's clock says
            }
            due = begun.get().at().plus(duration);
        } else {
            transitions.deliverTo(call);
            Entry beginning = call.note(1, Entry.Status.BEGUN, Payload.EMPTY);
            if (duration.isNegative() || duration.isZero()) {
                transitions.ride(beginning);
                return;
            }
            due = transitions.begin(call, beginning, duration, RunState.SUSPENDED);
        }
        transitions.await(call, due, RunState.SUSPENDED);
    }

    @Override
    public Instant now() {
        Call call = calls.take("now", Entry.Kind.NOW, "");
        Optional<Recorded> answer = calls.rethrowDelivered(call).answer();
        if (answer.isPresent()) {
            try {
                return values.decode(answer.get().entry().payload(), Instant.class);
            } catch (PayloadException unreadable) {
                throw transitions.unreadable(call, unreadable);
            }
        }
        transitions.deliverTo(call);
        Instant now = host.clock().now();
        transitions.ride(call.answer(Entry.Status.VALUE, values.encode(now)));
        return now;
    }

    @Override
    public UUID uuid() {
        return derived.uuid(calls.derived("uuid"));
    }

    @Override
    public RandomGenerator random() {
        return derived.random(calls.derived("random"));
    }

    @Override
    public boolean patched(String id) {
        Texts.requireName("patch id", id);
        calls.enter("patched");
        return patches.computeIfAbsent(id, this::decidePatch);
    }

    private boolean decidePatch(String id) {
        boolean recorded = calls.nextIsPatch(id);
        if (!recorded && calls.replaying()) {
            return false;
        }
        Call call = calls.take("patched", Entry.Kind.PATCH, id);
        if (!recorded) {
            transitions.ride(call.answer(Entry.Status.VALUE, Payload.EMPTY));
        }
        return true;
    }

    @Override
    public Logger logger() {
        return logger;
    }

    @Override
    public Attempt attempt() {
        return steps.current(Thread.currentThread())
                .orElseThrow(() -> new ContextMisuseException(
                        "attempt() was called outside a step body of run '%s'. Only a body has attempts."
                                .formatted(held.run().id())));
    }
}
