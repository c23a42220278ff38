package dev.perdure.memory;

import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
import dev.perdure.spi.Runs.TaskRow;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Links;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The parents of runs that are on other shards, by the keys of the runs. */
final class MemoryLinks implements Links {
    private final Tables tables;
    private final MemoryQueries queries;
    private final Map<Long, Parent> parents = new HashMap<>();

    MemoryLinks(Tables tables) {
        this.tables = tables;
        this.queries = new MemoryQueries(tables);
    }

    void put(long key, Parent parent) {
        parents.put(key, parent);
    }

    void remove(long key) {
        parents.remove(key);
    }

    /** The parent of a run, if it is on another shard. */
    @Nullable
    Parent elsewhere(Row row) {
        return parents.get(row.ref.key());
    }

    /** The parent of a run, wherever it is. */
    @Nullable
    Parent parent(Row row) {
        Parent here = row.start.parent();
        return here == null ? elsewhere(row) : here;
    }

    /** The runs whose parents are on other shards, with these parents. */
    Stream<Map.Entry<Long, Parent>> all() {
        return parents.entrySet().stream();
    }

    @Override
    public OptionalInt life(RunRef run) {
        return tables.inTransaction(() -> Optional.ofNullable(tables.byKey.get(run.key())).stream()
                .mapToInt(row -> row.restarts)
                .findFirst());
    }

    @Override
    public List<TaskRow> children(RunRef parent, int life) {
        return tables.inTransaction(() -> queries.children(startedBy(parent, life)));
    }

    @Override
    public BelowPage children(RunRef parent, int life, BelowPlace after, int limit) {
        return tables.inTransaction(() -> queries.page(startedBy(parent, life), after, limit));
    }

    private Stream<Row> startedBy(RunRef parent, int life) {
        return all().filter(link -> !link.getValue().isReport()
                        && link.getValue().run().equals(parent)
                        && link.getValue().life() == life)
                .flatMap(link -> Stream.ofNullable(tables.byKey.get(link.getKey())));
    }

    @Override
    public List<Long> tree(Collection<Long> tops) {
        return tables.inTransaction(() -> {
            Set<Long> reached = new LinkedHashSet<>();
            List<Long> level = tops.stream().filter(tables.byKey::containsKey).toList();
            while (!level.isEmpty()) {
                reached.addAll(level);
                Set<Long> above = Set.copyOf(level);
                level = tables.byKey.values().stream()
                        .filter(row -> isChild(row.start.parent(), above) && !reached.contains(row.ref.key()))
                        .map(row -> row.ref.key())
                        .toList();
            }
            return List.copyOf(reached);
        });
    }

    @Override
    public List<Long> startedBy(Collection<Long> ofOthers) {
        return tables.inTransaction(() -> all().filter(link -> isChild(link.getValue(), ofOthers))
                .map(Map.Entry::getKey)
                .toList());
    }

    private static boolean isChild(@Nullable Parent parent, Collection<Long> ofThese) {
        return parent != null
                && !parent.isReport()
                && ofThese.contains(parent.run().key());
    }
}
