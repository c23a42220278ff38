package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs of a queue with limits, in all and of a key: never are more begun and not ended, and no place stays taken. Now
 * and then many are started at once, so that the limits are reached on a machine on which each run ends before the next.
 */
public final class Limited implements Workload {
    private static final int KEYS = 3;
    private static final int AT_ONCE = 4;
    private static final int PER_KEY = 2;
    private static final int ONE_BURST_IN = 12;
    private static final int BURST = 8;
    /** In so many bursts the queue has been full, however busy the machine is. */
    private static final int BURSTS_THAT_FILL = 3;

    private static final Queue QUEUE =
            Queue.named("limited").concurrency(AT_ONCE).perKey(PER_KEY);
    private static final Duration BODY = Duration.ofMillis(30);

    private static Definition<Integer, String> definition(OutsideLedger ledger) {
        return Definition.of("limited", Integer.class, String.class, (ctx, number) -> {
            String run = ctx.runId().value();
            ctx.step("first", () -> work(ledger, run));
            ctx.sleep(Duration.ofMillis(20));
            return ctx.step("second", () -> work(ledger, run));
        });
    }

    private static String work(OutsideLedger ledger, String run) throws Exception {
        ledger.write(run, "begin");
        LockSupport.parkNanos(BODY.toNanos());
        return ledger.write(run, "end");
    }

    @Override
    public String name() {
        return "limited";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition(parts.ledger())).queues(QUEUE);
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(Invocation.of(definition(parts.ledger()), number), options("limited-" + number, number));
        if (number % ONE_BURST_IN == 0) {
            client.startAll(
                    IntStream.range(0, BURST).boxed().toList(),
                    each -> Invocation.of(definition(parts.ledger()), each),
                    each -> options(burst(number, each), each));
        }
    }

    private static StartOptions options(String id, int number) {
        return StartOptions.id(id).queue(QUEUE.name()).key(key(number));
    }

    private static String burst(int number, int each) {
        return "limited-%d-%d".formatted(number, each);
    }

    private static String key(int number) {
        return "key-" + number % KEYS;
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        int most = mostAtOnce(seen.lines().values());
        if (most > AT_ONCE) {
            violations.add("%d runs were begun at once, and the queue allows %d.".formatted(most, AT_ONCE));
        }
        if (most < AT_ONCE && seen.started() > BURSTS_THAT_FILL * ONE_BURST_IN) {
            violations.add("The queue allows %d runs at once, and never were more than %d: this says nothing about it."
                    .formatted(AT_ONCE, most));
        }
        Map<String, List<List<Line>>> byKey = seen.lines().entrySet().stream()
                .collect(Collectors.groupingBy(
                        run -> key(Integer.parseInt(run.getKey().replaceFirst(".*-", ""))),
                        Collectors.mapping(Map.Entry::getValue, Collectors.toList())));
        byKey.forEach((key, runs) -> {
            if (mostAtOnce(runs) > PER_KEY) {
                violations.add("%d runs of '%s' were begun at once, and the queue allows %d."
                        .formatted(mostAtOnce(runs), key, PER_KEY));
            }
        });
        QueueInfo.Load load = seen.client().queues().get(QUEUE.name()).load();
        if (load.waiting() + load.begun() > 0) {
            violations.add("The queue has %d runs that wait and %d places taken at the end."
                    .formatted(load.waiting(), load.begun()));
        }
        return violations;
    }

    /** A run has its place from its first line to its last, however often its workers died between them. */
    private static int mostAtOnce(Collection<List<Line>> runs) {
        Map<Instant, Integer> changes = new TreeMap<>();
        for (List<Line> lines : runs) {
            List<Instant> times = lines.stream()
                    .map(Line::at)
                    .sorted(Comparator.naturalOrder())
                    .toList();
            changes.merge(times.getFirst(), 1, Integer::sum);
            changes.merge(times.getLast(), -1, Integer::sum);
        }
        int now = 0;
        int most = 0;
        for (int change : changes.values()) {
            now += change;
            most = Math.max(most, now);
        }
        return most;
    }
}
