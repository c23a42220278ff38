package dev.perdure.postgres.reaction;

import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import java.util.ArrayList;
import java.util.List;

/**
 * The runs that a batch may let fail, pause or cancel. Batches of runs that start, continue and complete have none, and
 * need no part for reactions.
 *
 * @param keys runs by their keys
 * @param ids runs by their ids
 * @param dags runs whose tasks may end with them, by their ids
 */
public record TouchedRuns(List<Long> keys, List<String> ids, List<String> dags) {
    /** Those of these changes. */
    public static TouchedRuns of(List<Change> changes) {
        TouchedRuns touched = new TouchedRuns(new ArrayList<>(0), new ArrayList<>(0), new ArrayList<>(0));
        for (Change change : changes) {
            touched.add(change);
        }
        return touched;
    }

    /** Runs by their keys. */
    public static TouchedRuns of(long... keys) {
        TouchedRuns touched = of(List.of());
        for (long key : keys) {
            touched.keys.add(key);
        }
        return touched;
    }

    private void add(Change change) {
        switch (change) {
            case Change.Advance advance -> {
                if (mayBeAnOccasion(advance.move())) {
                    keys.add(advance.run().key());
                }
                for (Effect effect : advance.effects()) {
                    if (effect instanceof Effect.Cancel cancel) {
                        ids.add(cancel.run().value());
                        dags.add(cancel.run().value());
                    }
                }
            }
            case Change.CompletedCall completed -> {
                if (mayBeAnOccasion(completed.end())) {
                    ids.add(completed.run().id().value());
                }
            }
            case Change.Command command -> {
                if (command.kind() != CommandKind.RESUME) {
                    ids.add(command.run().value());
                }
                if (command.kind().isForTasks()) {
                    dags.add(command.run().value());
                }
            }
            case Change.Start start -> {}
            case Change.Rerun rerun -> {}
            case Change.Retry retry -> {}
            case Change.Retell retell -> {}
            case Change.Fork fork -> {}
            case Change.Repair repair -> {}
            case Change.Reassign reassign -> {}
            case Change.Deliver deliver -> {}
        }
    }

    private static boolean mayBeAnOccasion(Move move) {
        return switch (move) {
            case Move.End end -> end.state() == RunState.FAILED || end.state() == RunState.CANCELLED;
            case Move.Pause pause -> true;
            case Move.Recover recover -> true;
            case Move.Stay() -> false;
            case Move.Wait wait -> false;
            case Move.Yield() -> false;
            case Move.Restart restart -> false;
            case Move.Arrive() -> false;
        };
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return keys.isEmpty() && ids.isEmpty();
    }

    long[] keyArray() {
        return keys.stream().mapToLong(Long::longValue).toArray();
    }
}
