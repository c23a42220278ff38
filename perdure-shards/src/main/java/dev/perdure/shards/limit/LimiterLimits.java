package dev.perdure.shards.limit;

import dev.perdure.queue.Limiter;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Permits.Order;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The limits of the limiters of a shard. */
public record LimiterLimits(Permits permits) implements LimitRules {
    @Override
    public List<Limited> list() {
        return permits.list().stream()
                .map(limiter -> new Limited(
                        limiter.name(),
                        limiter.declared().settings(),
                        limiter.changed().settings(),
                        limiter.paused()))
                .toList();
    }

    @Override
    public void declare(Map<String, Map<String, String>> byName) {
        permits.declare(byName.entrySet().stream()
                .map(each -> Limiter.of(each.getKey(), each.getValue()))
                .toList());
    }

    @Override
    public boolean limit(String name, Map<String, String> changes, @Nullable Audit audit) {
        return permits.apply(new Order.Limit(Limiter.of(name, changes)), audit);
    }

    @Override
    public boolean reset(String name, @Nullable Audit audit) {
        return permits.apply(new Order.Reset(name), audit);
    }

    @Override
    public boolean pause(String name, @Nullable String reason, @Nullable Audit audit) {
        return permits.apply(reason == null ? new Order.Resume(name) : new Order.Pause(name, reason), audit);
    }
}
