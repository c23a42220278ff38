package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.shards.content.Shares;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Parts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The limiters of steps. Each shard has its share of the limits, and gives permits to the steps of its own runs. */
final class ShardedPermits implements Permits {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");

    private final Shards shards;
    private final List<Integer> own;

    /** @param own the shards whose runs go on when this gives a permit back: a permit is for runs of the same shard */
    ShardedPermits(Shards shards, List<Integer> own) {
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
        own.forEach(shard -> shards.store(shard).permits().next(limiters));
    }

    /**
     * Declares limiters. A worker of one shard does that for a step of a run of that shard, which then goes on even if another
     * shard is down.
     */
    @Override
    public void declare(Collection<Limiter> limiters) {
        shards.requireAll();
        List<List<Limiter>> shares = IntStream.range(0, shards.size())
                .mapToObj(shard ->
                        limiters.stream().map(limiter -> share(limiter, shard)).toList())
                .toList();
        Stream.concat(own.stream(), shards.indexes().stream())
                .distinct()
                .forEach(shard -> shards.askHere(shard, one -> {
                    shards.store(one).permits().declare(shares.get(one));
                    return true;
                }));
        if (own.size() == shards.size()) {
            divideAgain();
        }
    }

    /** As {@link ShardedQueues} does it. */
    private void divideAgain() {
        List<Map<String, LimiterInfo>> known = new ArrayList<>();
        for (int shard = shards.size() - 1; shard >= 0; shard--) {
            List<LimiterInfo> there =
                    shards.askHere(shard, one -> shards.store(one).permits().list());
            known.addFirst(there.stream().collect(Collectors.toMap(LimiterInfo::name, limiter -> limiter)));
        }
        Map<String, LimiterInfo> all = new TreeMap<>();
        known.forEach(ofShard -> ofShard.forEach(all::putIfAbsent));
        for (LimiterInfo limiter : all.values()) {
            try {
                List<Limiter> declared = shares(whole(limiter.declared()));
                List<Limiter> changed = shares(whole(limiter.changed()));
                shards.tellEach((shard, store) -> {
                    @Nullable LimiterInfo there = known.get(shard).get(limiter.name());
                    if (there == null || !there.declared().equals(declared.get(shard))) {
                        store.permits().declare(List.of(declared.get(shard)));
                    }
                    change(store.permits(), there, limiter, changed.get(shard));
                });
            } catch (InvalidRequestException tooSmall) {
                LOG.warn("{}", tooSmall.getMessage());
            }
        }
    }

    private List<Limiter> shares(Limiter limiter) {
        return shards.indexes().stream().map(shard -> share(limiter, shard)).toList();
    }

    private static void change(Permits permits, @Nullable LimiterInfo there, LimiterInfo first, Limiter changed) {
        Map<String, String> before = there == null ? Map.of() : there.changed().settings();
        if (!changed.settings().keySet().containsAll(before.keySet())) {
            permits.apply(new Order.Reset(first.name()));
        }
        if (!before.equals(changed.settings())) {
            permits.apply(new Order.Limit(changed));
        }
        if (!first.paused().equals(there == null ? Optional.empty() : there.paused())) {
            permits.apply(first.paused()
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
