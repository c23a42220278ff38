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

/** Makes the changes that end calls of a virtual object. */
public final class CallEnds {
    private CallEnds() {}

    /**
     * The ends of calls, one behind another. Each call that the store knows passes the object on to the next call. Only
     * the last of them asks for waiting calls.
     *
     * @param takes how many calls that wait in the store the last of them asks for
     * @param unseen calls that may wait in the store and are not in the pipeline
     */
    static List<Change> of(List<PipelinedCall> ended, int takes, Set<RunId> unseen) {
        List<Change> changes = new ArrayList<>();
        PipelinedCall last = ended.reversed().stream()
                .filter(call -> !call.isUnknown())
                .findFirst()
                .orElseThrow();
        RunRef before = null;
        for (PipelinedCall call : ended) {
            Change.Advance end = Objects.requireNonNull(call.end());
            if (call.isUnknown() && before != null && end.move() instanceof Move.End how) {
                NewRun run = Objects.requireNonNull(call.caller()).run();
                changes.add(new Change.CompletedCall(run, end.entries(), end.effects(), how, before.id(), unseen));
            } else {
                changes.add(ending(end, call.ref(), call.epoch(), call == last ? takes : 1, before));
            }
            before = call.ref();
        }
        return changes;
    }

    /** The same end, with the number of waiting runs that its worker asks for. */
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
