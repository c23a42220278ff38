package dev.perdure.shards;

import dev.perdure.spi.Audit;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.WorkerInfo;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The versions of workers. An order goes to every shard; a version is drained when it is drained on all of them. An engine
 * has a worker on each shard, and all of them are counted.
 */
final class ShardedVersions implements VersionRules {
    private final Shards shards;

    ShardedVersions(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void apply(Order order, @Nullable Audit audit) {
        shards.tell(store -> store.versions().apply(order, audit));
    }

    @Override
    public Set<String> drains(String version) {
        Set<String> all = new HashSet<>();
        shards.ask(store -> store.versions().drains(version)).forEach(all::addAll);
        return all;
    }

    @Override
    public void obeys(WorkerId worker, Set<String> drains) {
        shards.tell(store -> store.versions().obeys(worker, drains));
    }

    @Override
    public List<VersionInfo> list() {
        Map<String, VersionInfo> all = new TreeMap<>(Shards.BY_UTF8);
        shards.ask(store -> store.versions().list()).stream()
                .flatMap(List::stream)
                .forEach(version -> all.merge(version.name(), version, ShardedVersions::sum));
        return List.copyOf(all.values());
    }

    private static VersionInfo sum(VersionInfo one, VersionInfo other) {
        Map<String, VersionInfo.Definition> definitions = new TreeMap<>(Shards.BY_UTF8);
        List.of(one, other)
                .forEach(version -> version.definitions()
                        .forEach(definition -> definitions.merge(definition.name(), definition, ShardedVersions::sum)));
        return new VersionInfo(
                one.name(),
                sum(one.state(), other.state()),
                one.workers() + other.workers(),
                one.runs() + other.runs(),
                List.copyOf(definitions.values()));
    }

    private static VersionInfo.Definition sum(VersionInfo.Definition one, VersionInfo.Definition other) {
        return new VersionInfo.Definition(
                one.name(),
                one.runs() + other.runs(),
                one.workers() + other.workers(),
                one.draining() || other.draining(),
                one.drained() && other.drained());
    }

    /** The state that matters most: a shard without workers needs some, and a version drains until it has on all. */
    private static VersionInfo.State sum(VersionInfo.State one, VersionInfo.State other) {
        List<VersionInfo.State> both = List.of(one, other);
        for (VersionInfo.State state :
                List.of(VersionInfo.State.NO_WORKER, VersionInfo.State.DRAINING, VersionInfo.State.ACTIVE)) {
            if (both.contains(state)) {
                return state;
            }
        }
        return VersionInfo.State.DRAINED;
    }

    @Override
    public List<WorkerInfo> workers() {
        return shards.ask(store -> store.versions().workers()).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(worker -> worker.id().toString()))
                .toList();
    }

    @Override
    public boolean isDrained(String version) {
        return shards.ask(store -> store.versions().isDrained(version)).stream().allMatch(Boolean::booleanValue);
    }
}
