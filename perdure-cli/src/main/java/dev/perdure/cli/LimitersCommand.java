package dev.perdure.cli;

import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.queue.Limiters;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists and shows the limiters of steps of a database, and changes one. */
@Command(
        name = "limiters",
        mixinStandardHelpOptions = true,
        description = "List, show, pause and resume the limiters of steps, and change their limits.",
        synopsisSubcommandLabel = "COMMAND")
final class LimitersCommand {
    @Spec
    private @Nullable CommandSpec spec;

    LimitersCommand() {}

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List limiters with what waits and runs.")
    int list(@Mixin DatabaseOptions database) {
        out().printf("%-24s %9s %8s  %-20s  %s%n", "LIMITER", "WAITING", "HELD", "OLDEST", "LIMITS");
        database.withClient((store, client) -> client.limiters().list()).forEach(this::print);
        out().flush();
        return 0;
    }

    private void print(LimiterInfo limiter) {
        out().printf(
                        "%-24s %9d %8d  %-20s  %s%n",
                        limiter.name(),
                        limiter.waiting(),
                        limiter.held(),
                        Limits.time(limiter.oldest()),
                        limiter.paused()
                                .map(why -> "paused: " + why)
                                .orElse(Limits.text(limiter.limits().settings())));
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one limiter: what the code declares, what was changed, what waits.")
    int show(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "LIMITER", description = "The limiter.") String name) {
        return onLimiters(database, limiters -> {
            LimiterInfo limiter = limiters.get(name);
            out().printf("limiter    %s%n", limiter.name());
            out().printf("paused     %s%n", limiter.paused().orElse("no"));
            out().printf("declared   %s%n", Limits.text(limiter.declared().settings()));
            out().printf("changed    %s%n", Limits.text(limiter.changed().settings()));
            out().printf("limits     %s%n", Limits.text(limiter.limits().settings()));
            out().printf("waiting    %d, the oldest since %s%n", limiter.waiting(), Limits.time(limiter.oldest()));
            out().printf("held       %d%n", limiter.held());
        });
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Give no step a permit of a limiter until it is resumed.")
    int pause(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "LIMITER", description = "The limiter.") String name,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return change(database, name, limiters -> limiters.pause(name, reason), "Limiter %s is paused.%n");
    }

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Give steps permits of a paused limiter again.")
    int resume(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "LIMITER", description = "The limiter.") String name) {
        return change(database, name, limiters -> limiters.resume(name), "Limiter %s is not paused.%n");
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description = {
                "Change limits of a limiter, in all processes and until they are reset.",
                "A limit is a number, or 'none'. Limits that you do not name stay as they are."
            })
    int limit(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "LIMITER", description = "The limiter.") String name,
            @Option(names = "--concurrency", description = "How many attempts at once in all processes.") @Nullable
                    String concurrency,
            @Option(names = "--rate", description = "How many may begin in a period: 100/PT1M, or none.") @Nullable
                    String rate,
            @Option(names = "--burst", description = "How many of these may begin at once, or none.") @Nullable
                    String burst,
            @Option(names = "--create", description = "Declare the limiter if no process has.") boolean create) {
        Limiter changes = Limiter.named(name);
        changes = concurrency == null ? changes : changes.concurrency(Limits.number("--concurrency", concurrency));
        changes = rate == null ? changes : changes.rate(Limits.units("--rate", rate), Limits.period("--rate", rate));
        changes = burst == null ? changes : changes.burst(Limits.number("--burst", burst));
        Limits.requireChange(changes.settings());
        Limiter wanted = changes;
        return change(
                database,
                name,
                limiters -> {
                    if (create
                            && limiters.list().stream()
                                    .noneMatch(limiter -> limiter.name().equals(name))) {
                        limiters.declare(Limiter.named(name));
                    }
                    limiters.limit(wanted);
                },
                "Limiter %s is changed.%n");
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the limits are those that the code declares.")
    int reset(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "LIMITER", description = "The limiter.") String name) {
        return change(database, name, limiters -> limiters.reset(name), "Limiter %s is as the code declares it.%n");
    }

    private int change(DatabaseOptions database, String name, Consumer<Limiters> change, String done) {
        return onLimiters(database, limiters -> {
            change.accept(limiters);
            out().printf(done, name);
            out().printf(
                            "Its limits: %s.%n",
                            Limits.text(limiters.get(name).limits().settings()));
        });
    }

    private int onLimiters(DatabaseOptions database, Consumer<Limiters> action) {
        database.withClient((store, client) -> {
            action.accept(client.limiters());
            return true;
        });
        out().flush();
        return 0;
    }
}
