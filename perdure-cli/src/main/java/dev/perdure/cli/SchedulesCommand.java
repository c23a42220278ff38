package dev.perdure.cli;

import dev.perdure.RunId;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Schedules;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists and shows the schedules of a database, and asks something of one. */
@Command(
        name = "schedules",
        mixinStandardHelpOptions = true,
        description = "List, show, pause, resume, trigger, backfill and delete the schedules of a database.",
        synopsisSubcommandLabel = "COMMAND")
final class SchedulesCommand {
    private static final Fields<ScheduleInfo> ROW = Fields.<ScheduleInfo>of()
            .text("schedule", ScheduleInfo::name)
            .json("name", ScheduleInfo::name)
            .text("runs", ScheduleInfo::definition)
            .json("definition", ScheduleInfo::definition)
            .json("when", ScheduleInfo::when)
            .json("source", ScheduleInfo::source)
            .json("paused", schedule -> schedule.status().paused())
            .json("orphaned", schedule -> schedule.status().orphaned())
            .json("next", ScheduleInfo::next)
            .text("next", SchedulesCommand::next)
            .and("failures", schedule -> schedule.health().failures())
            .text("last", schedule -> schedule.recent().stream().findFirst().map(run -> run.scheduledFor()))
            .text("state", schedule -> schedule.recent().stream().findFirst().map(SchedulesCommand::state));

    private static final Fields<ScheduleInfo> DETAILS = Fields.<ScheduleInfo>of()
            .text("schedule", ScheduleInfo::name)
            .json("name", ScheduleInfo::name)
            .text("runs", ScheduleInfo::definition)
            .json("definition", ScheduleInfo::definition)
            .and("when", ScheduleInfo::when)
            .and("source", ScheduleInfo::source)
            .and("paused", schedule -> schedule.status().paused())
            .and("orphaned", schedule -> schedule.status().orphaned())
            .and("fired", schedule -> schedule.status().fired())
            .and("waiting", schedule -> schedule.status().waiting())
            .and("failures", schedule -> schedule.health().failures())
            .and("last_success", schedule -> schedule.health().lastSuccess())
            .and("last_skipped", schedule -> schedule.health().lastSkipped())
            .and("skip_reason", schedule -> schedule.health().skipReason())
            .json("next", ScheduleInfo::next);

    private static final Fields<Instant> NEXT =
            Fields.<Instant>of().text("at", Instant::toString).text("from now", at -> at);

    private static final Fields<ScheduleInfo.Recent> RUN = Fields.<ScheduleInfo.Recent>of()
            .json("id", ScheduleInfo.Recent::run)
            .text("run", ScheduleInfo.Recent::run)
            .and("scheduled_for", ScheduleInfo.Recent::scheduledFor)
            .json("state", ScheduleInfo.Recent::state)
            .text("state", SchedulesCommand::state);

    SchedulesCommand() {}

    /** One schedule of a database. */
    static final class NamedSchedule {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "NAME", description = "The schedule.")
        private String name = "";
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List schedules by name.")
    int list(
            @Mixin DatabaseOptions database,
            @Mixin LiveOutput output,
            @Option(names = "--after", defaultValue = "", description = "Begin after this name.") String after,
            @Option(
                            names = "--limit",
                            defaultValue = "50",
                            description = "The number of schedules at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return database.with(open -> output.print(() -> open.page()
                .many(
                        "schedules",
                        ROW,
                        open.perdure().schedules().list(after, limit),
                        "No schedules. Declare one where the engine is built; its worker makes it.")));
    }

    private static Object next(ScheduleInfo schedule) {
        if (schedule.status().paused().isPresent()) {
            return "paused: " + schedule.status().paused().get();
        }
        return schedule.status().orphaned().isPresent()
                ? "orphaned"
                : schedule.next().stream().findFirst();
    }

    private static String state(ScheduleInfo.Recent run) {
        return run.state().map(Enum::name).orElse("gone");
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one schedule: its next fire times and its last runs.")
    int show(@Mixin NamedSchedule named, @Mixin LiveOutput output) {
        return named.database.with(open -> output.print(() -> {
            ScheduleInfo schedule = open.perdure().schedules().get(named.name);
            return open.page()
                    .one("schedule", DETAILS, schedule)
                    .text("next fire times", NEXT, schedule.next(), "It fires no more.")
                    .many("runs", RUN, schedule.recent(), "No run yet. Start one with 'schedules trigger'.");
        }));
    }

    @Command(name = "pause", mixinStandardHelpOptions = true, description = "Fire nothing until it is resumed.")
    int pause(
            @Mixin NamedSchedule schedule,
            @Mixin Output output,
            @Option(names = "--note", defaultValue = "paused by an operator", description = "Why.") String note) {
        return ask(schedule, output, "is paused", schedules -> schedules.pause(schedule.name, note));
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Fire again from the next fire time on.")
    int resume(@Mixin NamedSchedule schedule, @Mixin Output output) {
        return ask(schedule, output, "is resumed", schedules -> schedules.resume(schedule.name));
    }

    @Command(name = "trigger", mixinStandardHelpOptions = true, description = "Start a run now.")
    int trigger(@Mixin NamedSchedule schedule, @Mixin Output output) {
        return schedule.database.with(open -> {
            RunId run = open.perdure().schedules().trigger(schedule.name);
            return output.print(open.page()
                    .message("Schedule %s is triggered. Run %s is started for it.".formatted(schedule.name, run))
                    .value("run", run));
        });
    }

    @Command(
            name = "backfill",
            mixinStandardHelpOptions = true,
            description = "Start a run for each fire time of a range that has none.")
    int backfill(
            @Mixin NamedSchedule schedule,
            @Mixin Output output,
            @Option(names = "--from", required = true, description = "The beginning of the range.") String from,
            @Option(names = "--to", required = true, description = "The end of the range.") String to,
            @Option(
                            names = "--overlap",
                            defaultValue = "WAIT_ALL",
                            description =
                                    "What happens while a run has not ended: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
                    Overlap overlap) {
        Instant begin = instant("--from", from);
        Instant end = instant("--to", to);
        return ask(
                schedule, output, "is backfilled", schedules -> schedules.backfill(schedule.name, begin, end, overlap));
    }

    private static Instant instant(String option, String value) {
        try {
            return Instant.parse(value);
        } catch (DateTimeParseException wrong) {
            throw new InvalidRequestException(
                    "%s is '%s'. Give a time such as 2030-01-01T00:00:00Z.".formatted(option, value));
        }
    }

    @Command(name = "skip", mixinStandardHelpOptions = true, description = "Do not fire at the next fire time.")
    int skip(@Mixin NamedSchedule schedule, @Mixin Output output) {
        return ask(schedule, output, "skips its next fire time", schedules -> schedules.skipNext(schedule.name));
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the schedule is as the code declares it.")
    int reset(@Mixin NamedSchedule schedule, @Mixin Output output) {
        return ask(schedule, output, "is as the code declares it", schedules -> schedules.reset(schedule.name));
    }

    @Command(name = "delete", mixinStandardHelpOptions = true, description = "Delete a schedule. Its runs go on.")
    int delete(@Mixin NamedSchedule schedule, @Mixin Output output) {
        return ask(schedule, output, "is deleted", schedules -> schedules.delete(schedule.name));
    }

    /** A worker does what is asked a moment later. */
    private static int ask(NamedSchedule schedule, Output output, String done, Consumer<Schedules> asking) {
        return schedule.database.with(open -> {
            asking.accept(open.perdure().schedules());
            return output.print(open.page()
                    .message("Schedule %s %s, as soon as a worker has read this.".formatted(schedule.name, done))
                    .value("schedule", schedule.name));
        });
    }
}
