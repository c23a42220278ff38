package dev.perdure.shards.limit;

import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.QueueRules.Order;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The limits of the queues of a shard. */
public record QueueLimits(QueueRules rules) implements LimitRules {
    @Override
    public List<Limited> list() {
        return rules.list().stream()
                .filter(QueueInfo::known)
                .map(queue -> new Limited(
                        queue.name(),
                        queue.declared().settings(),
                        queue.changed().settings(),
                        queue.paused()))
                .toList();
    }

    @Override
    public void declare(Map<String, Map<String, String>> byName) {
        rules.declare(byName.entrySet().stream()
                .map(each -> Queue.of(each.getKey(), each.getValue()))
                .toList());
    }

    @Override
    public boolean limit(String name, Map<String, String> changes, @Nullable Audit audit) {
        return rules.apply(new Order.Limit(Queue.of(name, changes)), audit);
    }

    @Override
    public boolean reset(String name, @Nullable Audit audit) {
        return rules.apply(new Order.Reset(name), audit);
    }

    @Override
    public boolean pause(String name, @Nullable String reason, @Nullable Audit audit) {
        return rules.apply(reason == null ? new Order.Resume(name) : new Order.Pause(name, reason), audit);
    }
}
