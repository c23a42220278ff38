package dev.perdure.internal.object;

import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.object.LocalCaller.Reply;
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

/** One call in a {@link CallPipeline}. The pipeline's lock guards it. */
final class PipelinedCall implements Turn {
    private final CallPipeline pipeline;
    private final PipelineHost host;
    private final HeldRun held;
    /** The caller in this process, if the store does not know the call yet; else null. */
    private final @Nullable LocalCaller caller;

    private final Clockwork.Signal signal;
    /** How it holds the object; null until it does. */
    private @Nullable Claimed holding;
    /** Whether its start is on its way. */
    private boolean starting;
    /** Whether it does more than read and write the state, and so may take long. */
    private boolean blocking;

    private Change.@Nullable Advance end;
    private Optional<KnownState> known = Optional.empty();
    private @Nullable Outcome outcome;
    private boolean told;

    PipelinedCall(CallPipeline pipeline, HeldRun held, @Nullable LocalCaller caller) {
        this.pipeline = pipeline;
        this.host = pipeline.host();
        this.held = held;
        this.caller = caller;
        this.signal = host.clockwork().signal();
    }

    void launch() {
        launch(Journals.Page.EMPTY);
    }

    void launch(Journals.Page journal) {
        host.launch(held, journal, this);
    }

    // ---- for the pipeline, under its lock

    boolean is(Claimed other) {
        return caller == null
                ? held.run().equals(other.run()) && held.epoch() == other.epoch()
                : held.run().id().equals(other.run().id());
    }

    boolean isUnknown() {
        return caller != null && holding == null;
    }

    /** The run as the store knows it. */
    RunRef ref() {
        return holding == null ? held.run() : holding.run();
    }

    long epoch() {
        return holding == null ? held.epoch() : holding.epoch();
    }

    @Nullable
    LocalCaller caller() {
        return caller;
    }

    Change.@Nullable Advance end() {
        return end;
    }

    /** The state that it left in memory when it ended. */
    Optional<KnownState> knownAfter() {
        return end == null ? Optional.empty() : known;
    }

    /** Whether it does more than read and write the state, and has not ended. */
    boolean isBlocking() {
        return blocking && end == null;
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
                held.object(),
                held.origin());
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
        if (caller != null) {
            host.unexpect(held.run().id());
            if (CallEnds.isApplied(what) && end != null && end.move() instanceof Move.End how) {
                caller.settle(new Reply.Ended(new Runs.Ended(ref(), how.state(), how.outcome(), how.reason())));
            }
            turnCallerAway();
        }
        signal.raise();
    }

    /**
     * Discards what the call has done. Returns its caller if the store does not know the call, so that it can be
     * executed again.
     */
    Optional<LocalCaller> drop() {
        if (caller == null || !isUnknown() || starting || caller.isSettled()) {
            settle(new Outcome.Fenced());
            return Optional.empty();
        }
        outcome = new Outcome.Fenced();
        signal.raise();
        return Optional.of(caller);
    }

    void turnCallerAway() {
        if (caller != null) {
            caller.settle(new Reply.NotStored());
        }
    }

    // ---- for the execution

    @Override
    public boolean isAhead() {
        return pipeline.locked(() -> holding == null);
    }

    @Override
    public boolean isPipelined() {
        return true;
    }

    @Override
    public boolean isDropped() {
        return pipeline.locked(() -> outcome instanceof Outcome.Fenced);
    }

    @Override
    public Optional<Control> await() {
        while (true) {
            pipeline.launchNext(this::block);
            if (pipeline.locked(() -> holding != null || outcome != null)) {
                break;
            }
            Waiting.forSignal(signal);
        }
        Optional<Control> asked = pipeline.locked(
                () -> mayWrite() ? Optional.ofNullable(holding).map(Claimed::control) : Optional.empty());
        asked.ifPresent(unused -> tellBegun());
        return asked;
    }

    /**
     * Whether the call may write more than its end: it has not ended, or the store refused its end and it still holds
     * the object. A call that the store did not know when it began has no row to write to.
     */
    private boolean mayWrite() {
        return outcome == null || (outcome instanceof Outcome.Refused && caller == null);
    }

    /**
     * The call does more than read and write the state. If the store did not know the call when it began, the call has
     * no row to write to. It begins again if it holds the object by now; otherwise its caller starts it. Returns the
     * call that begins instead.
     */
    private Optional<PipelinedCall> block() {
        if (outcome != null || starting) {
            return Optional.empty();
        }
        blocking = true;
        if (caller == null) {
            pipeline.turnCallersAway();
            return Optional.empty();
        }
        pipeline.exclude(held.definition());
        Claimed mine = holding;
        if (mine != null) {
            caller.settle(new Reply.Stored(mine.run()));
        }
        settle(new Outcome.Fenced());
        return pipeline.replace(this, Optional.ofNullable(mine));
    }

    @Override
    public Outcome end(Change.Advance transition, Optional<KnownState> state) {
        pipeline.launchNext(() -> endInMemory(transition, state));
        while (true) {
            if (pipeline.locked(() -> holding != null && end != null && pipeline.takesLead(this))) {
                pipeline.sendEnds();
            }
            Outcome settled = pipeline.locked(() -> outcome);
            if (settled != null) {
                if (CallEnds.isApplied(settled)) {
                    tellBegun();
                }
                return settled;
            }
            Waiting.forSignal(signal);
        }
    }

    /** The call has ended in memory. Returns the call that begins now. */
    private Optional<PipelinedCall> endInMemory(Change.Advance transition, Optional<KnownState> state) {
        end = transition;
        known = state;
        return pipeline.addNext();
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
        pipeline.left(this);
    }

    boolean isSettled() {
        return outcome != null;
    }
}
