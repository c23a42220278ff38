package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.WorkerId;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The limiters of steps. Each shard would count permits for itself, so a store with several shards refuses limiters. */
final class ShardedPermits implements Permits {
    private final Shards shards;

    ShardedPermits(Shards shards) {
        this.shards = shards;
    }

    private Permits only() {
        return shards.store(0).permits();
    }

    @Override
    public List<Answer> take(WorkerId worker, List<Request> requests) {
        return shards.size() == 1
                ? only().take(worker, requests)
                : requests.stream().map(request -> Answer.UNKNOWN).toList();
    }

    @Override
    public void next(Set<String> limiters) {
        if (shards.size() == 1) {
            only().next(limiters);
        }
    }

    @Override
    public void declare(Collection<Limiter> limiters) {
        if (shards.size() > 1 && !limiters.isEmpty()) {
            throw new InvalidRequestException(
                    "The limiter '%s' is declared, but a store with several shards does not support limiters yet: each shard would count for itself. Leave it out, or use one database."
                            .formatted(limiters.iterator().next().name()));
        }
        only().declare(limiters);
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        return shards.size() == 1 && only().apply(order, audit);
    }

    @Override
    public List<LimiterInfo> list() {
        return shards.size() == 1 ? only().list() : List.of();
    }

    @Override
    public Optional<LimiterInfo> find(String limiter) {
        return shards.size() == 1 ? only().find(limiter) : Optional.empty();
    }
}
