package dev.perdure.shards;

import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.shards.limit.DividedLimits;
import dev.perdure.shards.limit.LimitRules;
import dev.perdure.shards.limit.LimiterLimits;
import dev.perdure.shards.limit.Shares;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.Places;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The limiters of steps. Each shard has its share of the limits, and gives permits to the steps of its own runs. */
final class ShardedPermits implements Permits {
    private final Shards shards;
    private final List<Integer> own;
    private final DividedLimits limits;
    private final IntConsumer waiting;

    /** @param own the shards whose runs go on when this gives a permit back: a permit is for runs of the same shard */
    ShardedPermits(Shards shards, List<Integer> own) {
        this(shards, own, shard -> {});
    }

    /** @param waiting is told of a shard on which an attempt waits */
    ShardedPermits(Shards shards, List<Integer> own, IntConsumer waiting) {
        this.waiting = waiting;
        this.shards = shards;
        this.own = own;
        this.limits = new DividedLimits(
                Places.Kind.LIMITER,
                shards.all().stream()
                        .<LimitRules>map(
                                shard -> new LimiterLimits(shard.store().permits()))
                        .toList(),
                shards.divisions(),
                shards::askHere);
    }

    @Override
    public List<Answer> take(WorkerId worker, List<Request> requests) {
        @Nullable Answer[] answers = new Answer[requests.size()];
        List<Integer> waits = new ArrayList<>();
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
                    if (some.contains(Answer.WAITS)) {
                        waits.add(shard);
                    }
                });
        // Not before all have been asked: another shard would give away a permit that this call takes there.
        waits.forEach(waiting::accept);
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
        limits.declare(own, DividedLimits.byName(limiters, Limiter::name, Limiter::settings));
        if (own.size() == shards.size()) {
            limits.divideAgain();
        }
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        shards.requireAll();
        return switch (order) {
            case Order.Limit(Limiter changes) -> limits.limit(changes.name(), changes.settings(), audit);
            case Order.Reset(String limiter) -> limits.reset(limiter, audit);
            case Order.Pause(String limiter, String reason) -> limits.pause(limiter, reason, audit);
            case Order.Resume(String limiter) -> limits.pause(limiter, null, audit);
        };
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
