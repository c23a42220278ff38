package dev.perdure.cli;

import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows who has changed what. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        description = "Show who has changed what by hand.",
        synopsisSubcommandLabel = "COMMAND")
final class AuditCommand {
    static final Fields<AuditEntry> ROW = Fields.<AuditEntry>of()
            .and("at", AuditEntry::at)
            .json("operator", entry -> entry.operator().name())
            .json("origin", entry -> entry.operator().origin())
            .json("action", AuditEntry::action)
            .json("subject", AuditEntry::subject)
            .json("name", AuditEntry::name)
            .json("position", AuditEntry::position)
            .json("detail", AuditEntry::detail)
            .text("command", AuditEntry::text);

    AuditCommand() {}

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List the commands that changed something, newest first.")
    int list(
            @Mixin DatabaseOptions database,
            @Mixin LiveOutput output,
            @Option(names = "--run", paramLabel = "ID", description = "Only commands to this run.") @Nullable
                    String run,
            @Option(names = "--queue", paramLabel = "NAME", description = "Only commands to this queue.") @Nullable
                    String queue,
            @Option(names = "--schedule", paramLabel = "NAME", description = "Only commands to this schedule.")
                    @Nullable
                    String schedule,
            @Option(
                            names = "--limit",
                            defaultValue = "100",
                            description = "At most so many. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        AuditFilter all = AuditFilter.all().limit(limit);
        AuditFilter filter = run != null
                ? all.of(Subject.RUN, run)
                : queue != null
                        ? all.of(Subject.QUEUE, queue)
                        : schedule != null ? all.of(Subject.SCHEDULE, schedule) : all;
        return database.with(open -> output.print(() -> open.page()
                .many("audit", ROW, open.perdure().audit().list(filter), "No command has changed anything.")));
    }
}
