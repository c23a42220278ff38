package dev.perdure.shards;

import dev.perdure.RunChange;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A worker that is in all shards at once, for those who use the sharded store as one. An engine has a worker for each shard
 * instead, so that a shard that is down stops no other.
 */
final class ShardedLeases implements Leases, Dispatch {
    private static final int MOST_RUNS = 1_000;

    private final Shards shards;
    private final Runnable done;

    /** @param done what follows a sweep or a poll */
    ShardedLeases(Shards shards, Runnable done) {
        this.shards = shards;
        this.done = done;
    }

    @Override
    public Instant join(Joining worker) {
        return shards.ask(store -> store.leases().join(worker)).getFirst();
    }

    @Override
    public @Nullable Instant renew(WorkerId worker, Heap heap) {
        List<List<Instant>> times = shards.ask(store -> {
            Instant time = store.leases().renew(worker, heap);
            return time == null ? List.<Instant>of() : List.of(time);
        });
        return times.stream().anyMatch(List::isEmpty) ? null : times.getFirst().getFirst();
    }

    @Override
    public List<RunChange> sweep(int limit) {
        List<RunChange> swept = new ArrayList<>();
        for (Shard shard : shards.all()) {
            swept.addAll(shard.store().leases().sweep(limit - swept.size()));
            if (swept.size() == limit) {
                break;
            }
        }
        done.run();
        return swept;
    }

    @Override
    public List<Owned> owned(WorkerId worker) {
        return shards.ask(store -> store.leases().owned(worker)).stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public void leave(WorkerId worker) {
        shards.tell(store -> store.leases().leave(worker));
    }

    /** How many more runs the worker may hold of queues that limit that. An engine counts this in memory. */
    private Map<String, Integer> places(Poll request) {
        Map<String, Integer> places = new HashMap<>(request.ofQueues());
        for (String queue : request.queues()) {
            shards.store(0).queues().known(queue).perWorker().ifPresent(most -> {
                Set<RunId> owned = owned(request.worker()).stream()
                        .map(each -> each.run().id())
                        .collect(Collectors.toSet());
                RunFilter ofQueue =
                        RunFilter.all().queue(queue).state(RunState.RUNNING).limit(MOST_RUNS);
                long held = shards.ask(store -> store.runs().list(ofQueue)).stream()
                        .flatMap(List::stream)
                        .filter(run -> owned.contains(run.id()))
                        .count();
                places.merge(queue, Math.clamp(most - held, 0, most), Math::min);
            });
        }
        return places;
    }

    @Override
    public Polled poll(Poll request) {
        Map<String, Integer> places = places(request);
        List<Claimed> claimed = new ArrayList<>();
        List<Polled> all = new ArrayList<>();
        for (int shard = 0; shard < shards.size(); shard++) {
            boolean alone = claimed.stream().anyMatch(Claimed::alone);
            Polled polled = shards.store(shard)
                    .dispatch()
                    .poll(request.forAtMost(
                                    alone ? 0 : request.limit() - claimed.size(),
                                    request.aloneToo() && claimed.isEmpty())
                            .forAtMost(Map.copyOf(places)));
            shards.learn(shard, polled.claimed());
            claimed.addAll(polled.claimed());
            polled.claimed()
                    .forEach(claim -> places.computeIfPresent(claim.origin().queue(), (queue, left) -> left - 1));
            all.add(polled);
        }
        done.run();
        return new Polled(
                claimed,
                all.stream().flatMap(polled -> polled.signalled().stream()).toList(),
                all.stream()
                        .map(Polled::nextDue)
                        .filter(Objects::nonNull)
                        .min(Comparator.naturalOrder())
                        .orElse(null),
                all.stream().anyMatch(Polled::aloneWaits),
                all.stream().flatMap(polled -> polled.changed().stream()).toList(),
                all.stream().anyMatch(Polled::limited));
    }
}
