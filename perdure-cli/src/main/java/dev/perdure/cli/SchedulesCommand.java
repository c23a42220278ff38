package dev.perdure.cli;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Schedules;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists and shows the schedules of a database, and asks something of one. */
@Command(
        name = "schedules",
        mixinStandardHelpOptions = true,
        description = "List, show, pause, resume, trigger, backfill and delete the schedules of a database.",
        synopsisSubcommandLabel = "COMMAND")
final class SchedulesCommand {
    @Spec
    private @Nullable CommandSpec spec;

    SchedulesCommand() {}

    /** One schedule of a database. */
    static final class NamedSchedule {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "NAME", description = "The schedule.")
        private String name = "";
    }

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List schedules by name.")
    int list(
            @Mixin DatabaseOptions database,
            @Option(names = "--after", defaultValue = "", description = "Begin after this name.") String after,
            @Option(
                            names = "--limit",
                            defaultValue = "50",
                            description = "The number of schedules at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        out().printf("%-28s %-20s %-26s %8s  %s%n", "SCHEDULE", "RUNS", "NEXT", "FAILURES", "LAST");
        return on(database, schedules -> schedules.list(after, limit).forEach(this::print));
    }

    private void print(ScheduleInfo schedule) {
        out().printf(
                        "%-28s %-20s %-26s %8d  %s%n",
                        schedule.name(),
                        schedule.definition(),
                        next(schedule),
                        schedule.health().failures(),
                        schedule.recent().stream()
                                .findFirst()
                                .map(run -> run.scheduledFor() + " " + state(run))
                                .orElse("-"));
    }

    private static String next(ScheduleInfo schedule) {
        return schedule.status()
                .paused()
                .map(note -> "paused: " + note)
                .or(() -> schedule.status().orphaned().map(why -> "orphaned"))
                .orElseGet(() -> schedule.next().stream()
                        .findFirst()
                        .map(Instant::toString)
                        .orElse("-"));
    }

    private static String state(ScheduleInfo.Recent run) {
        return run.state().map(Enum::name).orElse("gone");
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one schedule: its next fire times and its last runs.")
    int show(@Mixin NamedSchedule named) {
        return on(named.database, schedules -> {
            ScheduleInfo schedule = schedules.get(named.name);
            ScheduleInfo.Health health = schedule.health();
            out().printf("schedule   %s%n", schedule.name());
            out().printf("runs       %s%n", schedule.definition());
            out().printf("when       %s%n", schedule.when());
            out().printf("source     %s%n", schedule.source());
            out().printf("paused     %s%n", schedule.status().paused().orElse("no"));
            schedule.status().orphaned().ifPresent(why -> out().printf("orphaned   %s%n", why));
            out().printf(
                            "fired      %d, %d waiting%n",
                            schedule.status().fired(), schedule.status().waiting());
            out().printf("failures   %d since the last success, %s%n", health.failures(), time(health.lastSuccess()));
            out().printf(
                            "skipped    %s%s%n",
                            time(health.lastSkipped()),
                            health.skipReason().map(why -> ": " + why).orElse(""));
            schedule.next().forEach(next -> out().printf("next       %s%n", next));
            schedule.recent().forEach(run -> out().printf("run        %-50s %s%n", run.run(), state(run)));
        });
    }

    private static String time(Optional<Instant> at) {
        return at.map(Instant::toString).orElse("-");
    }

    @Command(name = "pause", mixinStandardHelpOptions = true, description = "Fire nothing until it is resumed.")
    int pause(
            @Mixin NamedSchedule schedule,
            @Option(names = "--note", defaultValue = "paused by an operator", description = "Why.") String note) {
        return ask(schedule, "is paused", schedules -> schedules.pause(schedule.name, note));
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Fire again from the next fire time on.")
    int resume(@Mixin NamedSchedule schedule) {
        return ask(schedule, "is resumed", schedules -> schedules.resume(schedule.name));
    }

    @Command(name = "trigger", mixinStandardHelpOptions = true, description = "Start a run now.")
    int trigger(@Mixin NamedSchedule schedule) {
        return on(schedule.database, schedules -> {
            RunId run = schedules.trigger(schedule.name);
            out().printf("Schedule %s is triggered. Run %s is started for it.%n", schedule.name, run);
        });
    }

    @Command(
            name = "backfill",
            mixinStandardHelpOptions = true,
            description = "Start a run for each fire time of a range that has none.")
    int backfill(
            @Mixin NamedSchedule schedule,
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
        return ask(schedule, "is backfilled", schedules -> schedules.backfill(schedule.name, begin, end, overlap));
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
    int skip(@Mixin NamedSchedule schedule) {
        return ask(schedule, "skips its next fire time", schedules -> schedules.skipNext(schedule.name));
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the schedule is as the code declares it.")
    int reset(@Mixin NamedSchedule schedule) {
        return ask(schedule, "is as the code declares it", schedules -> schedules.reset(schedule.name));
    }

    @Command(name = "delete", mixinStandardHelpOptions = true, description = "Delete a schedule. Its runs go on.")
    int delete(@Mixin NamedSchedule schedule) {
        return ask(schedule, "is deleted", schedules -> schedules.delete(schedule.name));
    }

    /** A worker does what is asked a moment later. */
    private int ask(NamedSchedule schedule, String done, Consumer<Schedules> asking) {
        return on(schedule.database, schedules -> {
            asking.accept(schedules);
            out().printf("Schedule %s %s, as soon as a worker has read this.%n", schedule.name, done);
        });
    }

    private int on(DatabaseOptions database, Consumer<Schedules> action) {
        database.withClient((store, client) -> {
            action.accept(client.schedules());
            return true;
        });
        out().flush();
        return 0;
    }
}
