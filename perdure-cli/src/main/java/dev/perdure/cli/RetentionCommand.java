package dev.perdure.cli;

import static dev.perdure.retention.Retention.runs;

import dev.perdure.RunState;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.retention.Retentions;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows and changes how long ended runs are kept. */
@Command(
        name = "retention",
        mixinStandardHelpOptions = true,
        description = "Show and change how long runs are kept after their end.",
        synopsisSubcommandLabel = "COMMAND")
final class RetentionCommand {
    private static final String PERIOD = "Such as 30d, 12h, 90s, P7D, or forever.";

    private static final Fields<RetentionInfo> INFO = Fields.<RetentionInfo>of()
            .and("declared", RetentionInfo::declared)
            .and("changed", RetentionInfo::changed)
            .json("last_pass", info -> info.pass().began())
            .text(
                    "last_pass",
                    info -> info.pass().began().isPresent() ? info.pass().began() : "none yet: start a worker")
            .and("looked", info -> info.pass().looked())
            .and("removed", info -> info.pass().removed())
            .json("next_pass", RetentionInfo::nextPass)
            .text("next_pass", info -> info.nextPass().isPresent() ? info.nextPass() : "now");

    RetentionCommand() {}

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show how long runs are kept, and how far the workers are with removing old ones.")
    int show(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(open -> output.print(() ->
                open.page().one("retention", INFO, open.perdure().retention().info())));
    }

    @Command(
            name = "change",
            mixinStandardHelpOptions = true,
            description = {
                "Put another retention in the place of the one that the code declares, until it is reset.",
                "The first rule that matches a run gives its period: definitions before queues before outcomes."
            })
    int change(
            @Mixin DatabaseOptions database,
            @Mixin Output output,
            @Option(names = "--all", paramLabel = "PERIOD", description = "For all runs without a rule. " + PERIOD)
                    @Nullable
                    String all,
            @Option(names = "--definition", paramLabel = "NAME=PERIOD", description = "For runs of a definition.")
                    @Nullable
                    Map<String, String> definitions,
            @Option(names = "--queue", paramLabel = "NAME=PERIOD", description = "For runs of a queue.") @Nullable
                    Map<String, String> queues,
            @Option(names = "--outcome", paramLabel = "STATE=PERIOD", description = "For runs that end so.") @Nullable
                    Map<RunState, String> outcomes,
            @Option(
                            names = "--ids",
                            paramLabel = "PERIOD",
                            description = "Remember ids with input and outcome for longer.")
                    @Nullable
                    String ids,
            @Option(names = "--audit", paramLabel = "PERIOD", description = "For the entries of the audit.") @Nullable
                    String audit) {
        if (all == null) {
            throw new InvalidRequestException("--all is missing. Give the period of runs without a rule: --all 30d.");
        }
        Retention wanted = Retention.of(period("--all", all));
        for (Map.Entry<String, String> each : orEmpty(definitions).entrySet()) {
            wanted = wanted.keep(runs().definition(each.getKey()), period("--definition", each.getValue()));
        }
        for (Map.Entry<String, String> each : orEmpty(queues).entrySet()) {
            wanted = wanted.keep(runs().queue(each.getKey()), period("--queue", each.getValue()));
        }
        for (Map.Entry<RunState, String> each : orEmpty(outcomes).entrySet()) {
            wanted = wanted.keep(runs().outcome(each.getKey()), period("--outcome", each.getValue()));
        }
        wanted = ids == null ? wanted : wanted.rememberIds(period("--ids", ids));
        Retention changed = audit == null ? wanted : wanted.keepAudit(period("--audit", audit));
        return change(database, output, retention -> retention.change(changed));
    }

    private static <K> Map<K, String> orEmpty(@Nullable Map<K, String> given) {
        return given == null ? Map.of() : new LinkedHashMap<>(given);
    }

    private static Duration period(String option, String value) {
        if (value.equals("forever")) {
            return Retention.FOREVER;
        }
        String text =
                value.startsWith("P") || value.isEmpty() ? value : value.endsWith("d") ? "P" + value : "PT" + value;
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException wrong) {
            throw new InvalidRequestException(
                    "%s is '%s'. Give a period, such as 30d, 12h, 90s, P7D, or forever.".formatted(option, value));
        }
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: runs are kept as the code declares.")
    int reset(@Mixin DatabaseOptions database, @Mixin Output output) {
        return change(database, output, Retentions::reset);
    }

    private static int change(DatabaseOptions database, Output output, Consumer<Retentions> change) {
        return database.with(open -> {
            Retentions retention = open.perdure().retention();
            change.accept(retention);
            RetentionInfo now = retention.info();
            return output.print(open.page()
                    .message("Runs are kept so: %s.".formatted(now.effective()))
                    .data("retention", INFO, now));
        });
    }
}
