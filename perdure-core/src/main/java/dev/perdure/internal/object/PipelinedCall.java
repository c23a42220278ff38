package dev.perdure.internal.object;

import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.object.LocalCaller.Ride;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One call in a {@link CallPipeline}, by whose lock it is guarded. */
final class PipelinedCall implements Turn {
    private final CallPipeline train;
    private final PipelineHost host;
    private final HeldRun held;
    /** Who waits for it, if the store does not know it yet. */
    private final @Nullable LocalCaller passenger;

    private final Clockwork.Signal signal;
    /** How it holds the object; null before. */
    private @Nullable Claimed holding;
    /** Whether its start is on its way. */
    private boolean starting;
    /** Whether it does more than touch the state. */
    private boolean standing;

    private Change.@Nullable Advance end;
    private Optional<KnownState> known = Optional.empty();
    private @Nullable Outcome outcome;
    private boolean told;

    PipelinedCall(CallPipeline train, HeldRun held, @Nullable LocalCaller passenger) {
        this.train = train;
        this.host = train.host();
        this.held = held;
        this.passenger = passenger;
        this.signal = host.clockwork().signal();
    }

    void launch() {
        launch(Journals.Page.EMPTY);
    }

    void launch(Journals.Page journal) {
        host.launch(held, journal, this);
    }

    // ---- for the train, under its lock

    boolean is(Claimed other) {
        return passenger == null
                ? held.run().equals(other.run()) && held.epoch() == other.epoch()
                : held.run().id().equals(other.run().id());
    }

    boolean isUnknown() {
        return passenger != null && holding == null;
    }

    /** The run as the store knows it. */
    RunRef ref() {
        return holding == null ? held.run() : holding.run();
    }

    long epoch() {
        return holding == null ? held.epoch() : holding.epoch();
    }

    @Nullable
    LocalCaller passenger() {
        return passenger;
    }

    Change.@Nullable Advance end() {
        return end;
    }

    /** What it left in memory, once it has come to its end. */
    Optional<KnownState> knownAfter() {
        return end == null ? Optional.empty() : known;
    }

    /** Whether it does more than touch the state, and has not come to its end. */
    boolean stands() {
        return standing && end == null;
    }

    void holdFromTheBeginning() {
        holding = new Claimed(
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

    void hold(Claimed how) {
        holding = how;
        signal.raise();
    }

    void starts(boolean isOnItsWay) {
        starting = isOnItsWay;
    }

    void settle(Outcome what) {
        outcome = what;
        if (passenger != null) {
            host.unexpect(held.run().id());
            if (CallEnds.isApplied(what) && end != null && end.move() instanceof Move.End how) {
                passenger.settle(new Ride.Arrived(new Runs.Ended(ref(), how.state(), how.outcome(), how.reason())));
            }
            leaveBehind();
        }
        signal.raise();
    }

    /** What it has done counts for nothing. Gives who waits for it, if the store does not know it: it can be done again. */
    Optional<LocalCaller> drop() {
        if (passenger == null || !isUnknown() || starting || passenger.isGone()) {
            settle(new Outcome.Fenced());
            return Optional.empty();
        }
        outcome = new Outcome.Fenced();
        signal.raise();
        return Optional.of(passenger);
    }

    void leaveBehind() {
        if (passenger != null) {
            passenger.settle(new Ride.LeftBehind());
        }
    }

    // ---- for the execution

    @Override
    public boolean isAhead() {
        return train.locked(() -> holding == null);
    }

    @Override
    public boolean isWatched() {
        return true;
    }

    @Override
    public boolean isDropped() {
        return train.locked(() -> outcome instanceof Outcome.Fenced);
    }

    @Override
    public Optional<Control> await() {
        while (true) {
            train.couple(this::stand);
            if (train.locked(() -> holding != null || outcome != null)) {
                break;
            }
            Waiting.forSignal(signal);
        }
        Optional<Control> asked =
                train.locked(() -> mayWrite() ? Optional.ofNullable(holding).map(Claimed::control) : Optional.empty());
        asked.ifPresent(unused -> tellBegun());
        return asked;
    }

    /**
     * Whether it may do more than end: it has not come to an end, or the store refused that and it holds the object still. One
     * that the store did not know when it began has no place there to write to.
     */
    private boolean mayWrite() {
        return outcome == null || (outcome instanceof Outcome.Refused && passenger == null);
    }

    /**
     * It does more than touch the state. One that the store did not know when it began has no place there to write to: it
     * begins anew if it holds the object by now, and gets off otherwise. Gives the car that begins instead.
     */
    private Optional<PipelinedCall> stand() {
        if (outcome != null || starting) {
            return Optional.empty();
        }
        standing = true;
        if (passenger == null) {
            train.letNobodyWait();
            return Optional.empty();
        }
        train.exclude(held.definition());
        Claimed mine = holding;
        if (mine != null) {
            passenger.settle(new Ride.Stored(mine.run()));
        }
        settle(new Outcome.Fenced());
        return train.getOff(this, Optional.ofNullable(mine));
    }

    @Override
    public Outcome end(Change.Advance transition, Optional<KnownState> state) {
        train.couple(() -> come(transition, state));
        while (true) {
            if (train.locked(() -> holding != null && end != null && train.takesTheLead(this))) {
                train.lead();
            }
            Outcome settled = train.locked(() -> outcome);
            if (settled != null) {
                if (CallEnds.isApplied(settled)) {
                    tellBegun();
                }
                return settled;
            }
            Waiting.forSignal(signal);
        }
    }

    /** It has come to its end. Gives the car that begins now. */
    private Optional<PipelinedCall> come(Change.Advance transition, Optional<KnownState> state) {
        end = transition;
        known = state;
        return train.couple();
    }

    @Override
    public void tellBegun() {
        if (!told) {
            told = true;
            host.began(held);
        }
    }

    @Override
    public void left() {
        train.left(this);
    }

    boolean isSettled() {
        return outcome != null;
    }
}
