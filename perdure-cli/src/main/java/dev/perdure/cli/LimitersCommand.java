package dev.perdure.cli;

import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.queue.Limiters;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists and shows the limiters of steps of a database, and changes one. */
@Command(
        name = "limiters",
        mixinStandardHelpOptions = true,
        description = "List, show, pause and resume the limiters of steps, and change their limits.",
        synopsisSubcommandLabel = "COMMAND")
final class LimitersCommand {
    private static final Fields<LimiterInfo> ROW = Fields.<LimiterInfo>of()
            .text("limiter", LimiterInfo::name)
            .json("name", LimiterInfo::name)
            .and("waiting", LimiterInfo::waiting)
            .and("held", LimiterInfo::held)
            .and("oldest", LimiterInfo::oldest)
            .json("paused", LimiterInfo::paused)
            .json("limits", limiter -> limiter.limits().settings())
            .text(
                    "limits",
                    limiter -> limiter.paused()
                            .map(why -> "paused: " + why)
                            .orElse(Limits.text(limiter.limits().settings())));

    private static final Fields<LimiterInfo> DETAILS = Fields.<LimiterInfo>of()
            .text("limiter", LimiterInfo::name)
            .json("name", LimiterInfo::name)
            .and("paused", LimiterInfo::paused)
            .and("declared", limiter -> limiter.declared().settings())
            .and("changed", limiter -> limiter.changed().settings())
            .json("limits", limiter -> limiter.limits().settings())
            .text("limits", limiter -> Limits.text(limiter.limits().settings()))
            .and("waiting", LimiterInfo::waiting)
            .and("oldest", LimiterInfo::oldest)
            .and("held", LimiterInfo::held);

    LimitersCommand() {}

    /** One limiter of a database. */
    static final class NamedLimiter {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "LIMITER", description = "The limiter.")
        private String name = "";
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List limiters with what waits and runs.")
    int list(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(
                open -> output.print(
                        () -> open.page()
                                .many(
                                        "limiters",
                                        ROW,
                                        open.perdure().limiters().list(),
                                        "No limiters. Declare one where the engine is built, or with 'limiters limit NAME --create'.")));
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one limiter: what the code declares, what was changed, what waits.")
    int show(@Mixin NamedLimiter limiter, @Mixin LiveOutput output) {
        return limiter.database.with(open -> output.print(() ->
                open.page().one("limiter", DETAILS, open.perdure().limiters().get(limiter.name))));
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Give no step a permit of a limiter until it is resumed.")
    int pause(
            @Mixin NamedLimiter limiter,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return change(limiter, output, limiters -> limiters.pause(limiter.name, reason), "is paused");
    }

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Give steps permits of a paused limiter again.")
    int resume(@Mixin NamedLimiter limiter, @Mixin Output output) {
        return change(limiter, output, limiters -> limiters.resume(limiter.name), "is not paused");
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description = {
                "Change limits of a limiter, in all processes and until they are reset.",
                "A limit is a number, or 'none'. Limits that you do not name stay as they are."
            })
    int limit(
            @Mixin NamedLimiter limiter,
            @Mixin Output output,
            @Option(names = "--concurrency", description = "How many attempts at once in all processes.") @Nullable
                    String concurrency,
            @Option(names = "--rate", description = "How many may begin in a period: 100/PT1M, or none.") @Nullable
                    String rate,
            @Option(names = "--burst", description = "How many of these may begin at once, or none.") @Nullable
                    String burst,
            @Option(names = "--create", description = "Declare the limiter if no process has.") boolean create) {
        Limiter changes = Limiter.named(limiter.name);
        changes = concurrency == null ? changes : changes.concurrency(Limits.number("--concurrency", concurrency));
        changes = rate == null ? changes : changes.rate(Limits.units("--rate", rate), Limits.period("--rate", rate));
        changes = burst == null ? changes : changes.burst(Limits.number("--burst", burst));
        Limits.requireChange(changes.settings());
        Limiter wanted = changes;
        return change(
                limiter,
                output,
                limiters -> {
                    if (create
                            && limiters.list().stream()
                                    .noneMatch(known -> known.name().equals(limiter.name))) {
                        limiters.declare(Limiter.named(limiter.name));
                    }
                    limiters.limit(wanted);
                },
                "is changed");
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the limits are those that the code declares.")
    int reset(@Mixin NamedLimiter limiter, @Mixin Output output) {
        return change(limiter, output, limiters -> limiters.reset(limiter.name), "is as the code declares it");
    }

    private static int change(NamedLimiter limiter, Output output, Consumer<Limiters> change, String done) {
        return limiter.database.with(open -> {
            Limiters limiters = open.perdure().limiters();
            change.accept(limiters);
            LimiterInfo now = limiters.get(limiter.name);
            return output.print(open.page()
                    .message("Limiter %s %s. Its limits: %s."
                            .formatted(
                                    limiter.name, done, Limits.text(now.limits().settings())))
                    .data("limiter", DETAILS, now));
        });
    }
}
