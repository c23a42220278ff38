package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.shards.content.Shares;
import dev.perdure.spi.Audit;
import dev.perdure.spi.QueueRules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues. Each shard has its own part of a queue, claims from it by priority and age, and has its share of the limits. */
final class ShardedQueues implements QueueRules {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");

    private final Shards shards;

    ShardedQueues(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void declare(Collection<Queue> queues) {
        shards.requireAll();
        List<List<Queue>> shares = IntStream.range(0, shards.size())
                .mapToObj(shard ->
                        queues.stream().map(queue -> share(queue, shard)).toList())
                .toList();
        shards.tellEach((shard, store) -> store.queues().declare(shares.get(shard)));
        divideAgain();
    }

    /**
     * What other processes and operators have set is divided again if there are more shards now, or fewer. The first shard that
     * has a queue decides: it is told of a change first, and here it is asked last, while a shard that was added may have what
     * was set before. What cannot be divided stays as it is: then no partition moves to a new shard.
     */
    private void divideAgain() {
        List<Map<String, QueueInfo>> known = new ArrayList<>();
        for (int shard = shards.size() - 1; shard >= 0; shard--) {
            List<QueueInfo> there =
                    shards.askHere(shard, one -> shards.store(one).queues().list());
            known.addFirst(there.stream().collect(Collectors.toMap(QueueInfo::name, queue -> queue)));
        }
        Map<String, QueueInfo> all = new TreeMap<>();
        known.forEach(ofShard -> ofShard.forEach(all::putIfAbsent));
        for (QueueInfo queue : all.values()) {
            try {
                List<Queue> declared = shares(whole(queue.declared()));
                List<Queue> changed = shares(whole(queue.changed()));
                shards.tellEach((shard, store) -> {
                    @Nullable QueueInfo there = known.get(shard).get(queue.name());
                    if (there == null || !there.declared().equals(declared.get(shard))) {
                        store.queues().declare(List.of(declared.get(shard)));
                    }
                    change(store.queues(), there, queue, changed.get(shard));
                });
            } catch (InvalidRequestException tooSmall) {
                LOG.warn("{}", tooSmall.getMessage());
            }
        }
    }

    private List<Queue> shares(Queue queue) {
        return shards.indexes().stream().map(shard -> share(queue, shard)).toList();
    }

    /** Makes what operators have changed on a shard the same as on the first one. */
    private static void change(QueueRules rules, @Nullable QueueInfo there, QueueInfo first, Queue changed) {
        Map<String, String> before = there == null ? Map.of() : there.changed().settings();
        if (!changed.settings().keySet().containsAll(before.keySet())) {
            rules.apply(new Order.Reset(first.name()));
        }
        if (!before.equals(changed.settings())) {
            rules.apply(new Order.Limit(changed));
        }
        if (!first.paused().equals(there == null ? Optional.empty() : there.paused())) {
            rules.apply(first.paused()
                    .<Order>map(reason -> new Order.Pause(first.name(), reason))
                    .orElseGet(() -> new Order.Resume(first.name())));
        }
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        shards.requireAll();
        List<Order> shares = IntStream.range(0, shards.size())
                .mapToObj(shard ->
                        order instanceof Order.Limit limit ? new Order.Limit(share(limit.changes(), shard)) : order)
                .toList();
        boolean known = false;
        for (int shard = 0; shard < shards.size(); shard++) {
            known |= shards.store(shard).queues().apply(shares.get(shard), audit);
        }
        return known;
    }

    private Queue share(Queue queue, int shard) {
        String what = "The queue '%s'".formatted(queue.name());
        return Queue.of(queue.name(), Shares.of(what, queue.settings(), shard, shards.size()));
    }

    private static Queue whole(Queue share) {
        return Queue.of(share.name(), Shares.whole(share.settings()));
    }

    @Override
    public boolean limits(String queue) {
        return shards.all().stream().anyMatch(shard -> shard.store().queues().limits(queue));
    }

    /** The smallest share: a run that weighs more than its shard has would wait for ever. */
    @Override
    public Queue known(String queue) {
        return shards.store(shards.size() - 1).queues().known(queue);
    }

    @Override
    public List<QueueInfo> list() {
        Map<String, QueueInfo> all = new TreeMap<>(Shards.BY_UTF8);
        shards.ask(store -> store.queues().list()).stream()
                .flatMap(List::stream)
                .map(ShardedQueues::whole)
                .forEach(queue -> all.merge(queue.name(), queue, ShardedQueues::sum));
        return List.copyOf(all.values());
    }

    @Override
    public Optional<QueueInfo> find(String queue) {
        return shards.ask(store -> store.queues().find(queue)).stream()
                .flatMap(Optional::stream)
                .map(ShardedQueues::whole)
                .reduce(ShardedQueues::sum);
    }

    private static QueueInfo whole(QueueInfo queue) {
        return new QueueInfo(whole(queue.declared()), whole(queue.changed()), queue.paused(), queue.load());
    }

    private static QueueInfo sum(QueueInfo one, QueueInfo other) {
        return new QueueInfo(
                one.declared(), one.changed(), one.paused().or(other::paused), sum(one.load(), other.load()));
    }

    private static QueueInfo.Load sum(QueueInfo.Load one, QueueInfo.Load other) {
        return new QueueInfo.Load(
                one.waiting() + other.waiting(),
                earlier(one.oldest(), other.oldest()),
                one.begun() + other.begun(),
                one.atWork() + other.atWork(),
                one.lastMinute() + other.lastMinute());
    }

    static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        return Stream.of(one, other).flatMap(Optional::stream).min(Comparator.naturalOrder());
    }

    @Override
    public List<QueueInfo.Key> keys(String queue, int most) {
        Map<String, QueueInfo.Key> all = new TreeMap<>(Shards.BY_UTF8);
        shards.ask(store -> store.queues().keys(queue, most)).stream()
                .flatMap(List::stream)
                .forEach(key -> all.merge(
                        key.key(), key, (one, other) -> new QueueInfo.Key(one.key(), sum(one.load(), other.load()))));
        return all.values().stream()
                .sorted(Comparator.comparingLong(
                                (QueueInfo.Key key) -> key.load().waiting())
                        .reversed())
                .limit(most)
                .toList();
    }
}
