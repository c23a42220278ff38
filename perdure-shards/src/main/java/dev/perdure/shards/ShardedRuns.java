package dev.perdure.shards;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.error.StoreException;
import dev.perdure.shards.content.BelowPages;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange.Lived;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.RunSelection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Queries about runs. A query about one run goes to its shard. One about many goes to all shards at the same time, and its
 * answers are merged in the order that every store uses, so that a page begins where the last one ended.
 */
final class ShardedRuns implements Runs {
    private static final Comparator<AuditEntry> NEWEST_FIRST = Comparator.comparing(AuditEntry::at)
            .thenComparing(entry -> entry.id().toString())
            .reversed();

    /** How long a kill waits for a partition that moves, and how long between two looks. */
    private static final long MOST_WAITING = TimeUnit.SECONDS.toNanos(10);

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Shards shards;
    private final Forwarding forwarding;

    ShardedRuns(Shards shards, Forwarding forwarding) {
        this.shards = shards;
        this.forwarding = forwarding;
    }

    /** One map of several that have no key in common. */
    static <K, V> Map<K, V> merged(List<Map<K, V>> parts) {
        Map<K, V> all = new HashMap<>();
        parts.forEach(all::putAll);
        return all;
    }

    @Override
    public Optional<Found> find(RunId id) {
        return shards.find(Partitions.of(id), store -> store.runs().find(id));
    }

    /** A page of one shard without runs that are elsewhere by the map: a partition that has moved leaves rows for a while. */
    private List<RunInfo> own(int shard, RunSelection selection) {
        List<RunInfo> own = new ArrayList<>();
        RunFilter filter = selection.filter();
        RunFilter next = filter;
        while (true) {
            List<RunInfo> page = shards.store(shard).runs().list(selection.with(next));
            page.stream().filter(run -> shards.has(shard, run.id())).forEach(own::add);
            if (own.size() >= filter.limit() || page.size() < filter.limit()) {
                return own;
            }
            next = filter.after(page.getLast());
        }
    }

    @Override
    public List<RunInfo> list(RunSelection selection) {
        RunFilter filter = selection.filter();
        Selections selections = Selections.of(shards, filter);
        Comparator<RunInfo> oldest = Comparator.comparing(RunInfo::createdAt).thenComparing(RunInfo::id);
        return shards.ask(shards.indexes(), shard -> own(shard, selections.on(shard))).stream()
                .flatMap(List::stream)
                .sorted(filter.isOldestFirst() ? oldest : oldest.reversed())
                .limit(filter.limit())
                .toList();
    }

    @Override
    public Map<RunState, RunCount> count(RunSelection selection) {
        Selections selections = Selections.of(shards, selection.filter());
        Map<RunState, RunCount> all = new EnumMap<>(RunState.class);
        shards.ask(shards.indexes(), shard -> shards.store(shard).runs().count(selections.on(shard)))
                .forEach(counts -> counts.forEach((state, count) -> all.merge(state, count, ShardedRuns::sum)));
        return all;
    }

    private static RunCount sum(RunCount one, RunCount other) {
        RunCount seen = RunCount.seen(one.runs() + other.runs());
        return new RunCount(seen.runs(), seen.more() || one.more() || other.more());
    }

    @Override
    public Optional<Latest> latest(RunId id) {
        return shards.having(id).runs().latest(id);
    }

    @Override
    public List<Latest> latest(String prefix, String after, int limit) {
        return shards.ask(shards.indexes(), shard -> own(shard, prefix, after, limit)).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(latest -> latest.run().id().value(), Shards.BY_UTF8))
                .limit(limit)
                .toList();
    }

    private List<Latest> own(int shard, String prefix, String after, int limit) {
        List<Latest> own = new ArrayList<>();
        String next = after;
        while (true) {
            List<Latest> page = shards.store(shard).runs().latest(prefix, next, limit);
            page.stream().filter(latest -> shards.has(shard, latest.run().id())).forEach(own::add);
            if (own.size() >= limit || page.size() < limit) {
                return own;
            }
            next = page.getLast().run().id().value();
        }
    }

    @Override
    public Optional<Payload> input(RunRef run) {
        return shards.having(run).runs().input(run);
    }

    @Override
    public Optional<NewRun> settings(RunId run) {
        return shards.find(Partitions.of(run), store -> store.runs().settings(run));
    }

    @Override
    public Optional<Basis> basis(RunRef run) {
        return shards.having(run).runs().basis(run);
    }

    /** A shard that does not answer says of none of its runs that it has ended. So callers of the others go on. */
    @Override
    public List<Ended> ended(Collection<RunRef> runs) {
        return shards.askOfSome(runs, shards::of, (store, some) -> store.runs().ended(some)).stream()
                .flatMap(List::stream)
                .toList();
    }

    /**
     * Goes through the tree across shards, below cancelled runs too. What these runs have started may still be on its way,
     * so it is carried over first. If it is on its way to a partition that moves, this waits for the end of the move.
     */
    @Override
    public List<RunRef> liveChildren(Collection<RunRef> parents) {
        shards.requireHere("cannot kill what a run has started there");
        long until = System.nanoTime() + MOST_WAITING;
        while (true) {
            try {
                return liveChildrenNow(parents);
            } catch (StoreException trouble) {
                if (trouble.kind() != StoreException.Kind.MOVING || System.nanoTime() - until >= 0) {
                    throw trouble;
                }
                LockSupport.parkNanos(PAUSE);
            }
        }
    }

    private List<RunRef> liveChildrenNow(Collection<RunRef> parents) {
        Set<RunRef> live = new LinkedHashSet<>();
        Set<RunRef> seen = new HashSet<>(parents);
        Collection<RunRef> level = parents;
        while (!level.isEmpty()) {
            List<Lived> above = new ArrayList<>();
            for (Lived below : besides(level)) {
                if (!below.state().isTerminal() && seen.add(below.run())) {
                    live.add(below.run());
                } else {
                    seen.add(below.run());
                    above.add(below);
                }
            }
            List<RunRef> next = new ArrayList<>();
            for (Lived child : elsewhere(above)) {
                if (seen.add(child.run())) {
                    (child.state().isTerminal() ? next : live).add(child.run());
                }
            }
            level = next;
        }
        return List.copyOf(live);
    }

    private List<Lived> besides(Collection<RunRef> runs) {
        Map<Integer, List<RunRef>> divided = Parts.divide(runs, shards::of);
        Set<RunRef> starting = new HashSet<>();
        if (shards.haveBeenSeveral()) {
            divided.keySet().forEach(shard -> starting.addAll(forwarding.settle(shard)));
        }
        List<Lived> below = shards
                .ask(
                        List.copyOf(divided.keySet()),
                        shard -> shards.exchange(shard).below(divided.getOrDefault(shard, List.of())))
                .stream()
                .flatMap(List::stream)
                .toList();
        below.stream().map(Lived::run).filter(starting::contains).findFirst().ifPresent(parent -> {
            throw new StoreException(
                    StoreException.Kind.MOVING,
                    "A run that '%s' has started is on its way to a partition that moves to another shard. Repeat this when the partition has moved."
                            .formatted(parent.id()),
                    null);
        });
        return below;
    }

    private List<Lived> elsewhere(List<Lived> parents) {
        return shards.ask(store -> store.exchange().orElseThrow().children(parents)).stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public List<TaskRow> tasks(RunRef run) {
        return shards.having(run).runs().tasks(run);
    }

    @Override
    public List<TaskRow> children(RunRef run) {
        if (!shards.haveBeenSeveral()) {
            return shards.having(run).runs().children(run);
        }
        OptionalInt life = life(run);
        return shards
                .ask(shards.indexes(), shard -> {
                    List<TaskRow> own = new ArrayList<>();
                    if (shard == shards.of(run)) {
                        own.addAll(shards.store(shard).runs().children(run));
                    }
                    life.ifPresent(
                            present -> own.addAll(shards.exchange(shard).links().children(run, present)));
                    own.removeIf(child -> !shards.has(shard, child.run().id()));
                    return own;
                })
                .stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing((TaskRow child) -> child.info().createdAt())
                        .thenComparingLong(child -> child.run().key()))
                .toList();
    }

    @Override
    public BelowPage tasks(RunRef run, BelowPlace after, int limit) {
        return shards.having(run).runs().tasks(run, after, limit);
    }

    @Override
    public BelowPage children(RunRef run, BelowPlace after, int limit) {
        if (!shards.haveBeenSeveral()) {
            return shards.having(run).runs().children(run, after, limit);
        }
        OptionalInt life = life(run);
        List<BelowPage> pages = shards.ask(shards.indexes(), shard -> children(shard, run, life, after, limit)).stream()
                .flatMap(List::stream)
                .toList();
        return BelowPages.merged(pages, limit);
    }

    private List<BelowPage> children(int shard, RunRef run, OptionalInt life, BelowPlace after, int limit) {
        List<BelowPage> pages = new ArrayList<>();
        if (shard == shards.of(run)) {
            pages.add(shards.store(shard).runs().children(run, after, limit));
        }
        life.ifPresent(present -> pages.add(shards.exchange(shard).links().children(run, present, after, limit)));
        return pages.stream()
                .map(page -> new BelowPage(
                        page.runs().stream()
                                .filter(child -> shards.has(shard, child.run().id()))
                                .toList(),
                        page.next()))
                .toList();
    }

    private OptionalInt life(RunRef run) {
        return shards.ask(
                        List.of(shards.of(run)),
                        shard -> shards.exchange(shard).links().life(run))
                .getFirst();
    }

    @Override
    public Optional<RunInfo> holder(ObjectKey object) {
        return shards.having(object).runs().holder(object);
    }

    @Override
    public List<WaitingCall> waitingCalls(ObjectKey object, long after, int limit) {
        return shards.having(object).runs().waitingCalls(object, after, limit);
    }

    @Override
    public List<Entered> entered(RunRef run) {
        return shards.having(run).runs().entered(run);
    }

    @Override
    public List<NumberedState> entered(RunRef run, int after, int limit) {
        return shards.having(run).runs().entered(run, after, limit);
    }

    @Override
    public List<AuditEntry> audited(AuditFilter filter) {
        return shards.ask(store -> store.runs().audited(filter)).stream()
                .flatMap(List::stream)
                .sorted(NEWEST_FIRST)
                .distinct()
                .limit(filter.limit())
                .toList();
    }

    @Override
    public String mark() {
        return String.join(" ", shards.ask(store -> store.runs().mark()));
    }
}
