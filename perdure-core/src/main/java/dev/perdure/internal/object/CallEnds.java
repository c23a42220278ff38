package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The changes by which calls of a virtual object end. */
public final class CallEnds {
    private CallEnds() {}

    /**
     * The ends of cars, one behind another. All that the store knows but the last of them only pass the object on.
     *
     * @param takes how many of those that wait in the store the last of them takes on
     * @param beside who may wait in the store besides
     */
    static List<Change> of(List<PipelinedCall> ended, int takes, Set<RunId> beside) {
        List<Change> changes = new ArrayList<>();
        PipelinedCall last = ended.reversed().stream()
                .filter(car -> !car.isUnknown())
                .findFirst()
                .orElseThrow();
        RunRef before = null;
        for (PipelinedCall car : ended) {
            Change.Advance end = Objects.requireNonNull(car.end());
            if (car.isUnknown() && before != null && end.move() instanceof Move.End how) {
                NewRun run = Objects.requireNonNull(car.passenger()).run();
                changes.add(new Change.Whole(run, end.entries(), end.effects(), how, before.id(), beside));
            } else {
                changes.add(ending(end, car.ref(), car.epoch(), car == last ? takes : 1, before));
            }
            before = car.ref();
        }
        return changes;
    }

    /** The same end, with how many its worker goes on with. */
    public static Change.Advance taking(Change.Advance transition, int takes) {
        return ending(transition, transition.run(), transition.epoch(), takes, null);
    }

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

    static boolean isApplied(Outcome outcome) {
        return outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere;
    }
}
