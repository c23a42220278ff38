package dev.perdure.cli;

import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.queue.Queues;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists and shows the queues of a database, and changes one. */
@Command(
        name = "queues",
        mixinStandardHelpOptions = true,
        description = "List, show, pause and resume the queues of a database, and change their limits.",
        synopsisSubcommandLabel = "COMMAND")
final class QueuesCommand {
    private static final Fields<QueueInfo> ROW = Fields.<QueueInfo>of()
            .text("queue", QueueInfo::name)
            .json("name", QueueInfo::name)
            .and("waiting", queue -> queue.load().waiting())
            .and("begun", queue -> queue.load().begun())
            .and("at_work", queue -> queue.load().atWork())
            .and("last_minute", queue -> queue.load().lastMinute())
            .and("oldest", queue -> queue.load().oldest())
            .json("paused", QueueInfo::paused)
            .json("known", QueueInfo::known)
            .json("limits", queue -> queue.limits().settings())
            .text("limits", queue -> queue.paused().map(why -> "paused: " + why).orElse(limits(queue)));

    private static final Fields<QueueInfo> DETAILS = Fields.<QueueInfo>of()
            .text("queue", QueueInfo::name)
            .json("name", QueueInfo::name)
            .and("paused", QueueInfo::paused)
            .json("known", QueueInfo::known)
            .and("declared", queue -> queue.declared().settings())
            .and("changed", queue -> queue.changed().settings())
            .json("limits", queue -> queue.limits().settings())
            .text("limits", QueuesCommand::limits)
            .and("counting", queue -> queue.limits().counting())
            .and("waiting", queue -> queue.load().waiting())
            .and("oldest", queue -> queue.load().oldest())
            .and("begun", queue -> queue.load().begun())
            .and("at_work", queue -> queue.load().atWork())
            .and("last_minute", queue -> queue.load().lastMinute());

    private static final Fields<QueueInfo.Key> KEY = Fields.<QueueInfo.Key>of()
            .json("key", QueueInfo.Key::key)
            .text("key", key -> key.key().isEmpty() ? "(none)" : key.key())
            .and("waiting", key -> key.load().waiting())
            .and("begun", key -> key.load().begun())
            .and("at_work", key -> key.load().atWork())
            .and("last_minute", key -> key.load().lastMinute())
            .and("oldest", key -> key.load().oldest());

    QueuesCommand() {}

    private static String limits(QueueInfo queue) {
        return queue.known() ? Limits.text(queue.limits().settings()) : "not declared";
    }

    /** One queue of a database. */
    static final class NamedQueue {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "QUEUE", description = "The queue.")
        private String name = "";
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "List queues with what waits and runs.")
    int list(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(open -> output.print(() -> open.page()
                .many(
                        "queues",
                        ROW,
                        open.perdure().queues().list(),
                        "No queues. Declare one where the engine is built, or with 'queues limit NAME --create'.")));
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Show one queue: what the code declares, what was changed, and its keys.")
    int show(
            @Mixin NamedQueue queue,
            @Mixin LiveOutput output,
            @Option(
                            names = "--keys",
                            defaultValue = "20",
                            description = "The number of keys at most. Default: ${DEFAULT-VALUE}.")
                    int most) {
        return queue.database.with(open -> output.print(() -> {
            Queues queues = open.perdure().queues();
            return open.page()
                    .one("queue", DETAILS, queues.get(queue.name))
                    .many("keys", KEY, queues.keys(queue.name, most), "No runs wait in this queue or have begun.");
        }));
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Let workers take no run from a queue until it is resumed.")
    int pause(
            @Mixin NamedQueue queue,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return change(queue, output, queues -> queues.pause(queue.name, reason), "is paused");
    }

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Let workers take runs from a paused queue again.")
    int resume(@Mixin NamedQueue queue, @Mixin Output output) {
        return change(queue, output, queues -> queues.resume(queue.name), "is not paused");
    }

    @Command(
            name = "limit",
            mixinStandardHelpOptions = true,
            description = {
                "Change limits of a queue, in all processes and until they are reset.",
                "A limit is a number, or 'none'. Limits that you do not name stay as they are."
            })
    int limit(
            @Mixin NamedQueue queue,
            @Mixin Output output,
            @Option(names = "--concurrency", description = "How many runs at once in all processes.") @Nullable
                    String concurrency,
            @Option(names = "--per-worker", description = "How many runs at once in one process.") @Nullable
                    String perWorker,
            @Option(names = "--per-key", description = "How many runs of one key at once.") @Nullable String perKey,
            @Option(names = "--rate", description = "How many may begin in a period: 100/PT1M, or none.") @Nullable
                    String rate,
            @Option(names = "--burst", description = "How many of these may begin at once, or none.") @Nullable
                    String burst,
            @Option(names = "--rate-per-key", description = "The same for each key: 5/PT1S, or none.") @Nullable
                    String ratePerKey,
            @Option(names = "--burst-per-key", description = "How many of one key may begin at once, or none.")
                    @Nullable
                    String burstPerKey,
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
        Queue changes = Queue.named(queue.name);
        changes = concurrency == null ? changes : changes.concurrency(Limits.number("--concurrency", concurrency));
        changes = perWorker == null ? changes : changes.perWorker(Limits.number("--per-worker", perWorker));
        changes = perKey == null ? changes : changes.perKey(Limits.number("--per-key", perKey));
        changes = rate == null ? changes : changes.rate(Limits.units("--rate", rate), Limits.period("--rate", rate));
        changes = burst == null ? changes : changes.burst(Limits.number("--burst", burst));
        changes = ratePerKey == null
                ? changes
                : changes.ratePerKey(
                        Limits.units("--rate-per-key", ratePerKey), Limits.period("--rate-per-key", ratePerKey));
        changes = burstPerKey == null ? changes : changes.burstPerKey(Limits.number("--burst-per-key", burstPerKey));
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
                queue,
                output,
                queues -> {
                    if (create
                            && queues.list().stream()
                                    .filter(QueueInfo::known)
                                    .noneMatch(known -> known.name().equals(queue.name))) {
                        queues.declare(Queue.named(queue.name));
                    }
                    queues.limit(wanted);
                },
                "is changed");
    }

    @Command(
            name = "reset",
            mixinStandardHelpOptions = true,
            description = "Forget what was changed: the limits are those that the code declares.")
    int reset(@Mixin NamedQueue queue, @Mixin Output output) {
        return change(queue, output, queues -> queues.reset(queue.name), "is as the code declares it");
    }

    private static int change(NamedQueue queue, Output output, Consumer<Queues> change, String done) {
        return queue.database.with(open -> {
            Queues queues = open.perdure().queues();
            change.accept(queues);
            QueueInfo now = queues.get(queue.name);
            return output.print(open.page()
                    .message("Queue %s %s. Its limits: %s."
                            .formatted(
                                    queue.name, done, Limits.text(now.limits().settings())))
                    .data("queue", DETAILS, now));
        });
    }
}
