package dev.perdure.internal.execution.future;

import dev.perdure.ChildOptions.OnCancel;
import dev.perdure.DurableFuture;
import dev.perdure.Settled;
import dev.perdure.StepOptions;
import dev.perdure.error.CancelledException;
import dev.perdure.error.TimedOutException;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.SideThreads;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.join.Joins;
import dev.perdure.internal.join.KnownFuture;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Makes, joins and awaits durable futures.
 *
 * <p>How an await works. The run's thread checks whether the future has settled. If not, it delivers a cancel that is
 * due, starts waiting bodies, asks the future what it waits for, and waits for that, in memory or out of it. Then it
 * checks again. So a run waits in one place, whatever it waits for, and a run that waits for a hundred things is one
 * row.
 *
 * <p>Bodies beside the run's thread hand in their results, and the run's thread records these: at an await, or together
 * with the next entry that it records.
 */
public final class Futures implements SideThreads, Joins {
    private static final int MOST_BODIES = 100;

    private final ContextCalls calls;
    private final Host host;
    private final Transitions transitions;
    private final Waits waits;
    private final Steps steps;
    private final Values values;
    private List<StartedChild> children = List.of();
    // Only the run's own thread writes it.
    private volatile SideBodies side = SideBodies.NONE;

    public Futures(ContextCalls calls, Host host, Transitions transitions, Waits waits, Steps steps, Values values) {
        this.calls = calls;
        this.host = host;
        this.transitions = transitions;
        this.waits = waits;
        this.steps = steps;
        this.values = values;
    }

    // ---- awaiting

    <T extends @Nullable Object> T await(EngineFuture<T> future) {
        ContextCall call = calls.open("await", Entry.Kind.AWAIT, "");
        calls.rethrowDelivered(call);
        return settle(future, () -> transitions.deliverTo(call));
    }

    @SuppressWarnings("NullAway") // a value is null only where T allows it
    private <T extends @Nullable Object> T settle(EngineFuture<T> future, Runnable deliver) {
        while (true) {
            transitions.obeySignals();
            record();
            Settled<T> settled = future.look();
            if (settled == null) {
                deliver.run();
                askForPermits();
                WaitCondition wanted = new WaitCondition();
                future.wants(wanted);
                if (future instanceof JoinedFuture<?, ?> choice && choice.waitsForAllMail()) {
                    wanted.needsAll();
                }
                // A body that may not begin now would never begin out of memory: what keeps it from that is obeyed
                // first.
                if (side.queued.isEmpty() || atWork()) {
                    waits.await(wanted);
                }
            } else if (settled.failure() != null) {
                throw settled.failure();
            } else {
                return settled.value();
            }
        }
    }

    private void record() {
        if (!side.finished.isEmpty() && transitions.flush()) {
            transitions.unloadAfterStep();
        }
    }

    /** The workflow has returned: waits until everything that it began and did not await has ended. */
    public void finish() {
        transitions.finishing();
        side.begun.forEach(this::awaitPermit);
        while (atWork() || !side.queued.isEmpty()) {
            waits.awaitBody();
        }
    }

    private void awaitPermit(StepFuture<?> step) {
        while (step.waitsForPermit()) {
            transitions.obeySignals();
            askForPermits();
            WaitCondition wanted = new WaitCondition();
            step.wants(wanted);
            if (step.waitsForPermit()) {
                waits.await(wanted);
            }
        }
    }

    // ---- making

    public TimerFuture timer(String what, Duration duration) {
        ContextCalls.requireStorable(what, duration);
        ContextCall call = calls.open("timer", Entry.Kind.TIMER, duration.toString());
        Replay.Past past = calls.rethrowDelivered(call);
        if (past.entries().isEmpty()) {
            transitions.deliverTo(call);
        }
        TimerFuture timer = new TimerFuture(this, duration, transitions.deadline()::time, calls::replaying);
        timer.begin(call, past, transitions);
        return timer;
    }

    public <T extends @Nullable Object> DurableFuture<T> step(
            String name, Type type, Callable<T> body, StepOptions options) {
        Texts.requireGiven("step options", options);
        ContextCall call = calls.open("stepAsync", Entry.Kind.STEP, name);
        if (side == SideBodies.NONE) {
            side = new SideBodies();
        }
        StepFuture<T> step = new StepFuture<>(this, steps, transitions, call, type, body, options);
        step.begin(calls.past(call), calls.replaying());
        side.begun.add(step);
        return step;
    }

    <T extends @Nullable Object> EngineFuture<T> orTimeout(EngineFuture<T> future, Duration limit) {
        TimerFuture timer = timer("timeout", limit);
        return choice(
                "timeout",
                List.<EngineFuture<? extends @Nullable Object>>of(future, timer),
                new JoinedFuture.Rule<@Nullable Object, T>(
                        settled -> true,
                        (number, settled) -> number == 0
                                ? Objects.requireNonNull(future.look())
                                : EngineFuture.failure(new TimedOutException(
                                        "%s did not arrive within %s.".formatted(future.awaited(), limit))),
                        all -> EngineFuture.failure(new IllegalStateException("One of two has settled."))));
    }

    /** As {@link #orTimeout}, but returns empty when the time is over. */
    <T extends @Nullable Object> EngineFuture<Optional<T>> within(EngineFuture<T> future, Duration limit) {
        TimerFuture timer = timer("timeout", limit);
        return choice(
                "timeout",
                List.<EngineFuture<? extends @Nullable Object>>of(future, timer),
                new JoinedFuture.Rule<@Nullable Object, Optional<T>>(
                        settled -> true,
                        (number, settled) -> number == 0
                                ? optional(Objects.requireNonNull(future.look()))
                                : EngineFuture.value(Optional.empty()),
                        Futures::impossible));
    }

    private static <T extends @Nullable Object> Settled<Optional<T>> optional(Settled<T> settled) {
        return settled.failure() == null
                ? EngineFuture.value(Optional.ofNullable(settled.value()))
                : EngineFuture.failure(settled.failure());
    }

    @Override
    public EngineFuture<Integer> any(List<? extends DurableFuture<?>> futures) {
        return choice(
                "any",
                parts(futures),
                new JoinedFuture.Rule<@Nullable Object, Integer>(
                        settled -> true, (number, settled) -> EngineFuture.value(number), Futures::impossible));
    }

    @Override
    public <T extends @Nullable Object> EngineFuture<T> race(List<? extends DurableFuture<? extends T>> futures) {
        return choice(
                "race",
                parts(futures),
                new JoinedFuture.Rule<T, T>(settled -> true, (number, settled) -> same(settled), Futures::impossible));
    }

    @Override
    public <T extends @Nullable Object> EngineFuture<T> firstSucceeded(
            List<? extends DurableFuture<? extends T>> futures) {
        return choice(
                "firstSucceeded",
                parts(futures),
                new JoinedFuture.Rule<T, T>(
                        Settled::succeeded, (number, settled) -> same(settled), all -> same(all.getLast())));
    }

    @Override
    @SuppressWarnings("NullAway") // a value is null only where T allows it
    public <T extends @Nullable Object> EngineFuture<List<T>> all(List<? extends DurableFuture<? extends T>> futures) {
        return choice(
                "all",
                parts(futures),
                new JoinedFuture.Rule<T, List<T>>(
                        settled -> !settled.succeeded(),
                        (number, settled) -> EngineFuture.failure(Objects.requireNonNull(settled.failure())),
                        all -> {
                            List<T> list = new ArrayList<>();
                            all.forEach(settled -> list.add(settled.value()));
                            return EngineFuture.value(list);
                        }));
    }

    @Override
    public <T extends @Nullable Object> EngineFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> futures) {
        return choice(
                "allSettled",
                parts(futures),
                new JoinedFuture.Rule<T, List<Settled<T>>>(
                        settled -> false,
                        (number, settled) -> impossible(List.of()),
                        all -> EngineFuture.value(
                                all.stream().map(Futures::<T>same).toList())));
    }

    private static <T extends @Nullable Object> Settled<T> same(Settled<? extends T> settled) {
        return new Settled<>(settled.value(), settled.failure());
    }

    private static <T extends @Nullable Object> Settled<T> impossible(List<?> settled) {
        return EngineFuture.failure(new IllegalStateException("The first to settle decides: " + settled));
    }

    private <P extends @Nullable Object, T extends @Nullable Object> EngineFuture<T> choice(
            String how, List<? extends EngineFuture<? extends P>> parts, JoinedFuture.Rule<P, T> rule) {
        ContextCall call = calls.open(how, Entry.Kind.CHOICE, how + " of " + parts.size());
        return new JoinedFuture<>(this, call, calls.past(call), values, transitions, parts, rule);
    }

    private <T extends @Nullable Object> List<EngineFuture<? extends T>> parts(
            List<? extends DurableFuture<? extends T>> futures) {
        List<EngineFuture<? extends T>> parts = new ArrayList<>();
        for (DurableFuture<? extends T> future : futures) {
            if (future instanceof KnownFuture<? extends T> known) {
                parts.add(new KnownPart<>(this, known));
            } else if (future instanceof EngineFuture<? extends T> part && part.isOf(this)) {
                parts.add(part);
            } else {
                throw Joins.foreign();
            }
        }
        return parts;
    }

    // ---- bodies

    Instant now() {
        return host.clock().now();
    }

    /** Starts a body beside the run's thread: now, or as soon as there is room. */
    void launch(StepFuture<?> step) {
        side.queued.add(step);
        transitions.flush();
    }

    @Override
    public void askForPermits() {
        side.begun.stream().filter(StepFuture::waitsForPermit).toList().forEach(StepFuture::askForPermit);
    }

    @Override
    public void beginMore() {
        Iterator<StepFuture<?>> next = side.queued.iterator();
        while (side.running.get() < MOST_BODIES && next.hasNext()) {
            StepFuture<?> step = next.next();
            next.remove();
            fork(step);
        }
    }

    /** Interrupts the body of an attempt beside the run's thread. */
    BodyGuard guardForOneBody() {
        return BodyGuard.forOneBody(host.clockwork());
    }

    private void fork(StepFuture<?> step) {
        SideBodies beside = side;
        beside.running.incrementAndGet();
        BodyGuard guard = step.launched();
        beside.guards.add(guard);
        host.clockwork().fork("perdure-step-" + step.name(), () -> {
            try {
                step.run();
            } finally {
                beside.guards.remove(guard);
                beside.running.decrementAndGet();
                waits.wakeUp();
            }
        });
    }

    /** Called by a body's thread. */
    void handIn(Runnable news) {
        side.finished.add(news);
    }

    public void interrupt(BodyGuard.Cause why) {
        side.guards.forEach(guard -> guard.interrupt(why));
    }

    @Override
    public void giveUp(RuntimeException why) {
        if (side != SideBodies.NONE) {
            side.queued.clear();
        }
        interrupt(why instanceof CancelledException ? BodyGuard.Cause.CANCEL : BodyGuard.Cause.DEADLINE);
        while (atWork()) {
            waits.awaitBody();
        }
        side.begun.forEach(step -> step.giveUp(why));
    }

    @Override
    public boolean atWork() {
        SideBodies beside = side;
        return beside.running.get() > 0 || !beside.finished.isEmpty();
    }

    @Override
    public void handIn() {
        for (Runnable news = side.finished.poll(); news != null; news = side.finished.poll()) {
            news.run();
        }
    }

    // ---- children

    public void add(StartedChild child) {
        if (children.isEmpty()) {
            children = new ArrayList<>();
        }
        children.add(child);
    }

    @Override
    public List<Effect> cancels(String reason) {
        return children.stream()
                .filter(child ->
                        child.onCancel() != OnCancel.ABANDON && child.outcome().look() == null)
                .<Effect>map(child -> new Effect.Cancel(child.id(), "its parent was cancelled: " + reason))
                .toList();
    }

    @Override
    public void awaitCancelled() {
        for (StartedChild child : children) {
            if (child.onCancel() == OnCancel.WAIT) {
                settle(allSettled(List.of(child.outcome())), () -> {});
            }
        }
    }
}
