package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Hints;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.KeyHomes;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Places;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The limits of queues, and which of their runs may begin.
 *
 * <p>How it works: a run that a poll takes gets a place ({@link Row#placed}). When places are counted, the state of the
 * run shows whether it still holds its place, so no change of state has to give a place back. A run that no longer
 * holds its place loses it.
 */
final class MemoryQueues implements QueueRules {
    private final Tables tables;
    private final Map<String, MemoryQueue> queues = new TreeMap<>();

    MemoryQueues(Tables tables) {
        this.tables = tables;
    }

    private MemoryQueue entry(String name) {
        return queues.computeIfAbsent(name, unseen -> new MemoryQueue(unseen, tables));
    }

    /** The queue of this name, or null if it was never declared and had no runs with keys. */
    @Nullable
    MemoryQueue declared(String name) {
        return queues.get(name);
    }

    // ---- what operators do

    @Override
    public void declare(Collection<Queue> declared) {
        tables.inTransaction(() -> {
            declared.forEach(queue -> {
                MemoryQueue entry = entry(queue.name());
                entry.forget();
                entry.declared = queue;
            });
            tables.hint(new Hints.WorkReady());
            return true;
        });
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        return tables.inTransaction(() -> {
            MemoryQueue entry = queues.get(order.queue());
            if (entry == null) {
                return false;
            }
            entry.forget();
            Queue changed = entry.changed;
            String paused = entry.paused;
            switch (order) {
                case Order.Limit limit -> entry.changed = entry.changed.with(limit.changes());
                case Order.Pause pause -> entry.paused = pause.reason();
                case Order.Resume resume -> entry.paused = null;
                case Order.Reset reset ->
                    entry.changed = Queue.of(reset.queue(), Places.kept(entry.changed.settings()));
            }
            boolean same = entry.changed.settings().equals(changed.settings()) && Objects.equals(entry.paused, paused);
            tables.audits.add(same ? null : audit);
            tables.hint(new Hints.WorkReady());
            return true;
        });
    }

    @Override
    public boolean limits(String queue) {
        return tables.inTransaction(() -> isLimited(queue));
    }

    @Override
    public Queue known(String queue) {
        return tables.inTransaction(
                () -> queues.containsKey(queue) ? entry(queue).limits() : Queue.of(queue, Map.of()));
    }

    /** Whether runs of the queue begin only by a poll. */
    boolean isLimited(String queue) {
        MemoryQueue entry = queues.get(queue);
        return entry != null && entry.isLimited();
    }

    boolean isLimited(Row row) {
        return isLimited(row.start.queue());
    }

    // ---- who is started

    /** The key of a start, if it is full and its queue has a policy for that; or null. */
    @Nullable
    FullKey full(Change.Start start) {
        NewRun run = start.run();
        MemoryQueue entry = queues.get(run.queue());
        String key = run.queueKey();
        if (entry == null
                || key == null
                || !entry.limits().decidesStarts()
                || !FullKey.decides(start)
                || isCountedElsewhere(entry, key)) {
            return null;
        }
        int places = entry.limits().perKey().orElseThrow();
        boolean yields = entry.limits().whenKeyFull() == Queue.WhenKeyFull.CANCEL_OLDEST;
        List<Row> members = yields ? staying(run.queue(), key) : members(run.queue(), key);
        return members.size() < places
                ? null
                : new FullKey(
                        run.queue(),
                        key,
                        places,
                        members.stream().map(row -> row.ref.id()).toList());
    }

    /** The runs that have to end before this one has a place: the oldest that a newer run may cancel. */
    List<Row> inFavourOf(NewRun run) {
        List<Row> members = staying(run.queue(), Objects.requireNonNull(run.queueKey()));
        int places = entry(run.queue()).limits().perKey().orElseThrow();
        return members.stream()
                .filter(row -> !row.isTask() && row.start.object() == null)
                .limit(Math.max(0, members.size() - places + 1))
                .toList();
    }

    /** The runs of a key that hold a place or wait for one, the first started first. */
    private List<Row> members(String queue, String key) {
        forgetPlaces(queue, entry(queue).limits());
        return ofQueue(queue)
                .filter(row -> MemoryQueue.keyOf(row).equals(key))
                .filter(row -> row.placed || row.state == RunState.READY)
                .sorted(Comparator.comparing((Row row) -> row.createdAt).thenComparingLong(row -> row.ref.key()))
                .toList();
    }

    /** Those of them that are not asked to end yet. */
    private List<Row> staying(String queue, String key) {
        return members(queue, key).stream()
                .filter(row -> row.control.cancel() == null && row.control.kill() == null)
                .toList();
    }

    // ---- who begins

    /**
     * The queues of a worker from which only {@link #next} may choose runs: all limited queues, and other queues that
     * have runs with keys.
     */
    List<String> waiting(Poll request) {
        Set<String> waiting = new TreeSet<>();
        for (Row row : tables.ready) {
            if (isMine(row) && request.queues().contains(row.start.queue())) {
                waiting.add(row.start.queue());
            }
        }
        return List.copyOf(waiting);
    }

    /** Whether {@link #next} chooses the run, and not priority and age alone. */
    boolean isMine(Row row) {
        return row.start.queueKey() != null || isLimited(row);
    }

    /**
     * The suitable runs of a queue that may begin now, in their order. Runs that already hold a place come first, then
     * by priority. Among equal priorities the keys take turns: the key that was served least recently is first.
     */
    List<Row> next(String queue, Poll request, int limit, Predicate<Row> suits) {
        MemoryQueue entry = entry(queue);
        if (entry.paused != null) {
            return List.of();
        }
        Queue limits = entry.limits();
        forgetPlaces(queue, limits);
        entry.beginClaim();
        List<Row> ready = tables.ready.stream()
                .filter(row -> row.start.queue().equals(queue) && isMine(row) && suits.test(row))
                .filter(row -> !isCountedElsewhere(entry, row.start.queueKey()))
                .sorted(Comparator.comparingLong(row -> urgency(row, limits)))
                .toList();
        int here = limits.perWorker().orElse(Integer.MAX_VALUE) - heldBy(request.worker(), queue);
        List<Row> chosen = new ArrayList<>(
                ready.stream().filter(Row::isCancelled).limit(limit).toList());
        ready.stream()
                .filter(row -> row.placed && !row.isCancelled())
                .limit(Math.clamp(here - chosen.size(), 0, limit - chosen.size()))
                .forEach(chosen::add);
        // A cancelled run needs no place, and has one if one is free.
        List<Row> beside = chosen.stream().filter(row -> !row.placed).toList();
        int places = limits.concurrency().orElse(Integer.MAX_VALUE)
                - (int) placed(queue).count()
                - beside.size();
        int room = Math.clamp(Math.min(here, limit) - chosen.size(), 0, Math.max(places, 0));
        entry.withinRate(inTurns(ready, queue, entry, beside).toList()).stream()
                .limit(room)
                .forEach(chosen::add);
        return chosen;
    }

    /** Whether another shard counts the runs of this key, so that none of them begins here. */
    boolean isCountedElsewhere(MemoryQueue queue, @Nullable String key) {
        return key != null && KeyHomes.limitsKeys(queue.limits()) && !tables.exchange.has(Partitions.ofQueueKey(key));
    }

    /** When a rate next allows more, if runs wait for that. */
    Optional<Instant> nextFree(Poll request) {
        return waiting(request).stream()
                .map(this::entry)
                .flatMap(MemoryQueue::freeTimes)
                .min(Comparator.naturalOrder());
    }

    /** The lower comes first: by priority, which rises with the time that a run has waited if the queue says so. */
    private long urgency(Row row, Queue limits) {
        long rank = row.rank;
        return limits.ageing()
                .map(period -> rank
                        - Math.max(
                                0, Duration.between(row.changedAt, tables.now()).dividedBy(period)))
                .orElse(rank);
    }

    private record Candidate(Row row, long urgency, long turn, int nth, long served) {
        private static final Comparator<Candidate> ORDER = Comparator.comparingLong(Candidate::urgency)
                .thenComparingLong(Candidate::turn)
                .thenComparingInt(Candidate::nth)
                .thenComparingLong(Candidate::served)
                .thenComparingLong(each -> each.row.readySince);
    }

    private Stream<Row> inTurns(List<Row> ready, String queue, MemoryQueue entry, List<Row> beside) {
        Queue limits = entry.limits();
        Map<String, Integer> seen = new HashMap<>();
        List<Candidate> candidates = new ArrayList<>();
        for (Row row : entry.withinKeyRates(ready)) {
            String key = MemoryQueue.keyOf(row);
            int nth = seen.getOrDefault(key, 0);
            if (!row.placed && !row.isCancelled() && (key.isEmpty() || nth < keyRoom(queue, key, limits, beside))) {
                seen.put(key, nth + 1);
                candidates.add(
                        new Candidate(row, urgency(row, limits), entry.turnOf(key, nth), nth, entry.lastServed(key)));
            }
        }
        return candidates.stream().sorted(Candidate.ORDER).map(Candidate::row);
    }

    private int keyRoom(String queue, String key, Queue limits, List<Row> beside) {
        return limits.perKey().isEmpty()
                ? Integer.MAX_VALUE
                : limits.perKey().getAsInt()
                        - (int) placed(queue, key).count()
                        - (int) beside.stream()
                                .filter(row -> MemoryQueue.keyOf(row).equals(key))
                                .count();
    }

    /** How many runs of the queue this worker holds. */
    int heldBy(WorkerId worker, String queue) {
        return (int) ofQueue(queue).filter(row -> worker.equals(row.owner)).count();
    }

    private Stream<Row> ofQueue(String queue) {
        return tables.byKey.values().stream().filter(row -> row.start.queue().equals(queue));
    }

    /** The runs that hold places of the queue. */
    Stream<Row> placed(String queue) {
        return ofQueue(queue).filter(row -> row.placed);
    }

    /** Those of them that have this key. */
    Stream<Row> placed(String queue, String key) {
        return placed(queue).filter(row -> MemoryQueue.keyOf(row).equals(key));
    }

    /** Whether a run of a declared queue holds its place. */
    boolean holdsPlace(Row row) {
        String queue = row.start.queue();
        forgetPlaces(queue, entry(queue).limits());
        return row.placed;
    }

    /** A run that runs without a place began before its queue had limits. It counts all the same. */
    private void forgetPlaces(String queue, Queue limits) {
        boolean begun = limits.counting() == Queue.Counting.BEGUN;
        ofQueue(queue)
                .forEach(row -> row.placed = switch (row.state) {
                    case RUNNING -> !row.takesNoPlace();
                    case READY, SUSPENDED, BACKING_OFF -> begun && row.placed;
                    case PENDING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
                });
    }

    /**
     * A poll has taken this run.
     *
     * @param isNew whether it begins for the first time
     */
    void took(Row row, boolean isNew) {
        row.placed = !row.takesNoPlace();
        entry(row.start.queue()).took(row, isNew);
    }

    // ---- what this store has of the limits of several shards

    /** Declares a queue of which this store has not heard; says whether that is so. */
    boolean open(String name, Map<String, String> declared) {
        if (queues.containsKey(name)) {
            return false;
        }
        entry(name).declared = Queue.of(name, declared);
        return true;
    }

    /** Replaces the share, or removes it. */
    void share(String name, @Nullable Map<String, String> settings) {
        MemoryQueue entry = entry(name);
        Map<String, String> changed = new HashMap<>(entry.changed.settings());
        changed.keySet().removeAll(Places.kept(changed).keySet());
        changed.putAll(settings == null ? Map.of() : settings);
        entry.changed = Queue.of(name, changed);
        tables.hint(new Hints.WorkReady());
    }

    /** How many runs may have a place by the settings. */
    int limited(String name) {
        MemoryQueue entry = queues.get(name);
        return entry == null ? 0 : entry.limits().concurrency().orElse(Queue.UNLIMITED);
    }

    /** How many runs have a place. */
    int given(String name) {
        forgetPlaces(name, entry(name).limits());
        return (int) placed(name).count();
    }

    /** How many runs wait for one. */
    int waitingForPlaces(String name) {
        MemoryQueue entry = entry(name);
        forgetPlaces(name, entry.limits());
        return entry.paused != null
                ? 0
                : (int) tables.ready.stream()
                        .filter(row -> row.start.queue().equals(name) && !row.placed)
                        .count();
    }

    // ---- what there is

    @Override
    public List<QueueInfo> list() {
        return tables.inTransaction(() -> Stream.concat(
                        queues.keySet().stream(),
                        tables.byKey.values().stream()
                                .filter(MemoryQueues::isThere)
                                .map(row -> row.start.queue()))
                .distinct()
                .sorted()
                .map(this::info)
                .toList());
    }

    @Override
    public Optional<QueueInfo> find(String queue) {
        return tables.inTransaction(
                () -> queues.containsKey(queue) || ofQueue(queue).anyMatch(MemoryQueues::isThere)
                        ? Optional.of(info(queue))
                        : Optional.empty());
    }

    /** Whether it waits, or is at work: so long there is a queue that nobody has declared. */
    private static boolean isThere(Row row) {
        return row.state == RunState.READY || row.state == RunState.RUNNING;
    }

    private QueueInfo info(String name) {
        MemoryQueue entry = queues.getOrDefault(name, new MemoryQueue(name, tables));
        return new QueueInfo(
                entry.declared,
                entry.changed,
                Optional.ofNullable(entry.paused),
                load(ofQueue(name).toList(), entry.takenInLastMinute()),
                queues.containsKey(name));
    }

    private QueueInfo.Load load(List<Row> rows, long lastMinute) {
        List<Row> waiting =
                rows.stream().filter(row -> row.state == RunState.READY).toList();
        return new QueueInfo.Load(
                waiting.size(),
                waiting.stream().map(row -> row.changedAt).min(Comparator.naturalOrder()),
                rows.stream().filter(this::hasBegun).count(),
                rows.stream().filter(row -> row.state == RunState.RUNNING).count(),
                lastMinute);
    }

    private boolean hasBegun(Row row) {
        return switch (row.state) {
            case RUNNING -> true;
            case READY, SUSPENDED, BACKING_OFF -> row.placed && hasPlaces(row.start.queue());
            case PENDING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
    }

    /** Whether it has a limit or a rate: then its runs have places. */
    private boolean hasPlaces(String queue) {
        MemoryQueue entry = queues.get(queue);
        return entry != null && entry.limits().ageing(Duration.ZERO).hasLimits();
    }

    @Override
    public List<QueueInfo.Key> keys(String queue, int most) {
        return tables.inTransaction(() -> {
            MemoryQueue entry = queues.getOrDefault(queue, new MemoryQueue(queue, tables));
            Map<String, List<Row>> rows = new LinkedHashMap<>();
            ofQueue(queue)
                    .filter(row -> row.state == RunState.READY || hasBegun(row))
                    .forEach(row -> rows.computeIfAbsent(MemoryQueue.keyOf(row), unseen -> new ArrayList<>())
                            .add(row));
            return rows.entrySet().stream()
                    .map(each -> new QueueInfo.Key(
                            each.getKey(), load(each.getValue(), entry.takenInLastMinute(each.getKey()))))
                    .sorted(Comparator.comparingLong(
                                    (QueueInfo.Key key) -> -key.load().waiting())
                            .thenComparing(QueueInfo.Key::key))
                    .limit(most)
                    .toList();
        });
    }
}
