package dev.perdure.internal.engine;

import dev.perdure.internal.execution.Known;
import dev.perdure.internal.execution.Turn;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Change;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Control;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one virtual object that this worker carries on one behind another, so that their ends share commits.
 *
 * <p>How it works. The first car is the call that holds the object. When a call comes to its end, the next one begins from what
 * it left in memory, although nothing of that is durable. Whoever finds nobody sending sends the ends of all cars from the first
 * on that have come to theirs, in one batch; those that come meanwhile go with the next one. So nobody waits for a timer, and
 * nobody for a call behind him.
 *
 * <p>Invariants. The first car holds the object as soon as it is the first. A car behind it writes nothing but its end, in the
 * batch in which all before it end, and tells nobody of it before the commit. The store applies that end only if the call is
 * next. If an end is not applied, or the store names another call as next, the cars behind are uncoupled: what they have done
 * was in memory only, and the call that is next begins anew from the store.
 */
final class Train {
    /** How many are worked on ahead of the store at most. */
    static final int LONGEST = 64;

    private final Session session;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Car> cars = new ArrayDeque<>();
    /** Those that wait behind the last car, as far as they are known. */
    private final Deque<Claimed> waiting = new ArrayDeque<>();

    private boolean sending;

    private Train(Session session) {
        this.session = session;
    }

    /** A call holds the object, and others are known to wait behind it. */
    static void depart(Session session, Claimed holder, List<Claimed> next, Optional<Known> known) {
        Train train = new Train(session);
        Car first = train.new Car(holder, holder.control(), known);
        train.cars.add(first);
        train.waiting.addAll(next);
        first.launch();
    }

    /** One call. */
    private final class Car implements Turn {
        private final Claimed claim;
        private final Optional<Known> before;
        private final Clockwork.Signal signal;
        /** What is asked of it since it holds the object; null before. */
        private @Nullable Control held;

        private Change.@Nullable Advance end;
        private Optional<Known> known = Optional.empty();
        private @Nullable Outcome outcome;
        private boolean told;

        Car(Claimed claim, @Nullable Control held, Optional<Known> before) {
            this.claim = claim;
            this.held = held;
            this.before = before;
            this.signal = session.clockwork().signal();
        }

        void launch() {
            told = !isAhead();
            session.launch(claim, before, this);
        }

        private boolean is(Claimed other) {
            return claim.run().equals(other.run()) && claim.epoch() == other.epoch();
        }

        @Override
        public boolean isAhead() {
            return locked(() -> held == null);
        }

        @Override
        public Optional<Control> await() {
            while (locked(() -> held == null && outcome == null)) {
                Waiting.forSignal(signal);
            }
            Optional<Control> asked = locked(() -> outcome == null ? Optional.ofNullable(held) : Optional.empty());
            asked.ifPresent(unused -> tell());
            return asked;
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
            boolean takes = !sending && cars.peekFirst() == this && held != null && end != null;
            sending |= takes;
            return takes;
        }

        private void tell() {
            if (!told) {
                told = true;
                session.began(claim);
            }
        }

        private void settle(Outcome what) {
            outcome = what;
            signal.raise();
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

    /** Lets the next that waits begin behind the last car, if that has come to its end and knows the state, and there is room. */
    private Optional<Car> couple() {
        Car last = cars.peekLast();
        boolean left = last != null && last.end != null && last.known.isPresent();
        if (last == null || !left || waiting.isEmpty() || session.room() == 0) {
            return Optional.empty();
        }
        Car next = new Car(waiting.removeFirst(), null, last.known);
        cars.add(next);
        return Optional.of(next);
    }

    // ---- sending

    private void lead() {
        List<Car> batch = locked(this::ended);
        List<Change> ends = locked(() -> ends(batch));
        List<Outcome> outcomes = Collections.nCopies(batch.size(), new Outcome.Fenced());
        Optional<Car> begins = Optional.empty();
        try {
            outcomes = session.committer().commitAll(ends);
        } finally {
            List<Outcome> all = outcomes;
            begins = locked(() -> settle(batch, all));
        }
        begins.ifPresent(Car::launch);
        if (outcomes.stream().anyMatch(Outcome.AlreadyThere.class::isInstance)) {
            session.forgot(); // who was handed over went with the answer
        }
    }

    private List<Car> ended() {
        return cars.stream().takeWhile(car -> car.end != null).toList();
    }

    /** All but the last only pass the object on; who else waits is asked for when nobody is known any more. */
    private List<Change> ends(List<Car> batch) {
        int most = waiting.isEmpty() ? LONGEST : 1;
        int takes = Math.min(most, Math.max(session.room(), cars.size() > batch.size() ? 1 : 0));
        List<Change> ends = new ArrayList<>();
        RunRef before = null;
        for (Car car : batch) {
            if (car.end != null) {
                ends.add(ending(car.end, car == batch.getLast() ? takes : 1, before));
            }
            before = car.claim.run();
        }
        return ends;
    }

    /** The same end, with how many its worker goes on with. */
    static Change.Advance ending(Change.Advance transition, int takes, @Nullable RunRef follows) {
        if (!(transition.move() instanceof Move.End end)) {
            throw new IllegalArgumentException("Not an end: " + transition.move());
        }
        return new Change.Advance(
                transition.run(),
                transition.epoch(),
                transition.entries(),
                transition.effects(),
                new Move.End(end.state(), end.outcome(), end.reason(), takes, follows));
    }

    private static boolean isApplied(Outcome outcome) {
        return outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere;
    }

    /** Hands outcomes out and sees who is next. Gives the car that begins now. */
    private Optional<Car> settle(List<Car> batch, List<Outcome> outcomes) {
        Claimed holder = null;
        for (int i = 0; i < batch.size(); i++) {
            Car car = batch.get(i);
            Outcome outcome = outcomes.get(i);
            holder = holder != null && isApplied(outcome) && car.is(holder) ? null : holder;
            if (outcome instanceof Outcome.Applied applied && !applied.handed().isEmpty()) {
                holder = applied.handed().getLast();
                meet(applied.next());
            }
            cars.remove(car);
            car.settle(outcome);
        }
        sending = false;
        boolean whole = outcomes.stream().allMatch(Train::isApplied);
        return holder == null ? uncoupled() : goOn(holder, whole, batch.getLast().known);
    }

    private Optional<Car> goOn(Claimed holder, boolean whole, Optional<Known> known) {
        Car first = cars.peekFirst();
        if (whole && first != null && first.is(holder)) {
            first.held = holder.control();
            first.signal.raise();
            return couple();
        }
        boolean warm = whole && first == null;
        if (!warm) {
            uncoupled();
        }
        waiting.removeIf(claim -> claim.run().equals(holder.run()));
        Car anew = new Car(holder, holder.control(), warm ? known : Optional.empty());
        cars.add(anew);
        return Optional.of(anew);
    }

    /** Nobody is ever told of what the cars that are left have done. */
    private Optional<Car> uncoupled() {
        cars.forEach(car -> car.settle(new Outcome.Fenced()));
        cars.clear();
        waiting.clear();
        return Optional.empty();
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
}
