package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Runs;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.WorkerInfo;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which versions of workers drain. */
final class MemoryVersions implements VersionRules {
    private final Tables tables;
    private final Map<String, Set<String>> told = new HashMap<>();

    MemoryVersions(Tables tables) {
        this.tables = tables;
    }

    @Override
    public void apply(Order order, @Nullable Audit audit) {
        tables.inTransaction(() -> {
            if (change(order)) {
                tables.audits.add(audit);
            }
            return order;
        });
    }

    private boolean change(Order order) {
        Set<String> drains = told.computeIfAbsent(order.version(), version -> new TreeSet<>());
        if (order.drains()) {
            return drains.add(order.definition());
        }
        if (!order.definition().equals(ALL)) {
            return drains.remove(order.definition());
        }
        boolean any = !drains.isEmpty();
        drains.clear();
        return any;
    }

    @Override
    public Set<String> drains(String version) {
        return tables.inTransaction(() -> Set.copyOf(told.getOrDefault(version, Set.of())));
    }

    @Override
    public void obeys(WorkerId id, Set<String> drains) {
        tables.inTransaction(() -> {
            Tables.Worker worker = tables.workers.get(id);
            if (worker != null) {
                worker.drains = Set.copyOf(drains);
            }
            return id;
        });
    }

    @Override
    public List<VersionInfo> list() {
        return tables.inTransaction(() -> Stream.concat(
                        live().map(worker -> worker.joining.version()), pinned().map(row -> row.start.version()))
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .map(this::info)
                .toList());
    }

    @Override
    public List<WorkerInfo> workers() {
        return tables.inTransaction(() -> live().map(this::info)
                .sorted(Comparator.comparing(worker -> worker.id().toString()))
                .toList());
    }

    private WorkerInfo info(Tables.Worker worker) {
        List<String> definitions = worker.joining.definitions().stream()
                .filter(name -> !name.startsWith(Runs.OF_THE_ENGINE))
                .sorted()
                .toList();
        long held = tables.byKey.values().stream()
                .filter(row ->
                        row.state == RunState.RUNNING && worker.joining.id().equals(row.owner))
                .count();
        return new WorkerInfo(
                worker.joining.id().value(),
                Optional.ofNullable(worker.joining.version()),
                definitions,
                worker.joining.queues().stream().sorted().toList(),
                worker.joining.labels(),
                tables.now().plusNanos(worker.leaseEnds - tables.nanoTime()),
                Math.toIntExact(held),
                Optional.ofNullable(worker.heap),
                definitions.stream().filter(worker::drains).toList());
    }

    @Override
    public boolean isDrained(String version) {
        return tables.inTransaction(() -> info(version).state() == VersionInfo.State.DRAINED);
    }

    private VersionInfo info(String version) {
        List<Tables.Worker> workers = live().filter(worker -> version.equals(worker.joining.version()))
                .toList();
        Set<String> drains = told.getOrDefault(version, Set.of());
        Map<String, Long> runs = pinned().filter(row -> version.equals(row.start.version()))
                .collect(Collectors.groupingBy(row -> row.start.definition(), Collectors.counting()));
        Set<String> names = new TreeSet<>(runs.keySet());
        workers.forEach(worker -> names.addAll(worker.joining.definitions()));
        List<VersionInfo.Definition> definitions = names.stream()
                .filter(name -> !name.startsWith(Runs.OF_THE_ENGINE))
                .map(name -> {
                    long live = runs.getOrDefault(name, 0L);
                    boolean draining = drains.contains(ALL) || drains.contains(name);
                    int registered = Math.toIntExact(workers.stream()
                            .filter(worker -> worker.joining.definitions().contains(name))
                            .count());
                    boolean drained = draining && live == 0 && allObey(version, name);
                    return new VersionInfo.Definition(name, live, registered, draining, drained);
                })
                .toList();
        long live = runs.values().stream().mapToLong(Long::longValue).sum();
        VersionInfo.State state = VersionInfo.state(workers.size(), live, drains.contains(ALL), allObey(version, ALL));
        return new VersionInfo(version, state, workers.size(), live, definitions);
    }

    /** A worker whose lease is over is not counted elsewhere, but it may still write until a sweep removes it. */
    private boolean allObey(String version, String definition) {
        return tables.workers.values().stream()
                .filter(worker -> version.equals(worker.joining.version()))
                .allMatch(worker -> worker.drains(definition));
    }

    private Stream<Tables.Worker> live() {
        return tables.workers.values().stream().filter(worker -> worker.leaseEnds - tables.nanoTime() > 0);
    }

    private Stream<Row> pinned() {
        return tables.byKey.values().stream().filter(row -> row.start.version() != null && !row.state.isTerminal());
    }
}
