package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.command.Commits;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.schedule.ScheduleCommand;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.internal.schedule.ScheduleSpec;
import dev.perdure.internal.schedule.ScheduleState;
import dev.perdure.internal.schedule.SpecWriter;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Instants;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What is written for schedules: the start of a run that is a schedule, and what it is told. */
record ScheduleWrites(SpecWriter specs, Values values, MailSender mailSender, Commits commits, Clockwork clockwork) {
    /**
     * A schedule that is made or changed.
     *
     * @param start starts its run with the command in its mailbox, if there is none of this name
     * @param tell the same command for a run that is there
     * @param command the command
     */
    record Put(Change.Start start, Change.Deliver tell, ScheduleCommand command) {
        /** The same, as a command of an operator. */
        Put audited(Audit audit) {
            return new Put(start, new Change.Deliver(tell.to(), tell.mail(), tell.life(), audit), command);
        }
    }

    ScheduleSpec spec(Schedule schedule) {
        return specs.spec(schedule);
    }

    ScheduleState state(Runs.Latest latest) {
        if (!values.areTransformed()) {
            EncryptedPayload.of(latest.recorded()).ifPresent(encrypted -> {
                throw new InvalidRequestException(
                        "The schedule '%s' is encrypted with the key '%s', and this process has no keys. Use a process that has them."
                                .formatted(ScheduleNames.schedule(latest.run().id()), encrypted.key()));
            });
        }
        return values.at(PayloadPlace.input(latest.run().id())).decode(latest.recorded(), ScheduleState.class);
    }

    Put put(Schedule schedule) {
        Texts.requireGiven("schedule", schedule);
        ScheduleSpec spec = spec(schedule);
        String definition = spec.what().dag() ? ScheduleNames.ofDag(spec.what().definition()) : ScheduleNames.SHARED;
        return put(schedule.name(), definition, ScheduleCommand.of(ScheduleCommand.Kind.PUT, spec));
    }

    Put declaration(String name, ScheduleSpec spec) {
        ScheduleCommand command = ScheduleCommand.of(ScheduleCommand.Kind.DECLARE, spec);
        return put(name, ScheduleNames.declared(name), command);
    }

    private Put put(String name, String definition, ScheduleCommand command) {
        Mail mail = mailSender.message(ScheduleNames.run(name), ScheduleNames.COMMANDS, command);
        NewRun run = new NewRun(
                ScheduleNames.run(name),
                definition,
                values.at(PayloadPlace.input(ScheduleNames.run(name))).encode(ScheduleState.NOTHING),
                clockwork.random(),
                Settings.SCHEDULES_QUEUE,
                Settings.SCHEDULES_PRIORITY,
                null,
                null);
        return new Put(new Change.Start(run, null, List.of(mail)), new Change.Deliver(run.id(), mail), command);
    }

    /** Starts the runs that are not there, and returns those that were. */
    Map<RunId, RunRef> start(List<Put> puts) {
        List<Outcome> outcomes =
                commits.commitAll(puts.stream().<Change>map(Put::start).toList());
        Map<RunId, RunRef> there = new HashMap<>();
        for (Outcome outcome : outcomes) {
            if (outcome instanceof Outcome.Refused refused) {
                throw new PayloadException("A schedule was refused by the store: " + refused.reason());
            }
            if (outcome instanceof Outcome.Existing existing) {
                there.put(existing.run().id(), existing.run());
            }
        }
        return there;
    }

    /** The id of the next run that is triggered by hand. */
    RunId triggered(String name) {
        Names.require("schedule name", name, Schedule.MAX_NAME_LENGTH);
        return ScheduleNames.triggered(name, TimeOrderedId.next(clockwork).value());
    }

    static ScheduleCommand backfill(Instant from, Instant to, Overlap overlap) {
        Texts.requireGiven("overlap", overlap);
        Instants.require("end of the range", to);
        Instants.require("beginning of the range", from);
        if (to.isBefore(from)) {
            throw new InvalidRequestException(
                    "The range to backfill ends at %s, before it begins at %s. Give the earlier time first."
                            .formatted(to, from));
        }
        return ScheduleCommand.backfill(new ScheduleCommand.Range(from, to, overlap));
    }
}
