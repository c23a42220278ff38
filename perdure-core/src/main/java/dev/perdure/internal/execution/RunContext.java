package dev.perdure.internal.execution;

import dev.perdure.Attempt;
import dev.perdure.ContextMisuseException;
import dev.perdure.InvalidRequestException;
import dev.perdure.PayloadException;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.StoreException;
import dev.perdure.TransactionAction;
import dev.perdure.TransactionBody;
import dev.perdure.TransactionOptions;
import dev.perdure.TransactionSource;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowContext;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.Transactor;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one execution. Every call: may I be called here, is it recorded, then do it. */
final class RunContext implements WorkflowContext {
    private static final int MAX_NAME = 200;
    private static final Duration LONGEST_SLEEP = Duration.ofDays(36_500);

    private final Held held;
    private final Host host;
    private final Transitions transitions;
    private final Replay replay;
    private final Values values;
    private final Steps steps;
    private final Derived derived;
    private final Logger logger;
    private final Thread thread = Thread.currentThread();
    private final BodyGuard guard;
    private final Map<String, Boolean> patches = new HashMap<>();
    private volatile boolean closed;

    RunContext(Held held, Host host, Transitions transitions, BodyGuard guard, Replay replay, Values values) {
        this.held = held;
        this.host = host;
        this.transitions = transitions;
        this.guard = guard;
        this.replay = replay;
        this.values = values;
        this.derived = new Derived(held.run().id(), held.seed());
        this.steps = new Steps(host, transitions, guard, values, derived);
        this.logger = new ReplayLogger(
                LoggerFactory.getLogger(
                        "dev.perdure.workflow." + held.definition().target().name()),
                () -> fitting(replay::replaying));
    }

    /** Asks the journal. Where the code does not fit it, the run leaves at once: user code could catch anything milder. */
    private <T> T fitting(Supplier<T> question) {
        try {
            return question.get();
        } catch (Replay.Mismatch mismatch) {
            throw transitions.stop(String.valueOf(mismatch.getMessage()));
        } catch (StoreException unreachable) {
            throw transitions.lost();
        }
    }

    private Call take(Entry.Kind kind, String name) {
        return fitting(() -> replay.take(kind, name));
    }

    private int takeDerived(String asked) {
        return fitting(() -> replay.takeDerived(asked));
    }

    /** The workflow has returned. */
    void close() {
        closed = true;
        transitions.departure().ifPresent(gone -> {
            throw new Unwind("the workflow returned after it had left memory");
        });
    }

    private void enter(String call) {
        if (closed) {
            throw new ContextMisuseException(
                    "%s was called after run '%s' had left this worker's memory. A context ends with its workflow: do not keep it."
                            .formatted(call, held.run().id()));
        }
        Thread caller = Thread.currentThread();
        if (guard.isInBody(caller)) {
            throw new ContextMisuseException(
                    "%s was called inside a step body of run '%s'. A body is one effect: call the context before or after it."
                            .formatted(call, held.run().id()));
        }
        if (!caller.equals(thread)) {
            throw new ContextMisuseException(
                    "%s was called from thread '%s', which is not the thread of run '%s'. Call the context from the workflow's own thread."
                            .formatted(call, caller.getName(), held.run().id()));
        }
        transitions.checkOrders();
    }

    private static void requireName(String what, @Nullable String name) {
        if (name == null
                || name.isEmpty()
                || name.length() > MAX_NAME
                || !name.codePoints().allMatch(RunContext::storable)) {
            throw new InvalidRequestException(
                    "The %s is null, empty, longer than %d characters or has control characters or half a surrogate pair. Give it a short, constant text."
                            .formatted(what, MAX_NAME));
        }
    }

    /** A surrogate that comes as a code point of its own lacks its other half. */
    private static boolean storable(int codePoint) {
        return !Character.isISOControl(codePoint) && Character.getType(codePoint) != Character.SURROGATE;
    }

    private static void requireStorable(@Nullable Duration duration) {
        if (duration == null || duration.compareTo(LONGEST_SLEEP) > 0) {
            throw new InvalidRequestException(
                    "The sleep is %s; it is at most %d days.".formatted(duration, LONGEST_SLEEP.toDays()));
        }
    }

    @Override
    public RunId runId() {
        return held.run().id();
    }

    @Override
    public <T extends @Nullable Object> T step(String name, StepBody<T> body) {
        return step(name, body, StepOptions.defaults());
    }

    @Override
    public <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options) {
        requireName("step name", name);
        return this.<T>step(name, host.rules().stepTypes().of(body, name), body::call, options);
    }

    @Override
    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body) {
        return step(name, type, body, StepOptions.defaults());
    }

    @Override
    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body, StepOptions options) {
        host.rules().codec().check(type.type());
        return this.<T>step(name, type.type(), body::call, options);
    }

    @Override
    public void run(String name, StepAction body) {
        run(name, body, StepOptions.defaults());
    }

    @Override
    public void run(String name, StepAction body, StepOptions options) {
        this.<@Nullable Object>step(
                name,
                void.class,
                () -> {
                    body.run();
                    return null;
                },
                options);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    private <T extends @Nullable Object> T step(String name, Type type, Callable<T> body, StepOptions options) {
        requireName("step name", name);
        enter("step");
        Call call = take(Entry.Kind.STEP, name);
        return (T) steps.perform(call, replay.past(call), type, body, options);
    }

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body) {
        return transaction(name, source, body, TransactionOptions.defaults());
    }

    @Override
    public <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options) {
        requireName("transaction name", name);
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
        requireName("transaction name", name);
        enter("transaction");
        if (!(source instanceof Transactor<C> transactor)) {
            throw new InvalidRequestException(
                    "The source of transaction '%s' is %s, which cannot run any. Take one from a module that knows databases, such as PostgresTransactions.on(store)."
                            .formatted(name, source));
        }
        Call call = take(Entry.Kind.TRANSACTION, name);
        Steps.Doing doing = new TransactionAttempts<>(call, held, host, transitions, transactor, body, options);
        return (T) steps.perform(call, replay.past(call), type, doing, options.step());
    }

    @Override
    public void sleep(Duration duration) {
        requireStorable(duration);
        enter("sleep");
        Call call = take(Entry.Kind.SLEEP, duration.toString());
        Replay.Past past = replay.past(call);
        rethrowDelivered(past);
        Optional<Recorded> begun = past.notes().stream().findFirst();
        Instant due;
        if (begun.isPresent()) {
            if (fitting(replay::replaying)) {
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

    private void rethrowDelivered(Replay.Past past) {
        past.answer().map(Recorded::entry).filter(RunContext::isDelivery).ifPresent(entry -> {
            throw transitions.delivered(entry);
        });
    }

    static boolean isDelivery(Entry entry) {
        return entry.status() == Entry.Status.CANCELLED || entry.status() == Entry.Status.DEADLINE;
    }

    @Override
    public Instant now() {
        enter("now");
        Call call = take(Entry.Kind.NOW, "");
        Replay.Past past = replay.past(call);
        rethrowDelivered(past);
        Optional<Recorded> answer = past.answer();
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
        enter("uuid");
        return derived.uuid(takeDerived("uuid()"));
    }

    @Override
    public RandomGenerator random() {
        enter("random");
        return derived.random(takeDerived("random()"));
    }

    @Override
    public boolean patched(String id) {
        requireName("patch id", id);
        enter("patched");
        return patches.computeIfAbsent(id, this::decidePatch);
    }

    private boolean decidePatch(String id) {
        boolean recorded = fitting(() -> replay.nextIsPatch(id));
        if (!recorded && fitting(replay::replaying)) {
            return false;
        }
        Call call = take(Entry.Kind.PATCH, id);
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
