package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.internal.schedule.ScheduleCommand;
import dev.perdure.internal.schedule.ScheduleCommand.Kind;
import dev.perdure.internal.text.Texts;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.ScheduleChanges;
import java.time.Instant;

/** Everything that is asked of a schedule is a command to its run. How the command gets there is left open. */
interface CommandedSchedules extends ScheduleChanges {
    ScheduleWrites writes();

    /** Sends a command to the run of a schedule. */
    void tell(String name, ScheduleCommand command);

    @Override
    default void pause(String name, String note) {
        Texts.requireReason(note);
        tell(name, ScheduleCommand.pause(note));
    }

    @Override
    default void resume(String name) {
        tell(name, ScheduleCommand.of(Kind.RESUME));
    }

    @Override
    default RunId trigger(String name) {
        RunId run = writes().triggered(name);
        tell(name, ScheduleCommand.trigger(run.value()));
        return run;
    }

    @Override
    default void backfill(String name, Instant from, Instant to, Overlap overlap) {
        tell(name, ScheduleWrites.backfill(from, to, overlap));
    }

    @Override
    default void skipNext(String name) {
        tell(name, ScheduleCommand.of(Kind.SKIP_NEXT));
    }

    @Override
    default void reset(String name) {
        tell(name, ScheduleCommand.of(Kind.RESET));
    }

    @Override
    default void delete(String name) {
        tell(name, ScheduleCommand.of(Kind.DELETE));
    }
}
