package dev.perdure.cli;

import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Page;
import dev.perdure.cli.run.AuditRow;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
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
    AuditCommand() {}

    /** The thing whose commands are listed: one of these. */
    static final class Thing {
        @Option(names = "--run", paramLabel = "ID", description = "Only commands to this run.")
        private @Nullable String run;

        @Option(names = "--queue", paramLabel = "NAME", description = "Only commands to this queue.")
        private @Nullable String queue;

        @Option(names = "--limiter", paramLabel = "NAME", description = "Only commands to this limiter.")
        private @Nullable String limiter;

        @Option(names = "--schedule", paramLabel = "NAME", description = "Only commands to this schedule.")
        private @Nullable String schedule;

        @Option(names = "--reaction", paramLabel = "NAME", description = "Only commands to this reaction.")
        private @Nullable String reaction;

        @Option(names = "--of-version", paramLabel = "NAME", description = "Only commands to this version of workers.")
        private @Nullable String version;

        private AuditFilter only(AuditFilter all) {
            if (run != null) {
                return all.of(Subject.RUN, run);
            }
            if (queue != null) {
                return all.of(Subject.QUEUE, queue);
            }
            if (limiter != null) {
                return all.of(Subject.LIMITER, limiter);
            }
            if (reaction != null) {
                return all.of(Subject.REACTION, reaction);
            }
            return schedule != null
                    ? all.of(Subject.SCHEDULE, schedule)
                    : all.of(Subject.VERSION, Objects.requireNonNull(version));
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List the commands that changed something, newest first.")
    int list(
            @Mixin DatabaseOptions database,
            @Mixin LiveOutput output,
            @ArgGroup @Nullable Thing thing,
            @Option(
                            names = "--limit",
                            defaultValue = "100",
                            description = "At most so many. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        AuditFilter all = AuditFilter.all().limit(limit);
        AuditFilter filter = thing == null ? all : thing.only(all);
        return database.with(open -> output.print(() -> {
            List<AuditEntry> entries = open.perdure().audit().list(filter);
            Page page = open.page().many("audit", AuditRow.FIELDS, entries, "No command has changed anything.");
            return entries.size() < limit
                    ? page
                    : page.note("These are the newest %s. Raise --limit to see older ones.".formatted(limit));
        }));
    }
}
