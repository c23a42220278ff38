package dev.perdure.internal.engine;

import dev.perdure.internal.engine.Passenger.Ride;
import dev.perdure.internal.execution.Held;
import dev.perdure.internal.execution.Known;
import dev.perdure.internal.execution.Turn;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Change;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Control;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.ObjectKey;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Runs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
 * was in memory only, and the call that is next begins anew from the store. A passenger who is left behind starts his call like
 * any other. Nobody boards behind a call that does more than touch the state, because that may take long.
 */
final class Train {
    /** How many of those that wait in the store are worked on ahead of it at most. */
    static final int LONGEST = 64;

    private static final int MOST_CARS = 256;
    /** How many batches of others a passenger lets go first. */
    private static final int PATIENCE = 8;

    private final Session session;
    private final ObjectKey object;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Car> cars = new ArrayDeque<>();
    /** Those that wait in the store behind the last car, as far as they are known. */
    private final Deque<Claimed> waiting = new ArrayDeque<>();
    /** Those that the store does not know. */
    private final Deque<Passenger> platform = new ArrayDeque<>();

    private boolean sending;
    /** Whether the batch on its way frees the object, as far as is known here. */
    private boolean freeing;
    /** Whether several had their results by the last batch. */
    private volatile boolean crowded;
    /** Whether others may wait in the store who are not known here. */
    private boolean moreWait;
    /** Whether a first car was there. */
    private boolean departed;

    private boolean over;

    /** @param moreWait whether others may wait in the store already */
    Train(Session session, ObjectKey object, boolean moreWait) {
        this.session = session;
        this.object = object;
        this.moreWait = moreWait;
    }

    ObjectKey object() {
        return object;
    }

    /** A call holds the object; begins with it. False if this train is another call's. */
    boolean depart(Held holder, Journals.Page journal, List<Claimed> next) {
        Car first = new Car(holder, null);
        boolean mine = locked(() -> {
            if (departed || over) {
                return false;
            }
            departed = true;
            first.holding = claimOf(holder);
            cars.add(first);
            waiting.addAll(next);
            return true;
        });
        if (mine) {
            first.launch(journal);
        }
        return mine;
    }

    private static Claimed claimOf(Held held) {
        return new Claimed(
                held.run(),
                held.epoch(),
                held.definition().target().name(),
                held.input(),
                held.seed(),
                held.control(),
                held.deadline(),
                0,
                List.of(),
                held.object());
    }

    /** Lets a call ride along without a start of its own, if it can. */
    Ride carry(Passenger passenger) {
        Optional<Car> begins = Optional.empty();
        lock.lock();
        try {
            if (over || stands()) {
                return new Ride.LeftBehind();
            }
            platform.add(passenger);
            begins = couple();
        } finally {
            lock.unlock();
        }
        begins.ifPresent(Car::launch);
        return passenger.await();
    }

    /** The call that was to be the first car is not, or has been. */
    void expectNoMore() {
        close(locked(() -> departed ? false : finish()));
    }

    /** Somebody waits in the store. */
    void expectOthers() {
        locked(() -> moreWait = true);
    }

    /** Nothing is written any more. */
    void abandon() {
        locked(() -> {
            cars.forEach(Car::leaveBehind);
            return finish();
        });
    }

    /** One call. */
    private final class Car implements Turn {
        private final Held held;
        /** Who waits for it, if the store does not know it yet. */
        private final @Nullable Passenger passenger;

        private final Clockwork.Signal signal;
        /** How it holds the object; null before. */
        private @Nullable Claimed holding;
        /** Whether its start is on its way. */
        private boolean starting;
        /** Whether it does more than touch the state. */
        private boolean standing;

        private Change.@Nullable Advance end;
        private Optional<Known> known = Optional.empty();
        private @Nullable Outcome outcome;
        private boolean told;

        Car(Held held, @Nullable Passenger passenger) {
            this.held = held;
            this.passenger = passenger;
            this.signal = session.clockwork().signal();
        }

        void launch() {
            launch(Journals.Page.EMPTY);
        }

        private void launch(Journals.Page journal) {
            told = !isAhead();
            session.launch(held, journal, this);
        }

        private boolean is(Claimed other) {
            return passenger == null
                    ? held.run().equals(other.run()) && held.epoch() == other.epoch()
                    : held.run().id().equals(other.run().id());
        }

        private boolean isUnknown() {
            return passenger != null && holding == null;
        }

        /** The run as the store knows it. */
        private RunRef ref() {
            return holding == null ? held.run() : holding.run();
        }

        private long epoch() {
            return holding == null ? held.epoch() : holding.epoch();
        }

        @Override
        public boolean isAhead() {
            return locked(() -> holding == null);
        }

        @Override
        public boolean isWatched() {
            return true;
        }

        @Override
        public Optional<Control> await() {
            while (true) {
                locked(this::stand).ifPresent(Car::launch);
                if (locked(() -> holding != null || outcome != null)) {
                    break;
                }
                Waiting.forSignal(signal);
            }
            Optional<Control> asked = locked(
                    () -> outcome == null ? Optional.ofNullable(holding).map(Claimed::control) : Optional.empty());
            asked.ifPresent(unused -> tell());
            return asked;
        }

        /**
         * It does more than touch the state. One that the store did not know when it began has no place there to write to: it
         * begins anew if it holds the object by now, and gets off otherwise. Gives the car that begins instead.
         */
        private Optional<Car> stand() {
            if (outcome != null || starting) {
                return Optional.empty();
            }
            standing = true;
            if (passenger == null) {
                leavePlatform();
                return Optional.empty();
            }
            session.wantsMore(held.definition());
            cars.remove(this);
            Claimed mine = holding;
            if (mine == null) {
                settle(new Outcome.Fenced());
                return couple();
            }
            passenger.settle(new Ride.Stored(mine.run()));
            settle(new Outcome.Fenced());
            return Optional.of(begin(mine, Optional.empty()));
        }

        @Override
        public Outcome end(Change.Advance transition, Optional<Known> state) {
            locked(() -> come(transition, state)).ifPresent(Car::launch);
            while (true) {
                if (locked(this::takesTheLead)) {
                    lead();
                }
                Outcome settled = locked(() -> outcome);
                if (settled != null) {
                    if (isApplied(settled)) {
                        tell();
                    }
                    return settled;
                }
                Waiting.forSignal(signal);
            }
        }

        /** It has come to its end. Gives the car that begins now. */
        private Optional<Car> come(Change.Advance transition, Optional<Known> state) {
            end = transition;
            known = state;
            return couple();
        }

        private boolean takesTheLead() {
            boolean takes = !sending && cars.peekFirst() == this && holding != null && end != null;
            sending |= takes;
            return takes;
        }

        private void tell() {
            if (!told) {
                told = true;
                session.began(held);
            }
        }

        private void settle(Outcome what) {
            outcome = what;
            if (passenger != null) {
                session.unexpect(held.run().id());
                if (isApplied(what) && end != null && end.move() instanceof Move.End how) {
                    passenger.settle(new Ride.Arrived(new Runs.Ended(ref(), how.state(), how.outcome(), how.reason())));
                }
                leaveBehind();
            }
            signal.raise();
        }

        private void leaveBehind() {
            if (passenger != null) {
                passenger.settle(new Ride.LeftBehind());
            }
        }

        @Override
        public void left() {
            close(locked(this::leave));
        }

        /** It has left memory. Without an end of its own nobody goes on behind it. */
        private boolean leave() {
            if (outcome != null || !cars.contains(this)) {
                return false;
            }
            uncouple(true);
            return finish();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets the next begin behind the last car, if that has come to its end and knows the state, and there is room. Those that
     * wait in the store go first.
     */
    private Optional<Car> couple() {
        Car last = cars.peekLast();
        boolean left = last != null && last.end != null && last.known.isPresent();
        if (last == null || !left || cars.size() >= MOST_CARS || session.room() == 0) {
            return Optional.empty();
        }
        Car next;
        if (!waiting.isEmpty()) {
            next = new Car(heldOf(waiting.removeFirst(), last.known), null);
        } else {
            platform.removeIf(Passenger::isGone);
            Passenger passenger = moreWait || freeing ? null : platform.pollFirst();
            if (passenger == null) {
                return Optional.empty();
            }
            next = new Car(heldOf(passenger, last.known), passenger);
        }
        cars.add(next);
        return Optional.of(next);
    }

    /** Whether somebody would wait long: the last car does more than touch the state. */
    private boolean stands() {
        Car last = cars.peekLast();
        return last != null && last.standing && last.end == null;
    }

    /** A call that holds the object is the first car. */
    private Car begin(Claimed holder, Optional<Known> known) {
        Car first = new Car(heldOf(holder, known), null);
        first.holding = holder;
        cars.addFirst(first);
        return first;
    }

    private Held heldOf(Claimed claim, Optional<Known> known) {
        return Held.of(claim, session.definition(claim.definition()), known);
    }

    private Held heldOf(Passenger passenger, Optional<Known> known) {
        RunRef unstored = new RunRef(passenger.run().id(), session.provisionalKey());
        return Held.of(claimed(passenger.run(), unstored), passenger.definition(), known);
    }

    private static Claimed claimed(NewRun run, RunRef ref) {
        return new Claimed(
                ref,
                Outcome.Started.FIRST_EPOCH,
                run.definition(),
                run.input(),
                run.seed(),
                Control.NONE,
                null,
                0,
                List.of(),
                run.object());
    }

    // ---- sending

    /**
     * What is sent at once.
     *
     * @param cars that end
     * @param next the one behind them, if it is to be started
     * @param takes how many of those that wait in the store are asked for
     * @param changes for each of the cars, and for the next one
     */
    private record Batch(List<Car> cars, Optional<Car> next, int takes, List<Change> changes) {}

    private void lead() {
        if (crowded) {
            session.clockwork().giveWay(); // those who have just heard of their results come back
        }
        Batch batch = locked(this::load);
        List<Outcome> outcomes = Collections.nCopies(batch.changes.size(), new Outcome.Fenced());
        try {
            outcomes = session.committer().commitAll(batch.changes);
        } finally {
            List<Outcome> all = outcomes;
            locked(() -> settle(batch, all)).ifPresent(Car::launch);
            close(locked(() -> over));
        }
        if (outcomes.stream().anyMatch(Outcome.AlreadyThere.class::isInstance)) {
            session.forgot(); // who was handed over went with the answer
        }
    }

    private Batch load() {
        List<Car> ended = cars.stream().takeWhile(car -> car.end != null).toList();
        Optional<Car> next = cars.stream().skip(ended.size()).findFirst().filter(Car::isUnknown);
        freeing = cars.size() == ended.size() && waiting.isEmpty();
        int most = waiting.isEmpty() ? LONGEST : 1;
        int takes = Math.min(most, Math.max(session.room(), cars.size() > ended.size() ? 1 : 0));
        List<Change> changes = changes(ended, takes);
        next.ifPresent(car -> {
            car.starting = true;
            session.expect(car.held.run().id());
            changes.add(new Change.Start(Objects.requireNonNull(car.passenger).run(), session.id()));
        });
        return new Batch(ended, next, takes, changes);
    }

    /** All that the store knows but the last of them only pass the object on. */
    private static List<Change> changes(List<Car> ended, int takes) {
        List<Change> changes = new ArrayList<>();
        Car last = ended.reversed().stream()
                .filter(car -> !car.isUnknown())
                .findFirst()
                .orElseThrow();
        RunRef before = null;
        for (Car car : ended) {
            Change.Advance end = Objects.requireNonNull(car.end);
            if (car.isUnknown() && before != null && end.move() instanceof Move.End how) {
                NewRun run = Objects.requireNonNull(car.passenger).run();
                changes.add(new Change.Whole(run, end.entries(), end.effects(), how, before.id()));
            } else {
                changes.add(ending(end, car.ref(), car.epoch(), car == last ? takes : 1, before));
            }
            before = car.ref();
        }
        return changes;
    }

    /** The same end, with how many its worker goes on with. */
    private static Change.Advance ending(
            Change.Advance transition, RunRef run, long epoch, int takes, @Nullable RunRef follows) {
        if (!(transition.move() instanceof Move.End end)) {
            throw new IllegalArgumentException("Not an end: " + transition.move());
        }
        return new Change.Advance(
                run,
                epoch,
                transition.entries(),
                transition.effects(),
                new Move.End(end.state(), end.outcome(), end.reason(), takes, follows));
    }

    /** The same end, with how many its worker goes on with. */
    static Change.Advance ending(Change.Advance transition, int takes) {
        return ending(transition, transition.run(), transition.epoch(), takes, null);
    }

    private static boolean isApplied(Outcome outcome) {
        return outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere;
    }

    /** Hands outcomes out and sees who is next. Gives the car that begins now. */
    private Optional<Car> settle(Batch batch, List<Outcome> outcomes) {
        sending = false;
        freeing = false;
        crowded = batch.cars.size() > 1;
        Claimed holder = null;
        boolean whole = true;
        for (int i = 0; i < batch.cars.size(); i++) {
            Car car = batch.cars.get(i);
            Outcome outcome = outcomes.get(i);
            whole &= isApplied(outcome);
            holder = holder != null && isApplied(outcome) && car.is(holder) ? null : holder;
            if (outcome instanceof Outcome.Applied applied && !applied.handed().isEmpty()) {
                holder = applied.handed().getLast();
                meet(applied.next());
            }
            cars.remove(car);
            car.settle(outcome);
        }
        moreWait = !whole || (batch.takes > 1 ? waiting.size() >= batch.takes - 1 : moreWait);
        if (batch.next.isPresent()) {
            Claimed started = started(batch.next.get(), outcomes.getLast(), holder);
            holder = holder == null ? started : holder;
        }
        losePatience();
        return holder == null ? nobodyGoesOn() : goOn(holder, whole, batch.cars.getLast().known);
    }

    /** The car behind the batch was started. Gives how it holds the object, if that came with its start. */
    private @Nullable Claimed started(Car next, Outcome outcome, @Nullable Claimed holder) {
        next.starting = false;
        Passenger passenger = Objects.requireNonNull(next.passenger);
        if (!(outcome instanceof Outcome.Started started)) {
            return null;
        }
        if (started.owned()) {
            return claimed(passenger.run(), started.run());
        }
        if (holder == null || !next.is(holder)) {
            passenger.settle(new Ride.Stored(started.run()));
        }
        return null;
    }

    private Optional<Car> goOn(Claimed holder, boolean whole, Optional<Known> known) {
        Car first = cars.peekFirst();
        if (whole && first != null && first.is(holder)) {
            first.holding = holder;
            first.signal.raise();
            return couple();
        }
        boolean warm = whole && first == null;
        if (first != null && first.passenger != null && first.is(holder)) {
            first.passenger.settle(new Ride.Stored(holder.run()));
        }
        uncouple(!warm);
        waiting.removeIf(claim -> claim.run().equals(holder.run()));
        return Optional.of(begin(holder, warm ? known : Optional.empty()));
    }

    /** Nobody in the store waits. Whoever came meanwhile starts his call, and the others wait for him. */
    private Optional<Car> nobodyGoesOn() {
        uncouple(true);
        departed = false;
        over = true;
        while (over && !platform.isEmpty()) {
            over = !platform.removeFirst().settle(new Ride.GoesFirst(this));
        }
        return Optional.empty();
    }

    /** Nobody is ever told of what the cars that are left have done. */
    private void uncouple(boolean forgetsWaiting) {
        cars.forEach(car -> car.settle(new Outcome.Fenced()));
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

    // ---- passengers

    private void losePatience() {
        platform.removeIf(passenger -> {
            boolean leaves = passenger.overtaken() > PATIENCE;
            if (leaves) {
                passenger.settle(new Ride.LeftBehind());
            }
            return leaves;
        });
    }

    private void leavePlatform() {
        platform.forEach(passenger -> passenger.settle(new Ride.LeftBehind()));
        platform.clear();
    }

    /** Nobody boards any more. */
    private boolean finish() {
        over = true;
        leavePlatform();
        return over;
    }

    private void close(boolean isOver) {
        if (isOver) {
            session.forget(this);
        }
    }
}
