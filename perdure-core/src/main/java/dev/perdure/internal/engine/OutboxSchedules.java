package dev.perdure.internal.engine;

import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.schedule.ScheduleCommand;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.internal.text.Names;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.change.Change;
import java.util.List;

/** Schedules that are made and changed in a transaction of the caller: nothing is looked up, and nothing locked. */
record OutboxSchedules(ScheduleWrites writes, MailSender mailSender, Inbox inbox) implements CommandedSchedules {
    @Override
    public void put(Schedule schedule) {
        ScheduleWrites.Put put = writes.put(schedule);
        inbox.put(List.of(new Change.Start(put.start().run(), null, List.of()), put.tell()));
    }

    @Override
    public void tell(String name, ScheduleCommand command) {
        Names.require("schedule name", name, Schedule.MAX_NAME_LENGTH);
        inbox.put(List.of(new Change.Deliver(
                ScheduleNames.run(name),
                mailSender.message(ScheduleNames.run(name), ScheduleNames.COMMANDS, command))));
    }
}
