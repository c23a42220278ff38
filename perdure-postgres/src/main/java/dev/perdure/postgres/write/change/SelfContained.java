package dev.perdure.postgres.write.change;

import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;

/** Recognises changes that touch only the worker's own runs. Most changes do, so there are shorter plans for them. */
public final class SelfContained {
    private SelfContained() {}

    /** Whether it only appends to a journal. */
    public static boolean isAppend(Change.Advance advance) {
        return advance.move() instanceof Move.Stay && advance.effects().isEmpty();
    }

    /** Whether it only ends a run of which no other run has to be told. */
    public static boolean isEnd(Change.Advance advance) {
        return onlyEnds(advance) && !Keys.concernsOthers(advance.run().key());
    }

    /** Whether it makes a run wait, for a time or for mail. */
    public static boolean isWait(Change.Advance advance) {
        return advance.move() instanceof Move.Wait wait && wait.state() != RunState.PENDING;
    }

    /**
     * Whether a transition does nothing but take mail of its run and start runs that report to it, as a schedule does.
     */
    public static boolean onlyTakesAndStarts(Change.Advance advance) {
        return advance.effects().stream()
                .allMatch(effect -> effect instanceof Effect.Take
                        || (effect instanceof Effect.Start start && isReporting(start, advance)));
    }

    private static boolean isReporting(Effect.Start start, Change.Advance advance) {
        NewRun run = start.run();
        return start.tasks().isEmpty()
                && run.delay() == null
                && run.object() == null
                && run.description().attributes().isEmpty()
                && run.admission().startWithin() == null
                && run.parent() != null
                && run.parent().isReport()
                && run.parent().run().equals(advance.run());
    }

    /** Whether it starts runs beside what it does to its own run. */
    public static boolean startsOthers(Change.Advance advance) {
        return advance.effects().stream().anyMatch(Effect.Start.class::isInstance);
    }

    /** Whether it only ends a run. */
    public static boolean onlyEnds(Change.Advance advance) {
        return advance.move() instanceof Move.End
                && advance.entries().isEmpty()
                && advance.effects().isEmpty();
    }

    /** Whether it only starts or ends a call that holds a virtual object. */
    static boolean isCall(Change change) {
        return switch (change) {
            case Change.Start start -> isStartOfCall(start);
            case Change.Advance advance -> isEndOfCall(advance);
            default -> false;
        };
    }

    /** Whether it only ends a call that holds a virtual object, and sets values of its state. */
    public static boolean isEndOfCall(Change.Advance advance) {
        return advance.move() instanceof Move.End end
                && end.follows() == null
                && advance.entries().isEmpty()
                && advance.effects().stream().allMatch(Effect.SetState.class::isInstance)
                && Keys.concernsOnlyObject(advance.run().key());
    }

    /** Whether it only starts a call that holds a virtual object and that no other run knows. */
    public static boolean isStartOfCall(Change.Start start) {
        return isAlone(start)
                && start.run().object() != null
                && start.run().object().hold() == ObjectCall.Hold.EXCLUSIVE;
    }

    /** Whether it only starts a run that no other run knows. */
    public static boolean isStart(Change.Start start) {
        return isAlone(start) && start.run().object() == null;
    }

    private static boolean isAlone(Change.Start start) {
        NewRun run = start.run();
        return start.tasks().isEmpty()
                && start.mails().isEmpty()
                && run.delay() == null
                && run.parent() == null
                // Attributes have rows of their own.
                && run.description().attributes().isEmpty()
                // A run that starts as running has begun.
                && (start.owner() != null || run.admission().startWithin() == null);
    }
}
