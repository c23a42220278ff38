package dev.perdure.shards;

import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.shards.limit.DividedLimits;
import dev.perdure.shards.limit.LimitRules;
import dev.perdure.shards.limit.QueueLimits;
import dev.perdure.shards.limit.Shares;
import dev.perdure.spi.Audit;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.shard.Places;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The queues. Each shard has its own part of a queue, claims from it by priority and age, and has its share of the limits. */
final class ShardedQueues implements QueueRules {
    private final Shards shards;
    private final DividedLimits limits;

    ShardedQueues(Shards shards) {
        this.shards = shards;
        this.limits = new DividedLimits(
                Places.Kind.QUEUE,
                shards.all().stream()
                        .<LimitRules>map(shard -> new QueueLimits(shard.store().queues()))
                        .toList(),
                shards.divisions(),
                shards::askHere);
    }

    @Override
    public void declare(Collection<Queue> queues) {
        shards.requireAll();
        limits.declare(List.of(), DividedLimits.byName(queues, Queue::name, Queue::settings));
        limits.divideAgain();
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        shards.requireAll();
        return switch (order) {
            case Order.Limit(Queue changes) -> limits.limit(changes.name(), changes.settings(), audit);
            case Order.Reset(String queue) -> limits.reset(queue, audit);
            case Order.Pause(String queue, String reason) -> limits.pause(queue, reason, audit);
            case Order.Resume(String queue) -> limits.pause(queue, null, audit);
        };
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
        return new QueueInfo(
                whole(queue.declared()), whole(queue.changed()), queue.paused(), queue.load(), queue.known());
    }

    private static QueueInfo sum(QueueInfo one, QueueInfo other) {
        return new QueueInfo(
                one.declared(),
                one.changed(),
                one.paused().or(other::paused),
                sum(one.load(), other.load()),
                one.known() || other.known());
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
