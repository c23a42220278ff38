package dev.perdure.internal.worker;

import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.object.CallEnds;
import dev.perdure.internal.object.CallPipeline;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import java.util.Optional;

/** The turn of a run that its session holds from the beginning. */
record HeldTurn(Session session, HeldRun held) implements Turn {
    @Override
    public boolean isAhead() {
        return false;
    }

    @Override
    public boolean isPipelined() {
        return false;
    }

    @Override
    public boolean isDropped() {
        return false;
    }

    @Override
    public void tellBegun() {
        session.began(held);
    }

    @Override
    public Optional<Control> await() {
        return Optional.of(held.control());
    }

    @Override
    public Outcome end(Change.Advance transition, Optional<KnownState> known) {
        int room = session.room();
        int takes = held.object() == null ? room : Math.min(room, CallPipeline.MAX_CLAIMED);
        return takes == 0
                ? session.store().commit(CallEnds.taking(transition, takes))
                : session.acquiring(() -> end(transition, takes, known));
    }

    private Outcome end(Change.Advance transition, int takes, Optional<KnownState> known) {
        Outcome outcome = session.store().commit(CallEnds.taking(transition, takes));
        switch (outcome) {
            case Outcome.Applied applied -> session.handed(applied.handed(), known, applied.next());
            case Outcome.AlreadyThere there -> session.forgot();
            default -> {}
        }
        return outcome;
    }

    @Override
    public void left() {}
}
