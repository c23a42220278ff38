package dev.perdure.shards;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.shard.RunSelection.Origins;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What a filter selects on each shard. The runs that it names as parent or as schedule are looked up on their own shards. A
 * tree is followed from shard to shard, because each of them knows only the parents of its own runs.
 */
final class Selections {
    private final RunFilter filter;
    /** By shard; empty if the filter names no run, or if there has always been one shard. */
    private final List<Origins> origins;

    private Selections(RunFilter filter, List<Origins> origins) {
        this.filter = filter;
        this.origins = origins;
    }

    static Selections of(Shards shards, RunFilter filter) {
        boolean namesRun = filter.parent().isPresent()
                || filter.schedule().isPresent()
                || filter.root().isPresent();
        if (!shards.haveBeenSeveral() || !namesRun) {
            return new Selections(filter, List.of());
        }
        long parent = key(shards, filter.parent());
        long schedule = key(shards, filter.schedule());
        List<Set<Long>> roots = roots(shards, filter.root());
        return new Selections(
                filter,
                roots.stream()
                        .map(ofShard -> new Origins(parent, schedule, List.copyOf(ofShard)))
                        .toList());
    }

    RunSelection on(int shard) {
        return origins.isEmpty() ? new RunSelection(filter) : new RunSelection(filter, origins.get(shard));
    }

    private static long key(Shards shards, Optional<RunId> id) {
        return id.flatMap(run -> shards.ask(
                                List.of(shards.of(run)),
                                shard -> shards.store(shard).runs().find(run))
                        .getFirst())
                .map(found -> found.ref().key())
                .orElse(0L);
    }

    /** The runs of each shard with which the parts of a tree begin that it has. */
    private static List<Set<Long>> roots(Shards shards, Optional<RunId> root) {
        List<Set<Long>> roots = IntStream.range(0, shards.size())
                .<Set<Long>>mapToObj(shard -> new HashSet<>())
                .toList();
        long top = key(shards, root);
        if (root.isEmpty() || top == 0) {
            return roots;
        }
        roots.get(shards.of(root.get())).add(top);
        Set<Long> seen = new HashSet<>();
        List<Long> level = below(shards, roots, seen);
        while (!level.isEmpty()) {
            List<Long> above = level;
            List<List<Long>> started = shards.ask(
                    shards.indexes(), shard -> shards.exchange(shard).links().startedBy(above));
            List<Set<Long>> more = new ArrayList<>();
            for (int shard = 0; shard < started.size(); shard++) {
                Set<Long> tops = new HashSet<>(started.get(shard));
                tops.removeAll(seen);
                roots.get(shard).addAll(tops);
                more.add(tops);
            }
            level = below(shards, more, seen);
        }
        return roots;
    }

    /** The runs of these parts of a tree that were not seen before. */
    private static List<Long> below(Shards shards, List<Set<Long>> tops, Set<Long> seen) {
        return shards
                .ask(
                        shards.indexes().stream()
                                .filter(shard -> !tops.get(shard).isEmpty())
                                .toList(),
                        shard -> shards.exchange(shard).links().tree(tops.get(shard)))
                .stream()
                .flatMap(List::stream)
                .filter(seen::add)
                .toList();
    }
}
