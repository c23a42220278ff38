package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.NewRun;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
    /** How many of the runs that hold places are named. */
    private static final int NAMED = 3;
    /** So long one turn is, in the time of turns. */
    private static final long A_TURN = 1_000_000;

    private final Tables tables;
    private final Map<String, Entry> queues = new TreeMap<>();

    private static final class Entry {
        private Queue declared;
        private Queue changed;
        private @Nullable String paused;
        private long turn;
        /** The turn in which each key was last served. */
        private final Map<String, Long> served = new HashMap<>();

        /** The time of turns, which passes as keys are served, and at which of them the next turn of each key is. */
        private long virtualTime;

        private final Map<String, Long> nextTurn = new HashMap<>();
        private long claimedAt;

        private Instant minute = Instant.EPOCH;
        private long thisMinute;
        private long minuteBefore;

        /** Runs that have begun and may still count for a rate. */
        private List<Begun> begun = new ArrayList<>();

        private Entry(String name) {
            this.declared = Queue.named(name);
            this.changed = Queue.named(name);
        }

        private Queue limits() {
            return declared.with(changed);
        }

        /** When the next turn of a key is, as seen by the present claim: a key that had nothing waiting has saved no turns. */
        private long turnOf(String key) {
            return Math.max(nextTurn.getOrDefault(key, 0L), claimedAt);
        }

        private long stepOf(String key) {
            return A_TURN / limits().turns(key);
        }

        private void took(Row row, Instant now) {
            String key = keyOf(row);
            long at = turnOf(key);
            nextTurn.put(key, at + stepOf(key));
            virtualTime = Math.max(virtualTime, at);
            served.put(key, ++turn);
            if (row.epoch == Outcome.Started.FIRST_EPOCH) {
                begun.add(new Begun(now, keyOf(row), row.start.admission().weight()));
            }
            Instant current = now.truncatedTo(ChronoUnit.MINUTES);
            if (!current.equals(minute)) {
                minuteBefore = servedBefore(current);
                thisMinute = 0;
                minute = current;
            }
            thisMinute++;
        }

        private long servedBefore(Instant current) {
            if (current.equals(minute)) {
                return minuteBefore;
            }
            return current.minus(1, ChronoUnit.MINUTES).equals(minute) ? thisMinute : 0;
        }
    }

    /** A run that has begun for the first time. */
    private record Begun(Instant at, String key, int units) {
        boolean counts(Queue.Rate rate, Instant now) {
            return at.plus(rate.period()).isAfter(now);
        }

        int units(Queue.Rate rate) {
            return Math.min(units, rate.most());
        }
    }

    MemoryQueues(Tables tables) {
        this.tables = tables;
    }

    private static String keyOf(Row row) {
        return Objects.requireNonNullElse(row.start.queueKey(), "");
    }

    private Entry entry(String name) {
        return queues.computeIfAbsent(name, Entry::new);
    }

    // ---- what operators do

    @Override
    public void declare(Collection<Queue> declared) {
        tables.inTransaction(() -> {
            declared.forEach(queue -> entry(queue.name()).declared = queue);
            tables.hint(new Hints.WorkReady());
            return true;
        });
    }

    @Override
    public boolean apply(Order order) {
        return tables.inTransaction(() -> {
            Entry entry = queues.get(order.queue());
            if (entry == null) {
                return false;
            }
            switch (order) {
                case Order.Limit limit -> entry.changed = entry.changed.with(limit.changes());
                case Order.Pause pause -> entry.paused = pause.reason();
                case Order.Resume resume -> entry.paused = null;
                case Order.Reset reset -> entry.changed = Queue.named(reset.queue());
            }
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
                () -> queues.containsKey(queue) ? entry(queue).limits() : Queue.named(queue));
    }

    /** Whether runs of the queue begin only by a poll. */
    boolean isLimited(String queue) {
        Entry entry = queues.get(queue);
        return entry != null && (entry.paused != null || entry.limits().hasLimits());
    }

    boolean isLimited(Row row) {
        return isLimited(row.start.queue());
    }

    // ---- who is started

    /** The key of a start, if it is full and its queue has a policy for that; or null. */
    @Nullable
    FullKey full(Change.Start start) {
        NewRun run = start.run();
        Entry entry = queues.get(run.queue());
        String key = run.queueKey();
        if (entry == null || key == null || !entry.limits().decidesStarts() || !FullKey.decides(start)) {
            return null;
        }
        int places = entry.limits().perKey().orElseThrow();
        boolean yields = entry.limits().whenKeyFull() == Queue.WhenKeyFull.CANCEL_OLDEST;
        List<Row> members = yields ? yielding(run.queue(), key) : members(run.queue(), key);
        return members.size() < places
                ? null
                : new FullKey(
                        run.queue(),
                        key,
                        places,
                        members.stream().map(row -> row.ref.id()).toList());
    }

    /** The runs that have to end before this one has a place: the oldest. */
    List<Row> inFavourOf(NewRun run) {
        List<Row> members = yielding(run.queue(), Objects.requireNonNull(run.queueKey()));
        int places = entry(run.queue()).limits().perKey().orElseThrow();
        return members.subList(0, Math.max(0, members.size() - places + 1));
    }

    /** The runs of a key that hold a place or wait for one, the first started first. */
    private List<Row> members(String queue, String key) {
        forgetPlaces(queue, entry(queue).limits());
        return ofQueue(queue)
                .filter(row -> keyOf(row).equals(key))
                .filter(row -> row.placed || row.state == RunState.READY)
                .sorted(Comparator.comparing((Row row) -> row.createdAt).thenComparingLong(row -> row.ref.key()))
                .toList();
    }

    /** Those of them that a newer run may cancel, and that are not asked to end yet. */
    private List<Row> yielding(String queue, String key) {
        return members(queue, key).stream()
                .filter(row -> !row.isTask() && row.start.object() == null)
                .filter(row -> row.control.cancel() == null && row.control.kill() == null)
                .toList();
    }

    // ---- who begins

    /**
     * The queues of a worker from which only {@link #next} may choose runs: all limited queues, and other queues that
     * have runs with keys.
     */
    List<String> waiting(Poll request) {
        return tables.ready.stream()
                .filter(row -> isMine(row) && request.queues().contains(row.start.queue()))
                .map(row -> row.start.queue())
                .distinct()
                .sorted()
                .toList();
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
        Entry entry = entry(queue);
        if (entry.paused != null) {
            return List.of();
        }
        Queue limits = entry.limits();
        forgetPlaces(queue, limits);
        entry.claimedAt = entry.virtualTime;
        List<Row> ready = tables.ready.stream()
                .filter(row -> row.start.queue().equals(queue) && isMine(row) && suits.test(row))
                .sorted(Comparator.comparingLong(row -> urgency(row, limits)))
                .toList();
        int here = limits.perWorker().orElse(Integer.MAX_VALUE) - heldBy(request, queue);
        List<Row> chosen = new ArrayList<>(ready.stream()
                .filter(row -> row.placed)
                .limit(Math.clamp(here, 0, limit))
                .toList());
        int places = limits.concurrency().orElse(Integer.MAX_VALUE)
                - (int) placed(queue).count();
        int room = Math.clamp(Math.min(here, limit) - chosen.size(), 0, Math.max(places, 0));
        withinRate(inTurns(ready, queue, limits, entry).toList(), limits.appliedRate(), entry).stream()
                .limit(room)
                .forEach(chosen::add);
        return chosen;
    }

    /** As many runs as the rate allows, in their order. Lighter runs do not overtake a heavy one. */
    private List<Row> withinRate(List<Row> rows, Optional<Queue.Rate> rate, Entry entry) {
        return rate.isEmpty() ? rows : withinRate(rows, rate.get(), entry.begun.stream());
    }

    private List<Row> withinRate(List<Row> rows, Queue.Rate rate, Stream<Begun> begun) {
        long left = rate.most() - unitsOf(begun, rate);
        List<Row> allowed = new ArrayList<>();
        for (Row row : rows) {
            left -= row.epoch > 0 ? 0 : Math.min(row.start.admission().weight(), rate.most());
            if (left < 0) {
                break;
            }
            allowed.add(row);
        }
        return allowed;
    }

    private long unitsOf(Stream<Begun> begun, Queue.Rate rate) {
        return begun.filter(each -> each.counts(rate, tables.now()))
                .mapToLong(each -> each.units(rate))
                .sum();
    }

    /** When a rate next allows more, if runs wait for that. */
    Optional<Instant> nextFree(Poll request) {
        return waiting(request).stream()
                .map(this::entry)
                .flatMap(entry -> Stream.concat(
                        entry.limits().appliedRate().stream().flatMap(rate -> ends(entry, rate)),
                        entry.limits().appliedRatePerKey().stream().flatMap(rate -> ends(entry, rate))))
                .min(Comparator.naturalOrder());
    }

    private Stream<Instant> ends(Entry entry, Queue.Rate rate) {
        return entry.begun.stream()
                .filter(each -> each.counts(rate, tables.now()))
                .map(each -> each.at().plus(rate.period()));
    }

    /** The lower comes first: by priority, which rises with the time that a run has waited if the queue says so. */
    private long urgency(Row row, Queue limits) {
        long rank = ~row.start.priority();
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

    private Stream<Row> inTurns(List<Row> ready, String queue, Queue limits, Entry entry) {
        Map<String, Integer> seen = new HashMap<>();
        List<Candidate> candidates = new ArrayList<>();
        for (Row row : withinKeyRates(ready, limits, entry)) {
            String key = keyOf(row);
            int nth = seen.getOrDefault(key, 0);
            if (!row.placed && (key.isEmpty() || nth < keyRoom(queue, key, limits))) {
                seen.put(key, nth + 1);
                candidates.add(new Candidate(
                        row,
                        urgency(row, limits),
                        entry.turnOf(key) + nth * entry.stepOf(key),
                        nth,
                        entry.served.getOrDefault(key, 0L)));
            }
        }
        return candidates.stream().sorted(Candidate.ORDER).map(Candidate::row);
    }

    private List<Row> withinKeyRates(List<Row> ready, Queue limits, Entry entry) {
        Optional<Queue.Rate> rate = limits.appliedRatePerKey();
        if (rate.isEmpty()) {
            return ready;
        }
        Map<String, List<Row>> byKey = ready.stream().collect(Collectors.groupingBy(MemoryQueues::keyOf));
        Set<Row> allowed = new HashSet<>();
        byKey.forEach((key, rows) -> allowed.addAll(
                key.isEmpty()
                        ? rows
                        : withinRate(
                                rows,
                                rate.get(),
                                entry.begun.stream().filter(each -> each.key().equals(key)))));
        return ready.stream().filter(allowed::contains).toList();
    }

    private int keyRoom(String queue, String key, Queue limits) {
        return limits.perKey().isEmpty()
                ? Integer.MAX_VALUE
                : limits.perKey().getAsInt()
                        - (int) placed(queue)
                                .filter(row -> keyOf(row).equals(key))
                                .count();
    }

    private int heldBy(Poll request, String queue) {
        return (int)
                ofQueue(queue).filter(row -> request.worker().equals(row.owner)).count();
    }

    private Stream<Row> ofQueue(String queue) {
        return tables.byKey.values().stream().filter(row -> row.start.queue().equals(queue));
    }

    private Stream<Row> placed(String queue) {
        return ofQueue(queue).filter(row -> row.placed);
    }

    /** A run that runs without a place began before its queue had limits. It counts all the same. */
    private void forgetPlaces(String queue, Queue limits) {
        boolean begun = limits.counting() == Queue.Counting.BEGUN;
        ofQueue(queue)
                .forEach(row -> row.placed = switch (row.state) {
                    case RUNNING -> true;
                    case READY, SUSPENDED, BACKING_OFF -> begun && row.placed;
                    case PENDING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
                });
    }

    /** A poll has taken this run. */
    void took(Row row) {
        row.placed = true;
        entry(row.start.queue()).took(row, tables.now());
    }

    // ---- what there is

    /** Why no worker has taken a ready run; empty if it only waits for a worker. */
    Optional<String> whyReady(Row row) {
        String queue = row.start.queue();
        Entry entry = queues.get(queue);
        if (entry != null && entry.paused != null) {
            return Optional.of("The queue '%s' is paused: %s".formatted(queue, entry.paused));
        }
        if (tables.workers.values().stream().noneMatch(worker -> worker.serves(queue))) {
            return Optional.of("No live worker takes runs from the queue '%s'.".formatted(queue));
        }
        if (entry == null) {
            return Optional.empty();
        }
        Queue limits = entry.limits();
        forgetPlaces(queue, limits);
        if (row.placed) {
            return Optional.empty();
        }
        String key = row.start.queueKey();
        if (key != null && limits.perKey().isPresent()) {
            List<Row> holders =
                    placed(queue).filter(other -> keyOf(other).equals(key)).toList();
            if (holders.size() >= limits.perKey().getAsInt()) {
                return Optional.of("The key '%s' of the queue '%s' is full: %s"
                        .formatted(key, queue, taken(holders, limits.perKey().getAsInt())));
            }
        }
        Optional<String> rate = whyRate(row, entry, limits);
        if (rate.isPresent()) {
            return rate;
        }
        List<Row> holders = placed(queue).toList();
        if (limits.concurrency().isPresent()
                && holders.size() >= limits.concurrency().getAsInt()) {
            return Optional.of("The queue '%s' is full: %s"
                    .formatted(queue, taken(holders, limits.concurrency().getAsInt())));
        }
        return limits.perWorker().isPresent()
                        && isEveryWorkerFull(queue, limits.perWorker().getAsInt())
                ? Optional.of("Every worker of the queue '%s' is at its limit of %d."
                        .formatted(queue, limits.perWorker().getAsInt()))
                : Optional.empty();
    }

    private boolean isEveryWorkerFull(String queue, int perWorker) {
        return tables.workers.entrySet().stream()
                .filter(worker -> worker.getValue().serves(queue))
                .allMatch(worker -> ofQueue(queue)
                                .filter(row -> worker.getKey().equals(row.owner))
                                .count()
                        >= perWorker);
    }

    private Optional<String> whyRate(Row row, Entry entry, Queue limits) {
        if (row.epoch > 0) {
            return Optional.empty();
        }
        String key = row.start.queueKey();
        Optional<Instant> ofKey = key == null
                ? Optional.empty()
                : limits.appliedRatePerKey()
                        .flatMap(rate -> free(rate, entry, each -> each.key().equals(key)));
        Optional<Instant> ofQueue = limits.appliedRate().flatMap(rate -> free(rate, entry, each -> true));
        return ofKey.map(at -> "The rate of the key '%s' of the queue '%s' allows no more before %s."
                        .formatted(key, row.start.queue(), at))
                .or(() -> ofQueue.map(
                        at -> "The rate of the queue '%s' allows no more before %s.".formatted(row.start.queue(), at)));
    }

    /** When the rate allows more, if it allows nothing now. */
    private Optional<Instant> free(Queue.Rate rate, Entry entry, Predicate<Begun> which) {
        return unitsOf(entry.begun.stream().filter(which), rate) < rate.most()
                ? Optional.empty()
                : entry.begun.stream()
                        .filter(which)
                        .filter(each -> each.counts(rate, tables.now()))
                        .map(each -> each.at().plus(rate.period()))
                        .min(Comparator.naturalOrder());
    }

    private static String taken(List<Row> holders, int places) {
        String first = holders.stream()
                .sorted(Comparator.comparing((Row row) -> row.createdAt).thenComparing(row -> row.ref.id()))
                .limit(NAMED)
                .map(row -> "'" + row.ref.id() + "'")
                .collect(Collectors.joining(", "));
        String more = holders.size() > NAMED ? " and %d more".formatted(holders.size() - NAMED) : "";
        return "%d of %d places are taken, by %s%s.".formatted(holders.size(), places, first, more);
    }

    @Override
    public List<QueueInfo> list() {
        return tables.inTransaction(
                () -> queues.keySet().stream().map(this::info).toList());
    }

    @Override
    public Optional<QueueInfo> find(String queue) {
        return tables.inTransaction(() -> queues.containsKey(queue) ? Optional.of(info(queue)) : Optional.empty());
    }

    private QueueInfo info(String name) {
        Entry entry = entry(name);
        long lastMinute = entry.servedBefore(tables.now().truncatedTo(ChronoUnit.MINUTES));
        return new QueueInfo(
                entry.declared,
                entry.changed,
                Optional.ofNullable(entry.paused),
                load(ofQueue(name).toList(), lastMinute));
    }

    private static QueueInfo.Load load(List<Row> rows, long lastMinute) {
        List<Row> waiting =
                rows.stream().filter(row -> row.state == RunState.READY).toList();
        return new QueueInfo.Load(
                waiting.size(),
                waiting.stream().map(row -> row.changedAt).min(Comparator.naturalOrder()),
                rows.stream().filter(MemoryQueues::hasBegun).count(),
                rows.stream().filter(row -> row.state == RunState.RUNNING).count(),
                lastMinute);
    }

    private static boolean hasBegun(Row row) {
        return switch (row.state) {
            case RUNNING -> true;
            case READY, SUSPENDED, BACKING_OFF -> row.placed;
            case PENDING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
    }

    @Override
    public List<QueueInfo.Key> keys(String queue, int most) {
        return tables.inTransaction(() -> {
            Map<String, List<Row>> rows = new LinkedHashMap<>();
            ofQueue(queue)
                    .filter(row -> row.state == RunState.READY || hasBegun(row))
                    .forEach(row -> rows.computeIfAbsent(keyOf(row), unseen -> new ArrayList<>())
                            .add(row));
            return rows.entrySet().stream()
                    .map(each -> new QueueInfo.Key(each.getKey(), load(each.getValue(), 0)))
                    .sorted(Comparator.comparingLong(
                                    (QueueInfo.Key key) -> -key.load().waiting())
                            .thenComparing(QueueInfo.Key::key))
                    .limit(most)
                    .toList();
        });
    }
}
