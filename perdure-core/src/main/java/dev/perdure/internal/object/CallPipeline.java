package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.object.LocalCaller.Ride;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one virtual object that this worker carries on one behind another, so that their ends share commits.
 *
 * <p>How it works. The first car is the call that holds the object. When a call comes to its end, the next one begins from what
 * it left in memory, although nothing of that is durable: one that waits in the store, or else one that somebody in this
 * process has just made and of which the store knows nothing yet. Whoever finds nobody sending sends the ends of all cars from
 * the first on that have come to theirs, in one batch; those that come meanwhile go with the next one. If the next car is one
 * that the store does not know, its start goes with the batch, so that it holds the object after it. So nobody waits for a
 * timer, and nobody for a call behind him.
 *
 * <p>Invariants. The first car holds the object as soon as it is the first. A car behind it writes nothing but its end, in the
 * batch in which all before it end, and tells nobody of it before the commit. The store applies that end only if the call is
 * next. If an end is not applied, or the store names another call as next, the cars behind are uncoupled: what they have done
 * was in memory only, the call that is next begins anew from the store, and passengers go back to the {@link LocalCallers}. A passenger
 * who is left behind starts his call like any other. Nobody boards behind a call that does more than touch the state, because
 * that may take long. A call that this process starts by itself does not get into the store while calls are on their way that the
 * store does not know; those that are sent after it name it, so that they are not refused for its sake ({@link UnseenCalls}).
 */
public final class CallPipeline {
    /** How many of those that wait in the store are worked on ahead of it at most. */
    public static final int LONGEST = 64;

    private static final int MOST_CARS = 256;

    private final CallPipelines pipelines;
    private final PipelineHost host;
    private final ObjectKey object;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<PipelinedCall> cars = new ArrayDeque<>();
    /** Those that wait in the store behind the last car, as far as they are known. */
    private final Deque<Claimed> waiting = new ArrayDeque<>();

    private final LocalCallers platform = new LocalCallers();
    private final UnseenCalls newcomers = new UnseenCalls();

    private boolean sending;
    /** Whether the batch on its way frees the object, or leaves it to somebody who is no car. */
    private boolean leaving;
    /** Whether several had their results by the last batch. */
    private volatile boolean crowded;
    /** Whether others may wait in the store who are not known here. */
    private boolean moreWait;
    /** Whether a first car was there. */
    private boolean departed;

    private boolean over;

    /** @param moreWait whether others may wait in the store already */
    CallPipeline(CallPipelines pipelines, ObjectKey object, boolean moreWait) {
        this.pipelines = pipelines;
        this.host = pipelines.host();
        this.object = object;
        this.moreWait = moreWait;
    }

    ObjectKey object() {
        return object;
    }

    PipelineHost host() {
        return host;
    }

    /** Calls of this handler may take long: they are not pipelined any more before the store knows them. */
    void exclude(Registered handler) {
        pipelines.exclude(handler);
    }

    <T extends @Nullable Object> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    // ---- who comes

    /** A call holds the object; begins with it. False if this train is another call's. */
    boolean depart(HeldRun holder, Journals.Page journal, List<Claimed> next) {
        PipelinedCall first = new PipelinedCall(this, holder, null);
        boolean mine = locked(() -> {
            if (departed || over) {
                return false;
            }
            departed = true;
            first.holdFromTheBeginning();
            cars.add(first);
            waiting.addAll(next);
            return true;
        });
        if (mine) {
            first.launch(journal);
        }
        return mine;
    }

    /** Lets a call ride along without a start of its own, if it can. */
    Ride carry(LocalCaller passenger) {
        couple(() -> board(passenger));
        return passenger.await();
    }

    private Optional<PipelinedCall> board(LocalCaller passenger) {
        PipelinedCall last = cars.peekLast();
        if (over || (last != null && last.stands())) {
            passenger.settle(new Ride.LeftBehind());
            return Optional.empty();
        }
        platform.add(passenger);
        return couple();
    }

    /** A call is about to be started here by itself. Waits for the batch on its way, which was made without knowing of it. */
    void expect(RunId call) {
        Clockwork.Signal signal = host.clockwork().signal();
        boolean waits = locked(() -> newcomers.starts(call, sending ? signal : null));
        while (waits) {
            Waiting.forSignal(signal);
            waits = locked(() -> newcomers.isHeldUp(signal));
        }
    }

    /** Such a call was started or was not, and its caller is about to hear of it. */
    void met(RunId call, boolean waits) {
        locked(() -> {
            newcomers.started(call, waits);
            return moreWait |= waits;
        });
    }

    /** The call that was to be the first car is not, or has been. */
    public void expectNoMore() {
        close(locked(() -> departed ? false : finish()));
    }

    /** Nothing is written any more. */
    void abandon() {
        locked(() -> {
            cars.forEach(PipelinedCall::leaveBehind);
            return finish();
        });
    }

    /** Couples a car, under the lock, and lets it begin. Between the two the store may hand it over. */
    void couple(Supplier<Optional<PipelinedCall>> how) {
        host.acquiring(() -> {
            Optional<PipelinedCall> next = locked(how);
            next.ifPresent(PipelinedCall::launch);
            return next;
        });
    }

    // ---- cars; under the lock

    /**
     * Lets the next begin behind the last car, if that has come to its end and knows the state, and there is room. Those that
     * wait in the store go first.
     */
    Optional<PipelinedCall> couple() {
        PipelinedCall last = cars.peekLast();
        Optional<KnownState> known = last == null ? Optional.empty() : last.knownAfter();
        if (last == null || known.isEmpty() || cars.size() >= MOST_CARS || host.room() == 0) {
            return Optional.empty();
        }
        if (!waiting.isEmpty()) {
            // One that the store knows does not follow one that it does not know.
            return last.isUnknown() ? Optional.empty() : Optional.of(add(heldOf(waiting.removeFirst(), known), null));
        }
        LocalCaller passenger = moreWait || leaving || newcomers.areWaiting() ? null : platform.next();
        return passenger == null ? Optional.empty() : Optional.of(add(heldOf(passenger, known), passenger));
    }

    private PipelinedCall add(HeldRun held, @Nullable LocalCaller passenger) {
        PipelinedCall next = new PipelinedCall(this, held, passenger);
        newcomers.met(held.run().id());
        cars.add(next);
        return next;
    }

    /** A call that holds the object is the first car. */
    private PipelinedCall begin(Claimed holder, Optional<KnownState> known) {
        PipelinedCall first = new PipelinedCall(this, heldOf(holder, known), null);
        newcomers.met(holder.run().id());
        first.hold(holder);
        cars.addFirst(first);
        return first;
    }

    private HeldRun heldOf(Claimed claim, Optional<KnownState> known) {
        return HeldRun.of(claim, host.definition(claim.definition()), known);
    }

    private HeldRun heldOf(LocalCaller passenger, Optional<KnownState> known) {
        RunRef unstored = new RunRef(passenger.run().id(), pipelines.provisionalKey());
        return HeldRun.of(passenger.claim(unstored), passenger.definition(), known);
    }

    /** A call that the store did not know is carried on by itself from now on; if it holds the object, it begins anew. */
    Optional<PipelinedCall> getOff(PipelinedCall car, Optional<Claimed> holding) {
        cars.remove(car);
        return holding.isPresent() ? Optional.of(begin(holding.get(), Optional.empty())) : couple();
    }

    /** The first car may take long. */
    void letNobodyWait() {
        platform.close();
    }

    /** A call has left memory. Without an end of its own nobody goes on behind it. */
    void left(PipelinedCall car) {
        close(locked(() -> {
            if (car.isSettled() || !cars.contains(car)) {
                return false;
            }
            uncouple(true);
            return finish();
        }));
    }

    // ---- sending

    /**
     * What is sent at once.
     *
     * @param cars that end
     * @param next the one behind them, if it is to be started
     * @param takes how many of those that wait in the store are asked for
     * @param waited who waited there, of those that this process has started by itself
     * @param changes for each of the cars, and for the next one
     */
    private record Batch(
            List<PipelinedCall> cars,
            Optional<PipelinedCall> next,
            int takes,
            Set<RunId> waited,
            List<Change> changes) {}

    boolean takesTheLead(PipelinedCall car) {
        boolean takes = !sending && cars.peekFirst() == car;
        sending |= takes;
        return takes;
    }

    void lead() {
        if (crowded) {
            host.clockwork().giveWay(); // those who have just heard of their results come back
        }
        host.acquiring(this::send);
    }

    private boolean send() {
        Batch batch = locked(this::load);
        List<Outcome> outcomes = Collections.nCopies(batch.changes.size(), new Outcome.Fenced());
        try {
            outcomes = host.commitEnds(batch.changes);
        } finally {
            List<Outcome> all = outcomes;
            locked(() -> settle(batch, all)).ifPresent(PipelinedCall::launch);
            close(locked(() -> over && finish()));
        }
        if (outcomes.stream().anyMatch(Outcome.AlreadyThere.class::isInstance)) {
            host.forgot(); // who was handed over went with the answer
        }
        return true;
    }

    private Batch load() {
        List<PipelinedCall> ended =
                cars.stream().takeWhile(car -> car.end() != null).toList();
        Set<RunId> beside = newcomers.all();
        // Whoever waits in the store holds the object next.
        Optional<PipelinedCall> next =
                cars.stream().skip(ended.size()).findFirst().filter(car -> car.isUnknown() && beside.isEmpty());
        leaving = waiting.isEmpty() && (cars.size() == ended.size() || !beside.isEmpty());
        int most = waiting.isEmpty() ? LONGEST : 1;
        int takes = Math.min(most, Math.max(host.room(), cars.size() > ended.size() ? 1 : 0));
        List<Change> changes = CallEnds.of(ended, takes, beside);
        next.ifPresent(car -> {
            car.starts(true);
            NewRun run = Objects.requireNonNull(car.passenger()).run();
            host.expect(run.id());
            changes.add(new Change.Start(run, host.worker()));
        });
        return new Batch(ended, next, takes, newcomers.waiting(), changes);
    }

    /** Hands outcomes out and sees who is next. Gives the car that begins now. */
    private Optional<PipelinedCall> settle(Batch batch, List<Outcome> outcomes) {
        sending = false;
        leaving = false;
        crowded = batch.cars.size() > 1;
        newcomers.letIn();
        Claimed holder = null;
        boolean whole = true;
        for (int i = 0; i < batch.cars.size(); i++) {
            PipelinedCall car = batch.cars.get(i);
            Outcome outcome = outcomes.get(i);
            whole &= CallEnds.isApplied(outcome);
            holder = holder != null && CallEnds.isApplied(outcome) && car.is(holder) ? null : holder;
            if (outcome instanceof Outcome.Applied applied && !applied.handed().isEmpty()) {
                holder = applied.handed().getLast();
                meet(applied.next());
            }
            cars.remove(car);
            if (outcome instanceof Outcome.Fenced) {
                car.drop().ifPresent(platform::drop);
            } else {
                car.settle(outcome);
            }
        }
        moreWait = !whole || (batch.takes > 1 ? waiting.size() >= batch.takes - 1 : moreWait);
        if (!moreWait) {
            batch.waited.stream()
                    .filter(call ->
                            waiting.stream().noneMatch(claim -> claim.run().id().equals(call)))
                    .forEach(newcomers::met);
        }
        if (batch.next.isPresent()) {
            Claimed started = started(batch.next.get(), outcomes.getLast(), holder);
            holder = holder == null ? started : holder;
        }
        return holder == null
                ? nobodyGoesOn()
                : goOn(holder, whole, batch.cars.getLast().knownAfter());
    }

    /** The car behind the batch was started. Gives how it holds the object, if that came with its start. */
    private @Nullable Claimed started(PipelinedCall next, Outcome outcome, @Nullable Claimed holder) {
        next.starts(false);
        LocalCaller passenger = Objects.requireNonNull(next.passenger());
        if (!(outcome instanceof Outcome.Started started)) {
            return null;
        }
        if (started.owned()) {
            return passenger.claim(started.run());
        }
        if (holder == null || !next.is(holder)) {
            passenger.settle(new Ride.Stored(started.run()));
            moreWait = true;
        }
        return null;
    }

    private Optional<PipelinedCall> goOn(Claimed holder, boolean whole, Optional<KnownState> known) {
        PipelinedCall first = cars.peekFirst();
        if (whole && first != null && first.is(holder)) {
            first.hold(holder);
            if (moreWait || !waiting.isEmpty()) {
                platform.overtaken();
            }
            return couple();
        }
        boolean warm = whole && first == null;
        if (first != null && first.passenger() != null && first.is(holder)) {
            first.passenger().settle(new Ride.Stored(holder.run()));
        }
        uncouple(!warm);
        platform.overtaken();
        waiting.removeIf(claim -> claim.run().equals(holder.run()));
        return Optional.of(begin(holder, warm ? known : Optional.empty()));
    }

    /** Nobody in the store waits. Whoever came meanwhile starts his call, and the others wait for him. */
    private Optional<PipelinedCall> nobodyGoesOn() {
        uncouple(true);
        departed = false;
        over |= !platform.sendFirst(this);
        return Optional.empty();
    }

    /** Nobody is ever told of what the cars that are left have done. */
    private void uncouple(boolean forgetsWaiting) {
        cars.forEach(car -> car.drop().ifPresent(platform::drop));
        cars.clear();
        if (forgetsWaiting) {
            waiting.clear();
        }
    }

    /** Takes over who waits, without those that have begun. */
    private void meet(List<Claimed> next) {
        if (!next.isEmpty()) {
            waiting.clear();
            next.stream()
                    .filter(claim -> cars.stream().noneMatch(car -> car.is(claim)))
                    .forEach(waiting::add);
        }
    }

    /** Nobody boards any more. */
    private boolean finish() {
        over = true;
        platform.close();
        return true;
    }

    private void close(boolean isOver) {
        if (isOver) {
            pipelines.remove(this);
        }
    }
}
