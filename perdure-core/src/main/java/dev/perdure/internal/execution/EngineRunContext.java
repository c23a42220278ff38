package dev.perdure.internal.execution;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.PayloadException;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.child.Children;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.mail.AwakeableAnswers;
import dev.perdure.internal.execution.mail.Emissions;
import dev.perdure.internal.execution.mail.RunMail;
import dev.perdure.internal.execution.mail.Sending;
import dev.perdure.internal.execution.mail.Turns;
import dev.perdure.internal.execution.mail.UnreadMail;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.step.Attempts;
import dev.perdure.internal.execution.step.StepBodies;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.step.TransactionCalls;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.RunSignals;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.report.EngineLog;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The parts of a context, and what only functions of the engine's own can do with it. */
abstract class EngineRunContext implements Shorthands {
    final HeldRun held;
    final Host host;
    final Transitions transitions;
    final ContextCalls calls;
    final Values values;
    final Steps steps;
    final Futures futures;
    final RunSignals orders;
    private final Waits waits;

    // Made at their first use, because a run at work has its context in memory, and many runs use none of them.
    private @Nullable RunMail mail;
    private @Nullable UnreadMail unread;
    private @Nullable Patches patches;

    UnaryOperator<@Nullable Object> nextInput = input -> input;

    /**
     * The parts of a context.
     *
     * @param entered what interceptors are told of the run, or null if there are none to tell
     */
    record Parts(
            HeldRun held,
            Host host,
            RunSignals orders,
            Transitions transitions,
            BodyGuard guard,
            Replay replay,
            Values values,
            @Nullable WorkflowCall entered) {}

    EngineRunContext(Parts parts) {
        this.held = parts.held();
        this.host = parts.host();
        this.orders = parts.orders();
        this.transitions = parts.transitions();
        this.values = parts.values();
        this.waits = new Waits(host, orders, transitions);
        Attempts attempts = new Attempts(held, host, values, parts.guard().lock());
        StepBodies bodies = new StepBodies(held, host, transitions, parts.guard(), values, parts.entered());
        this.steps = new Steps(held, host, transitions, waits, parts.guard(), values, attempts, bodies);
        this.calls = new ContextCalls(
                held,
                transitions,
                parts.replay(),
                () -> steps.bodies().current().isPresent());
        this.futures = new Futures(calls, host, transitions, waits, steps, values);
    }

    /** Whether a part that is made now is kept. Calls of other threads are refused; they replace no part of the run's. */
    private boolean keeps() {
        return calls.isThreadOfRun();
    }

    private UnreadMail unread() {
        UnreadMail part = unread == null ? new UnreadMail(held, host, orders, transitions) : unread;
        if (keeps()) {
            unread = part;
        }
        return part;
    }

    RunMail mail() {
        RunMail part = mail == null
                ? new RunMail(calls, transitions, futures, values, derived(), unread(), host, sending())
                : mail;
        if (keeps()) {
            mail = part;
        }
        return part;
    }

    Patches patches() {
        Patches part = patches == null ? new Patches(calls, transitions) : patches;
        if (keeps()) {
            patches = part;
        }
        return part;
    }

    // These remember nothing, so each call makes one.

    Derived derived() {
        return new Derived(held.run().id(), held.seed());
    }

    Children children() {
        return new Children(held, host, calls, transitions, futures, mail(), values, derived());
    }

    @Override
    public Turns turns() {
        return new Turns(held, host, calls, transitions, waits, unread(), derived());
    }

    TimeCalls time() {
        return new TimeCalls(host, calls, transitions, waits, values);
    }

    private Sending sending() {
        return new Sending(host, held.run().id(), transitions);
    }

    AwakeableAnswers answers() {
        return new AwakeableAnswers(host, calls, steps, values, derived(), sending());
    }

    Emissions emissions() {
        return new Emissions(host, calls, steps, values, derived(), sending());
    }

    TransactionCalls transactions() {
        return new TransactionCalls(held, host, calls, transitions, steps);
    }

    @Override
    public Logger logger() {
        return new ReplayLogger(
                EngineLog.of(
                        "dev.perdure.workflow." + held.definition().target().name()),
                calls::replaying);
    }

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
    public Optional<Instant> deadline() {
        return Optional.ofNullable(held.deadline());
    }

    @Override
    public void leaveDeadlineToTasks() {
        transitions.deadline().leaveToTasks();
    }

    @Override
    public Optional<String> cancelledFromTheStart() {
        String cancel = orders.control().cancel();
        return cancel == null || calls.replaying() ? Optional.empty() : Optional.of(cancel);
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type, PayloadPlace place) {
        return output(() -> values.at(place).decode(payload, type));
    }

    @Override
    public Values values() {
        return values;
    }

    @Override
    public Payload encoded(Payload payload, PayloadPlace place) {
        return output(() -> values.at(place).encoded(payload));
    }

    private <T extends @Nullable Object> T output(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (PayloadException unreadable) {
            throw stop(Sentences.unreadable(
                    "The output of a task that run '%s' comes after"
                            .formatted(held.run().id()),
                    unreadable));
        }
    }

    @Override
    public @Nullable Object perform(String name, Type type, Callable<?> body, StepOptions options) {
        ContextCall call = calls.take("step", Entry.Kind.STEP, name);
        return steps.perform(call, calls.past(call), type, body, options);
    }

    @Override
    public Encoded performLast(String name, Type type, Callable<?> body, StepOptions options) {
        ContextCall call = calls.take("step", Entry.Kind.STEP, name);
        return steps.performLast(call, calls.past(call), type, body, options);
    }

    @Override
    public boolean isDecided(String decision) {
        return calls.nextIsPatch(decision);
    }

    @Override
    public void makeNextInput(UnaryOperator<@Nullable Object> made) {
        nextInput = made;
    }

    @Override
    public void requireStorable(@Nullable Object value, Type type, String what) {
        values.at(PayloadPlace.input(held.run().id())).store(value, type, what);
    }

    @Override
    public DurableFuture<@Nullable Void> occurrence(String event) {
        return mail().occurrence(event);
    }

    @Override
    public <T extends @Nullable Object> Child<T> startChild(
            Target target, @Nullable Object input, ChildOptions options, Children.Behalf behalf) {
        return children().start("startChild", CallTarget.of(target), input, options, behalf);
    }

    @Override
    public NewRun settingsOf(RunId run) {
        return host.store().settings(run);
    }

    @Override
    public List<Runs.TaskRow> tasks() {
        return host.store().tasks(held.run());
    }

    @Override
    public void cancel(Collection<RunId> runs, String reason) {
        host.store().cancel(runs, reason);
    }

    @Override
    public NewRun intercepted(NewRun run) {
        return children().intercepted(run);
    }

    @Override
    public List<Task> tasksOf(NewRun run) {
        return host.callee(Invocation.of(run.definition(), null, TypeRef.of(Void.class)))
                .tasks(run);
    }

    @Override
    public Error stop(String reason) {
        return transitions.stop(reason);
    }
}
