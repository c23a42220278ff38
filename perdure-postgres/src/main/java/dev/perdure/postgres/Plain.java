package dev.perdure.postgres;

import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;

/** Which changes touch nothing but the worker's own runs. Most do, so there are short ways for them. */
final class Plain {
    private Plain() {}

    /** Whether it does nothing but append to a journal. */
    static boolean isAppend(Change.Advance advance) {
        return advance.move() instanceof Move.Stay && advance.effects().isEmpty();
    }

    /** Whether it does nothing but end a run, of which no other run has to hear. */
    static boolean isEnd(Change.Advance advance) {
        return onlyEnds(advance) && !Keys.concernsOthers(advance.run().key());
    }

    /** Whether it does nothing but end a run. */
    static boolean onlyEnds(Change.Advance advance) {
        return advance.move() instanceof Move.End
                && advance.entries().isEmpty()
                && advance.effects().isEmpty();
    }

    /** Whether it does nothing but start a run, of which no other run knows. */
    static boolean isStart(Change.Start start) {
        NewRun run = start.run();
        return start.tasks().isEmpty()
                && start.mails().isEmpty()
                && run.delay() == null
                && run.parent() == null
                && run.object() == null;
    }
}
