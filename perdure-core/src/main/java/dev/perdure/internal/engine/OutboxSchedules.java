package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.schedule.ScheduleCommand;
import dev.perdure.internal.schedule.ScheduleCommand.Kind;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleChanges;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import java.time.Instant;
import java.util.List;

/** Schedules that are made and changed in a transaction of the caller: nothing is looked up, and nothing locked. */
record OutboxSchedules(ScheduleWrites writes, MailSender mailSender, Inbox inbox) implements ScheduleChanges {
    @Override
    public void put(Schedule schedule) {
        ScheduleWrites.Put put = writes.put(schedule);
        inbox.put(List.of(new Change.Start(put.start().run(), null, List.of()), put.tell()));
    }

    @Override
    public void pause(String name, String note) {
        Texts.requireReason(note);
        tell(name, ScheduleCommand.pause(note));
    }

    @Override
    public void resume(String name) {
        tell(name, ScheduleCommand.of(Kind.RESUME));
    }

    @Override
    public RunId trigger(String name) {
        RunId run = writes.triggered(name);
        tell(name, ScheduleCommand.trigger(run.value()));
        return run;
    }

    @Override
    public void backfill(String name, Instant from, Instant to, Overlap overlap) {
        tell(name, ScheduleWrites.backfill(from, to, overlap));
    }

    @Override
    public void skipNext(String name) {
        tell(name, ScheduleCommand.of(Kind.SKIP_NEXT));
    }

    @Override
    public void reset(String name) {
        tell(name, ScheduleCommand.of(Kind.RESET));
    }

    @Override
    public void delete(String name) {
        tell(name, ScheduleCommand.of(Kind.DELETE));
    }

    private void tell(String name, ScheduleCommand command) {
        Names.require("schedule name", name, Schedule.MAX_NAME_LENGTH);
        inbox.put(List.of(
                new Change.Deliver(ScheduleNames.run(name), mailSender.message(ScheduleNames.COMMANDS, command))));
    }
}
