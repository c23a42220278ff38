package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.QueueRules;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The queues. Each shard has its own part of a queue, and claims from it by priority and age. Limits of a queue would be
 * counted by each shard for itself, so a store with several shards refuses them.
 */
final class ShardedQueues implements QueueRules {
    private final Shards shards;

    ShardedQueues(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void declare(Collection<Queue> queues) {
        queues.forEach(this::requireNoLimits);
        shards.tell(store -> store.queues().declare(queues));
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        if (order instanceof Order.Limit limit) {
            requireNoLimits(limit.changes());
        }
        boolean known = false;
        for (Shard shard : shards.all()) {
            known |= shard.store().queues().apply(order, audit);
        }
        return known;
    }

    private void requireNoLimits(Queue queue) {
        if (shards.size() > 1 && !queue.equals(Queue.named(queue.name()))) {
            throw new InvalidRequestException(
                    "The queue '%s' has limits or an order of its own, which a store with several shards does not support yet: each shard would count for itself. Declare the queue without them, or use one database."
                            .formatted(queue.name()));
        }
    }

    @Override
    public boolean limits(String queue) {
        return shards.all().stream().anyMatch(shard -> shard.store().queues().limits(queue));
    }

    @Override
    public Queue known(String queue) {
        return shards.store(0).queues().known(queue);
    }

    @Override
    public List<QueueInfo> list() {
        Map<String, QueueInfo> all = new TreeMap<>(Shards.BY_UTF8);
        shards.ask(store -> store.queues().list()).stream()
                .flatMap(List::stream)
                .forEach(queue -> all.merge(queue.name(), queue, ShardedQueues::sum));
        return List.copyOf(all.values());
    }

    @Override
    public Optional<QueueInfo> find(String queue) {
        return shards.ask(store -> store.queues().find(queue)).stream()
                .flatMap(Optional::stream)
                .reduce(ShardedQueues::sum);
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
