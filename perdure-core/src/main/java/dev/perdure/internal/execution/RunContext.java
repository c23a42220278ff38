package dev.perdure.internal.execution;

import dev.perdure.Attempt;
import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.EventTopic;
import dev.perdure.Invocation;
import dev.perdure.KeyedTopic;
import dev.perdure.PromiseResolver;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowMethod;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.child.CallsOfObject;
import dev.perdure.internal.execution.child.Children;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.mail.RunMail;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.state.StateCalls;
import dev.perdure.internal.execution.state.StateSource;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.undo.Undoable;
import dev.perdure.object.ObjectCalls;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ForkPlan;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The context of one execution, as user code sees it: {@link Steps}, {@link Futures}, {@link Children} and
 * {@link RunMail}.
 */
class RunContext extends EngineRunContext implements Undoable {
    RunContext(Parts parts) {
        super(parts);
    }

    /** The context of this run: of a workflow, or of a call of a virtual object. */
    static RunContext of(Parts parts) {
        ObjectCall call = parts.held().object();
        if (call == null) {
            return new RunContext(parts);
        }
        return switch (call.hold()) {
            case SHARED, UNKNOWN -> new SharedRunContext(parts, call.object());
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
    public <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options) {
        return this.<T>step(name, typeOf(name, body), body::call, options);
    }

    @Override
    public void step(String name, StepAction body, StepOptions options) {
        this.<@Nullable Void>step(name, void.class, callable(body), options);
    }

    private Type typeOf(String name, StepBody<?> body) {
        Texts.requireName("step name", name);
        Texts.requireGiven("body", body);
        return host.rules().stepTypes().of(body, name);
    }

    private Type typeOf(TypeRef<?> type) {
        Texts.requireGiven("type", type);
        host.rules().codec().check(type.type());
        return type.type();
    }

    private static Callable<@Nullable Void> callable(StepAction body) {
        Texts.requireGiven("body", body);
        return () -> {
            body.run();
            return null;
        };
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    private <T extends @Nullable Object> T step(String name, Type type, Callable<T> body, StepOptions options) {
        Texts.requireName("step name", name);
        Texts.requireGiven("step options", options);
        ContextCall call = calls.take("step", Entry.Kind.STEP, name);
        return (T) steps.perform(call, calls.past(call), type, body, options);
    }

    // ---- transactions

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options) {
        Texts.requireGiven("transaction options", options);
        Texts.requireGiven("transaction source", source);
        Texts.requireGiven("body", body);
        Texts.requireName("transaction name", name);
        return transactions().perform(name, source, host.rules().stepTypes().of(body, name), body, options);
    }

    @Override
    public <C> void transact(
            String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options) {
        Texts.requireGiven("body", body);
        transactions()
                .<C, @Nullable Object>perform(
                        name,
                        source,
                        void.class,
                        handle -> {
                            body.run(handle);
                            return null;
                        },
                        options);
    }

    // ---- futures

    @Override
    public <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body, StepOptions options) {
        return futures.step(name, typeOf(name, body), body::call, options);
    }

    @Override
    public DurableFuture<@Nullable Void> stepAsync(String name, StepAction body, StepOptions options) {
        Texts.requireName("step name", name);
        return futures.step(name, void.class, callable(body), options);
    }

    @Override
    public DurableFuture<@Nullable Void> timer(Duration duration) {
        return futures.timer("timer", duration);
    }

    // ---- children

    @Override
    public <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return this.<R>call(CallTarget.of(host.target(method)), input);
    }

    @Override
    public <W, I extends @Nullable Object> void call(WorkflowMethod.Consumer<W, I> method, I input) {
        this.<@Nullable Void>call(CallTarget.of(host.target(method)), input);
    }

    @Override
    public <R extends @Nullable Object> R call(Invocation<R> invocation) {
        return this.<R>call(host.awaitedCallee(invocation), invocation.input());
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // the type of the future is the type of the caller
    private <R extends @Nullable Object> R call(CallTarget callee, @Nullable Object input) {
        return children()
                .<R>start("call", callee, input, ChildOptions.defaults())
                .await();
    }

    @Override
    public <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation, ChildOptions options) {
        return children().start("startChild", host.awaitedCallee(invocation), invocation.input(), options);
    }

    @Override
    public RunId spawn(Invocation<?> invocation, StartOptions options) {
        return children().spawn("spawn", host.callee(invocation), invocation.input(), options);
    }

    @Override
    public <O> ObjectCalls<O> object(Class<O> type, String key) {
        Texts.requireGiven("class of the object", type);
        Texts.requireName("object key", key);
        ObjectMethods.requireName(type);
        return new CallsOfObject<>(children(), host, key);
    }

    // ---- messages

    @Override
    public <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic) {
        return mail().receive(topic);
    }

    @Override
    public <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value) {
        mail().send(to, topic, value);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name) {
        return mail().promise(name);
    }

    @Override
    public <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name) {
        Texts.requireGiven("run id", run);
        Texts.requireGiven("name of the promise", name);
        return new PromiseResolver<>() {
            @Override
            public void resolve(T value) {
                mail().resolve(run, name, value);
            }

            @Override
            public void reject(String reason) {
                mail().reject(run, name, reason);
            }
        };
    }

    @Override
    public boolean resolve(String token, @Nullable Object value) {
        return answers().resolve(token, value);
    }

    @Override
    public boolean reject(String token, String reason) {
        return answers().reject(token, reason);
    }

    @Override
    public <T extends @Nullable Object> Awakeable<T> awakeable(TypeRef<T> type) {
        return mail().awakeable(typeOf(type));
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> event(EventTopic<T> topic) {
        Texts.requireGiven("topic", topic);
        return switch (topic) {
            case Topic<T> any -> mail().event(any, "");
            case KeyedTopic<T> keyed -> mail().event(keyed.topic(), keyed.key());
        };
    }

    @Override
    public <T extends @Nullable Object> int emit(EventTopic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        return switch (topic) {
            case Topic<T> any -> emissions().emit(any, "", value);
            case KeyedTopic<T> keyed -> emissions().emit(keyed.topic(), keyed.key(), value);
        };
    }

    @Override
    public <T extends @Nullable Object> void publish(Topic<T> topic, T value) {
        mail().publish(topic, value);
    }

    @Override
    public <T> void attribute(Attribute<T> attribute, @Nullable T value) {
        mail().attribute(attribute, value);
    }

    @Override
    public void status(String text) {
        mail().status(text);
    }

    @Override
    public Error continueAsNew(@Nullable Object input) {
        throw restart(input, null);
    }

    @Override
    public Error continueAs(String definition, @Nullable Object input) {
        throw restart(input, definition);
    }

    private Error restart(@Nullable Object input, @Nullable String definition) {
        CallTarget.Kind kind = held.object() == null ? CallTarget.Kind.WORKFLOW : CallTarget.Kind.HANDLER;
        @Nullable Object next = input instanceof Invocation<?> again ? inputOf(again) : input;
        Payload payload = values.at(PayloadPlace.input(held.inputOwner()))
                .input(kind, held.definition().target(), nextInput.apply(next));
        int position = calls.derived("continueAsNew");
        futures.finish();
        throw transitions.restart(new Move.Restart(payload, derived().seed(position), leavesItsVersion(), definition));
    }

    /** A pinned run that begins anew needs its old code no more, so it leaves a version that drains. */
    private boolean leavesItsVersion() {
        Registered definition = held.definition();
        return definition.pinned()
                && host.version().drained().contains(definition.target().name());
    }

    private @Nullable Object inputOf(Invocation<?> again) {
        String wanted = host.callee(again).target().name();
        String own = held.definition().target().name();
        if (!wanted.equals(own)) {
            throw new InvalidRequestException(
                    "Run '%s' of '%s' cannot continue as '%s': a run continues as new only with the workflow that it is. Give an invocation of '%s', or spawn a run of '%s' and return."
                            .formatted(held.run().id(), own, wanted, own, wanted));
        }
        return again.input();
    }

    // ---- time, chance, versions

    @Override
    public void sleep(Duration duration) {
        time().sleep(duration);
    }

    @Override
    public Instant now() {
        return time().now();
    }

    @Override
    public UUID uuid() {
        return derived().uuid(calls.derived("uuid"));
    }

    @Override
    public RandomGenerator random() {
        return derived().random(calls.derived("random"), () -> calls.requireUsable("A generator of random()"));
    }

    @Override
    public boolean patched(String id) {
        return patches().isTaken(id);
    }

    @Override
    public int position() {
        return calls.position();
    }

    @Override
    public int undoneNow(int since) {
        return calls.latestBeside() > since || calls.latestStep() <= since ? since + 1 : calls.latestStep();
    }

    @Override
    public void undoes(int first) {
        patches().isTaken(ForkPlan.undone(first));
    }

    @Override
    public Attempt attempt() {
        return steps.bodies()
                .current()
                .orElseThrow(() -> new ContextMisuseException(
                        "attempt() was called outside a step body of run '%s'. Only a body has attempts."
                                .formatted(held.run().id())));
    }
}
