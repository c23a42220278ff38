package dev.perdure.postgres.write.change;

import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;

/** Which changes touch nothing but the worker's own runs. Most do, so there are short ways for them. */
public final class SelfContained {
    private SelfContained() {}

    /** Whether it does nothing but append to a journal. */
    public static boolean isAppend(Change.Advance advance) {
        return advance.move() instanceof Move.Stay && advance.effects().isEmpty();
    }

    /** Whether it does nothing but end a run, of which no other run has to hear. */
    public static boolean isEnd(Change.Advance advance) {
        return onlyEnds(advance) && !Keys.concernsOthers(advance.run().key());
    }

    /** Whether it does nothing but let a run wait, for time or for what others send. */
    public static boolean isWait(Change change) {
        return change instanceof Change.Advance advance
                && advance.move() instanceof Move.Wait wait
                && wait.state() != RunState.PENDING
                && advance.effects().isEmpty();
    }

    /** Whether it does nothing but end a run. */
    public static boolean onlyEnds(Change.Advance advance) {
        return advance.move() instanceof Move.End
                && advance.entries().isEmpty()
                && advance.effects().isEmpty();
    }

    /** Whether it starts or ends a call that holds a virtual object, and does nothing else. */
    static boolean isCall(Change change) {
        return switch (change) {
            case Change.Start start -> isStartOfCall(start);
            case Change.Advance advance -> isEndOfCall(advance);
            default -> false;
        };
    }

    /** Whether it does nothing but end a call that holds a virtual object, and set values of its state. */
    public static boolean isEndOfCall(Change.Advance advance) {
        return advance.move() instanceof Move.End end
                && end.follows() == null
                && advance.entries().isEmpty()
                && advance.effects().stream().allMatch(Effect.SetState.class::isInstance)
                && Keys.concernsOnlyObject(advance.run().key());
    }

    /** Whether it does nothing but start a call that holds a virtual object, of which no other run knows. */
    public static boolean isStartOfCall(Change.Start start) {
        return isAlone(start)
                && start.run().object() != null
                && start.run().object().hold() == ObjectCall.Hold.EXCLUSIVE;
    }

    /** Whether it does nothing but start a run, of which no other run knows. */
    public static boolean isStart(Change.Start start) {
        return isAlone(start) && start.run().object() == null;
    }

    private static boolean isAlone(Change.Start start) {
        NewRun run = start.run();
        return start.tasks().isEmpty()
                && start.mails().isEmpty()
                && run.delay() == null
                && run.parent() == null
                // One that is born running has begun.
                && (start.owner() != null || run.admission().startWithin() == null);
    }
}
