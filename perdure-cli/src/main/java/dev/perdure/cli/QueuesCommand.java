package dev.perdure.cli;

import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.queue.Queues;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists and shows the queues of a database, and changes one. */
@Command(
        name = "queues",
        mixinStandardHelpOptions = true,
        description = "List, show, pause and resume the queues of a database, and change their limits.",
        synopsisSubcommandLabel = "COMMAND")
final class QueuesCommand {
    @Spec
    private @Nullable CommandSpec spec;

    QueuesCommand() {}

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List queues with what waits and runs.")
    int list(@Mixin DatabaseOptions database) {
        out().printf(
                        "%-24s %9s %8s %8s %8s  %-20s  %s%n",
                        "QUEUE", "WAITING", "BEGUN", "AT WORK", "LAST MIN", "OLDEST", "LIMITS");
        database.withClient((store, client) -> client.queues().list()).forEach(this::print);
        out().flush();
        return 0;
    }

    private void print(QueueInfo queue) {
        QueueInfo.Load load = queue.load();
        out().printf(
                        "%-24s %9d %8d %8d %8d  %-20s  %s%n",
                        queue.name(),
                        load.waiting(),
                        load.begun(),
                        load.atWork(),
                        load.lastMinute(),
                        Limits.time(load.oldest()),
                        queue.paused()
                                .map(why -> "paused: " + why)
                                .orElse(Limits.text(queue.limits().settings())));
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one queue: what the code declares, what was changed, and its keys.")
    int show(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "QUEUE", description = "The queue.") String name,
            @Option(
                            names = "--keys",
                            defaultValue = "20",
                            description = "The number of keys at most. Default: ${DEFAULT-VALUE}.")
                    int most) {
        return onQueues(database, queues -> {
            QueueInfo queue = queues.get(name);
            out().printf("queue      %s%n", queue.name());
            out().printf("paused     %s%n", queue.paused().orElse("no"));
            out().printf("declared   %s%n", Limits.text(queue.declared().settings()));
            out().printf("changed    %s%n", Limits.text(queue.changed().settings()));
            out().printf(
                            "limits     %s, counting %s%n",
                            Limits.text(queue.limits().settings()),
                            queue.limits().counting());
            QueueInfo.Load load = queue.load();
            out().printf("waiting    %d, the oldest since %s%n", load.waiting(), Limits.time(load.oldest()));
            out().printf("begun      %d, %d of them at work%n", load.begun(), load.atWork());
            out().printf("taken      %d in the last full minute%n", load.lastMinute());
            queues.keys(name, most)
                    .forEach(key -> out().printf(
                                    "key        %-30s waiting %d, begun %d, at work %d%n",
                                    key.key().isEmpty() ? "(none)" : key.key(),
                                    key.load().waiting(),
                                    key.load().begun(),
                                    key.load().atWork()));
        });
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Let workers take no run from a queue until it is resumed.")
    int pause(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "QUEUE", description = "The queue.") String name,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return change(database, name, queues -> queues.pause(name, reason), "Queue %s is paused.%n");
    }

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Let workers take runs from a paused queue again.")
    int resume(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "QUEUE", description = "The queue.") String name) {
        return change(database, name, queues -> queues.resume(name), "Queue %s is not paused.%n");
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description = {
                "Change limits of a queue, in all processes and until they are reset.",
                "A limit is a number, or 'none'. Limits that you do not name stay as they are."
            })
    int limit(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "QUEUE", description = "The queue.") String name,
            @Option(names = "--concurrency", description = "How many runs at once in all processes.") @Nullable
                    String concurrency,
            @Option(names = "--per-worker", description = "How many runs at once in one process.") @Nullable
                    String perWorker,
            @Option(names = "--per-key", description = "How many runs of one key at once.") @Nullable String perKey,
            @Option(names = "--rate", description = "How many may begin in a period: 100/PT1M, or none.") @Nullable
                    String rate,
            @Option(names = "--rate-per-key", description = "The same for each key: 5/PT1S, or none.") @Nullable
                    String ratePerKey,
            @Option(names = "--counting", description = "Which runs count: ${COMPLETION-CANDIDATES}.")
                    Queue.@Nullable Counting counting,
            @Option(names = "--turns", description = "How many turns a key gets for each turn of others: KEY=N.")
                    @Nullable
                    Map<String, Integer> turns,
            @Option(
                            names = "--ageing",
                            description = "With which period the priority of waiting runs rises: PT10M, or none.")
                    @Nullable
                    String ageing,
            @Option(
                            names = "--when-key-full",
                            description = "What a start does whose key is full: ${COMPLETION-CANDIDATES}.")
                    Queue.@Nullable WhenKeyFull whenKeyFull,
            @Option(names = "--create", description = "Declare the queue if no process has.") boolean create) {
        Queue changes = Queue.named(name);
        changes = concurrency == null ? changes : changes.concurrency(Limits.number("--concurrency", concurrency));
        changes = perWorker == null ? changes : changes.perWorker(Limits.number("--per-worker", perWorker));
        changes = perKey == null ? changes : changes.perKey(Limits.number("--per-key", perKey));
        changes = rate == null ? changes : changes.rate(Limits.units("--rate", rate), Limits.period("--rate", rate));
        changes = ratePerKey == null
                ? changes
                : changes.ratePerKey(
                        Limits.units("--rate-per-key", ratePerKey), Limits.period("--rate-per-key", ratePerKey));
        changes = counting == null ? changes : changes.counting(counting);
        for (Map.Entry<String, Integer> each :
                turns == null ? Set.<Map.Entry<String, Integer>>of() : turns.entrySet()) {
            changes = changes.turns(each.getKey(), each.getValue());
        }
        changes = ageing == null ? changes : changes.ageing(Limits.duration("--ageing", ageing));
        changes = whenKeyFull == null ? changes : changes.whenKeyFull(whenKeyFull);
        Limits.requireChange(changes.settings());
        Queue wanted = changes;
        return change(
                database,
                name,
                queues -> {
                    if (create
                            && queues.list().stream()
                                    .noneMatch(queue -> queue.name().equals(name))) {
                        queues.declare(Queue.named(name));
                    }
                    queues.limit(wanted);
                },
                "Queue %s is changed.%n");
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the limits are those that the code declares.")
    int reset(
            @Mixin DatabaseOptions database,
            @Parameters(paramLabel = "QUEUE", description = "The queue.") String name) {
        return change(database, name, queues -> queues.reset(name), "Queue %s is as the code declares it.%n");
    }

    private int change(DatabaseOptions database, String name, Consumer<Queues> change, String done) {
        return onQueues(database, queues -> {
            change.accept(queues);
            out().printf(done, name);
            QueueInfo now = queues.get(name);
            out().printf("Its limits: %s.%n", Limits.text(now.limits().settings()));
        });
    }

    private int onQueues(DatabaseOptions database, Consumer<Queues> action) {
        database.withClient((store, client) -> {
            action.accept(client.queues());
            return true;
        });
        out().flush();
        return 0;
    }
}
