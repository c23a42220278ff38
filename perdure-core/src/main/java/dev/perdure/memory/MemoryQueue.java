package dev.perdure.memory;

import dev.perdure.queue.Queue;
import dev.perdure.spi.shard.WholeLimits;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One queue: its limits, the turns of its keys, and the runs that count for its rates. */
final class MemoryQueue {
    /** The length of one turn, in the time of turns. */
    private static final long A_TURN = 1_000_000;

    private final Tables tables;

    Queue declared;
    Queue changed;

    @Nullable
    String paused;

    private long turn;
    /** The turn in which each key was last served. */
    private final Map<String, Long> served = new HashMap<>();

    /** The time of turns, which passes as keys are served, and at which of these times the next turn of each key is. */
    private long virtualTime;

    private final Map<String, Long> nextTurn = new HashMap<>();
    private long claimedAt;

    private final Taken taken = new Taken();
    private final Map<String, Taken> takenOfKeys = new HashMap<>();

    /** What has begun and counts for the rate of the queue, or for that of each key. */
    private final MemoryRate begun = new MemoryRate();

    private final Map<String, MemoryRate> begunOfKeys = new HashMap<>();

    /** How many runs were taken, by the minute. */
    private static final class Taken {
        private Instant minute = Instant.EPOCH;
        private long thisMinute;
        private long minuteBefore;

        void another(Instant now) {
            Instant current = now.truncatedTo(ChronoUnit.MINUTES);
            if (!current.equals(minute)) {
                minuteBefore = before(current);
                thisMinute = 0;
                minute = current;
            }
            thisMinute++;
        }

        long inLastMinute(Instant now) {
            return before(now.truncatedTo(ChronoUnit.MINUTES));
        }

        private long before(Instant current) {
            if (current.equals(minute)) {
                return minuteBefore;
            }
            return current.minus(1, ChronoUnit.MINUTES).equals(minute) ? thisMinute : 0;
        }
    }

    MemoryQueue(String name, Tables tables) {
        this.tables = tables;
        this.declared = Queue.of(name, Map.of());
        this.changed = Queue.of(name, Map.of());
    }

    static String keyOf(Row row) {
        return Objects.requireNonNullElse(row.start.queueKey(), "");
    }

    Queue limits() {
        return WholeLimits.of(declared.with(changed));
    }

    /** Whether its runs begin only by a poll. */
    boolean isLimited() {
        return paused != null || limits().hasLimits();
    }

    // ---- turns of keys

    /** A claim begins. Turns that it gives count from now. */
    void beginClaim() {
        claimedAt = virtualTime;
        forget();
    }

    /** Forgets what no rate counts any more. A rate that is set afterwards counts what is left. */
    void forget() {
        Instant now = tables.now();
        limits().rateWindows().ifPresent(windows -> begun.forget(windows, now));
        limits().rateWindowsPerKey()
                .ifPresent(windows -> begunOfKeys.values().removeIf(ofKey -> ofKey.forget(windows, now)));
    }

    /** When a key has a turn, as the present claim sees it: a key that had nothing waiting has saved no turns. */
    long turnOf(String key, int nth) {
        return nextTurnOf(key) + nth * stepOf(key);
    }

    /** The turn in which the key was last served. */
    long lastServed(String key) {
        return served.getOrDefault(key, 0L);
    }

    private long nextTurnOf(String key) {
        return Math.max(nextTurn.getOrDefault(key, 0L), claimedAt);
    }

    private long stepOf(String key) {
        return A_TURN / limits().turns(key);
    }

    /**
     * A poll has taken this run.
     *
     * @param isNew whether it begins for the first time
     */
    void took(Row row, boolean isNew) {
        Instant now = tables.now();
        String key = keyOf(row);
        long at = nextTurnOf(key);
        nextTurn.put(key, at + stepOf(key));
        virtualTime = Math.max(virtualTime, at);
        served.put(key, ++turn);
        if (isNew && !row.takesNoPlace()) {
            charge(key, row.weight(), now);
        }
        taken.another(now);
        takenOfKeys.computeIfAbsent(key, unseen -> new Taken()).another(now);
    }

    private void charge(String key, int units, Instant now) {
        limits().rateWindows().ifPresent(windows -> begun.charge(windows, units, now));
        if (!key.isEmpty()) {
            limits().rateWindowsPerKey().ifPresent(windows -> ofKey(key).charge(windows, units, now));
        }
    }

    /** How many runs were taken in the last full minute. */
    long takenInLastMinute() {
        return taken.inLastMinute(tables.now());
    }

    /** The same for a key. */
    long takenInLastMinute(String key) {
        Taken ofKey = takenOfKeys.get(key);
        return ofKey == null ? 0 : ofKey.inLastMinute(tables.now());
    }

    // ---- rates

    /**
     * As many runs as the rate of the queue allows, in their order, and those that go on. Lighter runs do not overtake a
     * heavy one.
     */
    List<Row> withinRate(List<Row> rows) {
        return limits().rateWindows()
                .map(windows -> within(begun.room(windows, tables.now()), rows))
                .orElse(rows);
    }

    /** The runs that the rates of their keys allow. */
    List<Row> withinKeyRates(List<Row> ready) {
        Optional<Queue.Windows> windows = limits().rateWindowsPerKey();
        if (windows.isEmpty()) {
            return ready;
        }
        Map<String, List<Row>> byKey = ready.stream().collect(Collectors.groupingBy(MemoryQueue::keyOf));
        Set<Row> allowed = new HashSet<>();
        byKey.forEach((key, rows) ->
                allowed.addAll(key.isEmpty() ? rows : within(ofKey(key).room(windows.get(), tables.now()), rows)));
        return ready.stream().filter(allowed::contains).toList();
    }

    private static List<Row> within(MemoryRate.Room room, List<Row> rows) {
        return rows.stream()
                .filter(row -> !row.isNew() || row.takesNoPlace() || room.takes(row.weight()))
                .toList();
    }

    private MemoryRate ofKey(String key) {
        return begunOfKeys.computeIfAbsent(key, unseen -> new MemoryRate());
    }

    /** When its rates allow more. */
    Stream<Instant> freeTimes() {
        Instant now = tables.now();
        return Stream.concat(
                limits().rateWindows().stream().flatMap(windows -> begun.freeTimes(windows, now)),
                limits().rateWindowsPerKey().stream()
                        .flatMap(windows ->
                                begunOfKeys.values().stream().flatMap(ofKey -> ofKey.freeTimes(windows, now))));
    }

    /** When the rate of the queue allows more, if it allows nothing now. */
    Optional<Instant> rateFree() {
        return limits().rateWindows().flatMap(windows -> begun.freeAt(windows, tables.now()));
    }

    /** The same for the rate of a key. */
    Optional<Instant> keyRateFree(String key) {
        return limits().rateWindowsPerKey().flatMap(windows -> ofKey(key).freeAt(windows, tables.now()));
    }
}
