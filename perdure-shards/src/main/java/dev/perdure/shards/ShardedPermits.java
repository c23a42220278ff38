package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.shards.content.Shares;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Parts;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The limiters of steps. Each shard has its share of the limits, and gives permits to the steps of its own runs. */
final class ShardedPermits implements Permits {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");

    private final Shards shards;
    private final List<Store> own;

    /** @param own the shards whose runs go on when this gives a permit back: a permit is for runs of the same shard */
    ShardedPermits(Shards shards, List<Store> own) {
        this.shards = shards;
        this.own = own;
    }

    @Override
    public List<Answer> take(WorkerId worker, List<Request> requests) {
        @Nullable Answer[] answers = new Answer[requests.size()];
        Parts.divide(
                        IntStream.range(0, requests.size()).boxed().toList(),
                        place -> shards.of(requests.get(place).run()))
                .forEach((shard, places) -> {
                    List<Answer> some = shards.store(shard)
                            .permits()
                            .take(worker, places.stream().map(requests::get).toList());
                    for (int i = 0; i < places.size(); i++) {
                        answers[places.get(i)] = some.get(i);
                    }
                });
        return Arrays.stream(answers).map(Objects::requireNonNull).toList();
    }

    @Override
    public void next(Set<String> limiters) {
        own.forEach(store -> store.permits().next(limiters));
    }

    @Override
    public void declare(Collection<Limiter> limiters) {
        List<List<Limiter>> shares = IntStream.range(0, shards.size())
                .mapToObj(shard ->
                        limiters.stream().map(limiter -> share(limiter, shard)).toList())
                .toList();
        shards.tellEach((shard, store) -> {
            store.permits().declare(shares.get(shard));
            divideAgain(store.permits(), shard);
        });
    }

    /** As {@link ShardedQueues} does it. */
    private void divideAgain(Permits permits, int shard) {
        for (LimiterInfo limiter : permits.list()) {
            again(limiter.declared(), shard).ifPresent(declared -> permits.declare(List.of(declared)));
            again(limiter.changed(), shard).ifPresent(changed -> permits.apply(new Order.Limit(changed)));
        }
    }

    private Optional<Limiter> again(Limiter limiter, int shard) {
        if (Shares.isDivided(limiter.settings(), shards.size())) {
            return Optional.empty();
        }
        try {
            return Optional.of(share(whole(limiter), shard));
        } catch (InvalidRequestException tooSmall) {
            LOG.warn("{}", tooSmall.getMessage());
            return Optional.empty();
        }
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        List<Order> shares = IntStream.range(0, shards.size())
                .mapToObj(shard ->
                        order instanceof Order.Limit limit ? new Order.Limit(share(limit.changes(), shard)) : order)
                .toList();
        boolean known = false;
        for (int shard = 0; shard < shards.size(); shard++) {
            known |= shards.store(shard).permits().apply(shares.get(shard), audit);
        }
        return known;
    }

    private Limiter share(Limiter limiter, int shard) {
        String what = "The limiter '%s'".formatted(limiter.name());
        return Limiter.of(limiter.name(), Shares.of(what, limiter.settings(), shard, shards.size()));
    }

    @Override
    public List<LimiterInfo> list() {
        Map<String, LimiterInfo> all = new TreeMap<>(Shards.BY_UTF8);
        shards.ask(store -> store.permits().list()).stream()
                .flatMap(List::stream)
                .map(ShardedPermits::whole)
                .forEach(limiter -> all.merge(limiter.name(), limiter, ShardedPermits::sum));
        return List.copyOf(all.values());
    }

    @Override
    public Optional<LimiterInfo> find(String limiter) {
        return shards.ask(store -> store.permits().find(limiter)).stream()
                .flatMap(Optional::stream)
                .map(ShardedPermits::whole)
                .reduce(ShardedPermits::sum);
    }

    private static Limiter whole(Limiter share) {
        return Limiter.of(share.name(), Shares.whole(share.settings()));
    }

    private static LimiterInfo whole(LimiterInfo limiter) {
        return new LimiterInfo(
                whole(limiter.declared()),
                whole(limiter.changed()),
                limiter.paused(),
                limiter.waiting(),
                limiter.oldest(),
                limiter.held());
    }

    private static LimiterInfo sum(LimiterInfo one, LimiterInfo other) {
        return new LimiterInfo(
                one.declared(),
                one.changed(),
                one.paused().or(other::paused),
                one.waiting() + other.waiting(),
                ShardedQueues.earlier(one.oldest(), other.oldest()),
                one.held() + other.held());
    }
}
