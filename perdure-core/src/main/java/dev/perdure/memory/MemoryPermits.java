package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Places;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The limiters of steps, and which attempts hold their permits.
 *
 * <p>How it works: a limiter has a list of attempts, those that hold a permit and those that wait. Whether one still
 * does is read from its run whenever permits are counted ({@link #holds}, {@link #isOver}), so no change of a run has
 * to give a permit back.
 */
final class MemoryPermits implements Permits {
    /** How many of the runs that hold permits are named. */
    private static final int NAMED = 3;

    private final Tables tables;
    private final Map<String, Line> lines = new TreeMap<>();

    /** A limiter with its attempts. */
    private static final class Line {
        private Limiter declared;
        private Limiter changed;
        private @Nullable String paused;
        private final List<Place> holders = new ArrayList<>();
        /** In the order of their turns. */
        private final List<Place> waiting = new ArrayList<>();

        private final MemoryRate begun = new MemoryRate();

        private Line(String name) {
            this.declared = Limiter.named(name);
            this.changed = Limiter.named(name);
        }

        private Limiter limits() {
            return declared.with(changed);
        }
    }

    /** An attempt that holds a permit or waits for one. */
    private static final class Place {
        private final Row row;
        private final int position;
        private final int attempt;
        private final int restarts;
        private final Instant since;
        private long epoch;
        /** When its turn came. */
        private @Nullable Instant called;
        /** Whether it is passed over until it asks again. */
        private boolean passed;

        private Place(Row row, Request request, Instant since) {
            this.row = row;
            this.position = request.position();
            this.attempt = request.attempt();
            this.restarts = row.restarts;
            this.since = since;
        }

        private boolean isOf(Request request) {
            return row.ref.equals(request.run()) && position == request.position();
        }

        private boolean isSameAttempt(Request request) {
            return attempt == request.attempt() && restarts == row.restarts;
        }
    }

    MemoryPermits(Tables tables) {
        this.tables = tables;
    }

    // ---- which attempts hold permits

    /** Whether the attempt has been recorded, or will never be made. */
    private static boolean isOver(Place place) {
        return place.row.state.isTerminal()
                || place.row.restarts != place.restarts
                || place.row.journal.containsKey(new Row.Place(place.position, Entry.ANSWER))
                || place.row.journal.containsKey(new Row.Place(place.position, place.attempt));
    }

    private static boolean holds(Place place) {
        return place.row.state == RunState.RUNNING && place.row.epoch == place.epoch && !isOver(place);
    }

    private void forget(Line line) {
        line.holders.removeIf(place -> !holds(place));
        line.waiting.removeIf(MemoryPermits::isOver);
        Instant now = tables.now();
        line.limits().rateWindows().ifPresent(windows -> line.begun.forget(windows, now));
    }

    private long free(Line line) {
        if (line.paused != null) {
            return 0;
        }
        long places = line.limits().concurrency().orElse(Limiter.UNLIMITED) - (long) line.holders.size();
        long units = line.limits()
                .rateWindows()
                .map(windows -> line.begun.room(windows, tables.now()).left())
                .orElse((long) Limiter.UNLIMITED);
        return Math.min(places, units);
    }

    // ---- taking

    @Override
    public List<Answer> take(WorkerId worker, List<Request> requests) {
        return tables.inTransaction(
                () -> requests.stream().map(request -> take(worker, request)).toList());
    }

    private Answer take(WorkerId worker, Request request) {
        Line line = lines.get(request.limiter());
        if (line == null) {
            return Answer.UNKNOWN;
        }
        Row row = tables.byKey.get(request.run().key());
        if (row == null || !row.isHeldBy(worker, request.epoch()) || !tables.workers.containsKey(worker)) {
            return Answer.WAITS;
        }
        forget(line);
        if (line.holders.stream().anyMatch(place -> place.isOf(request) && place.isSameAttempt(request))) {
            return Answer.HELD;
        }
        Place place = line.waiting.stream()
                .filter(each -> each.isOf(request) && each.isSameAttempt(request))
                .findFirst()
                .orElse(null);
        if (place == null) {
            line.waiting.removeIf(each -> each.isOf(request));
            place = new Place(row, request, tables.now());
            line.waiting.add(place);
        }
        place.passed = false;
        place.called = null;
        place.epoch = request.epoch();
        if (turns(line).contains(place)) {
            line.waiting.remove(place);
            line.holders.add(place);
            line.limits().rateWindows().ifPresent(windows -> line.begun.charge(windows, 1, tables.now()));
            return Answer.HELD;
        }
        if (line.limits().rateWindows().isPresent()) {
            tables.hint(new Hints.WorkReady()); // so that a poll says when the rate allows more
        }
        return Answer.WAITS;
    }

    /** The attempts whose turn it is. Passes over attempts that may no longer wait. */
    private List<Place> turns(Line line) {
        List<Place> turns = new ArrayList<>();
        long free = free(line);
        for (Place place : line.waiting) {
            if (turns.size() >= free) {
                break;
            }
            place.passed |= place.called == null ? !waits(line, place) : isLate(line, place);
            if (!place.passed) {
                turns.add(place);
            }
        }
        return turns;
    }

    /** Whether the run is about to ask, or can be woken. */
    private static boolean waits(Line line, Place place) {
        return switch (place.row.state) {
            case READY, RUNNING -> true;
            case SUSPENDED -> place.row.limiters.contains(line.declared.name());
            case PENDING, BACKING_OFF, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
    }

    private boolean isLate(Line line, Place place) {
        return !waits(line, place) || (isOverdue(place) && place.row.state != RunState.SUSPENDED);
    }

    private boolean isOverdue(Place place) {
        return !Objects.requireNonNull(place.called).plus(GRACE).isAfter(tables.now());
    }

    @Override
    public void next(Set<String> limiters) {
        tables.inTransaction(() -> {
            limiters.stream().map(lines::get).filter(Objects::nonNull).forEach(this::call);
            return true;
        });
    }

    /** Lets runs go on whose turn it is at any limiter. */
    void callAll() {
        lines.values().forEach(this::call);
    }

    private void call(Line line) {
        forget(line);
        for (Place place : turns(line)) {
            if (place.called == null || isOverdue(place)) {
                place.called = tables.now();
                wake(place.row);
            }
        }
    }

    private void wake(Row row) {
        if (row.state == RunState.SUSPENDED) {
            tables.change(row, RunState.READY, null);
        } else if (row.owner != null) {
            Control asked = row.control;
            row.control = new Control(asked.wakes() + 1, asked.mails(), asked.cancel(), asked.kill(), asked.pause());
            tables.hint(new Hints.WorkerSignalled(row.owner));
        }
    }

    /** When a rate next allows more, or a permit is no longer kept free, if attempts wait for that. */
    Optional<Instant> nextFree() {
        return lines.values().stream().flatMap(this::ends).min(Comparator.naturalOrder());
    }

    private Stream<Instant> ends(Line line) {
        forget(line);
        Stream<Instant> units = line.waiting.stream().allMatch(place -> place.passed)
                ? Stream.empty()
                : line.limits().rateWindows().stream().flatMap(windows -> line.begun.freeTimes(windows, tables.now()));
        Stream<Instant> late = line.waiting.size() < 2
                ? Stream.empty()
                : line.waiting.stream()
                        .filter(place -> !place.passed)
                        .map(place -> place.called)
                        .filter(Objects::nonNull)
                        .map(called -> called.plus(GRACE));
        return Stream.concat(units, late);
    }

    // ---- what operators do

    private Line line(String name) {
        return lines.computeIfAbsent(name, Line::new);
    }

    @Override
    public void declare(Collection<Limiter> declared) {
        tables.inTransaction(() -> {
            declared.forEach(limiter -> {
                Line line = line(limiter.name());
                forget(line);
                line.declared = limiter;
            });
            tables.hint(new Hints.WorkReady());
            return true;
        });
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        return tables.inTransaction(() -> {
            Line line = lines.get(order.limiter());
            if (line == null) {
                return false;
            }
            forget(line);
            Limiter changed = line.changed;
            String paused = line.paused;
            switch (order) {
                case Order.Limit limit -> line.changed = line.changed.with(limit.changes());
                case Order.Pause pause -> line.paused = pause.reason();
                case Order.Resume resume -> line.paused = null;
                case Order.Reset reset ->
                    line.changed = Limiter.of(reset.limiter(), Places.kept(line.changed.settings()));
            }
            boolean same = line.changed.settings().equals(changed.settings()) && Objects.equals(line.paused, paused);
            tables.audits.add(same ? null : audit);
            tables.hint(new Hints.WorkReady());
            return true;
        });
    }

    // ---- what this store has of the limits of several shards

    /** Declares a limiter of which this store has not heard; says whether that is so. */
    boolean open(String name, Map<String, String> declared) {
        if (lines.containsKey(name)) {
            return false;
        }
        line(name).declared = Limiter.of(name, declared);
        return true;
    }

    /** Replaces the share, or removes it. */
    void share(String name, @Nullable Map<String, String> settings) {
        Line line = line(name);
        Map<String, String> changed = new HashMap<>(line.changed.settings());
        changed.keySet().removeAll(Places.kept(changed).keySet());
        changed.putAll(settings == null ? Map.of() : settings);
        line.changed = Limiter.of(name, changed);
        tables.hint(new Hints.WorkReady());
    }

    /** How many attempts may hold a permit by the settings. */
    int limited(String name) {
        Line line = lines.get(name);
        return line == null ? 0 : line.limits().concurrency().orElse(Limiter.UNLIMITED);
    }

    /** How many attempts hold a permit. */
    int given(String name) {
        Line line = line(name);
        forget(line);
        return line.holders.size();
    }

    /** How many attempts wait for one. */
    int waiting(String name) {
        Line line = line(name);
        forget(line);
        return line.paused != null
                ? 0
                : (int) line.waiting.stream().filter(place -> !place.passed).count();
    }

    // ---- what there is

    @Override
    public List<LimiterInfo> list() {
        return tables.inTransaction(
                () -> lines.values().stream().map(this::info).toList());
    }

    @Override
    public Optional<LimiterInfo> find(String limiter) {
        return tables.inTransaction(
                () -> Optional.ofNullable(lines.get(limiter)).map(this::info));
    }

    private LimiterInfo info(Line line) {
        forget(line);
        return new LimiterInfo(
                line.declared,
                line.changed,
                Optional.ofNullable(line.paused),
                line.waiting.size(),
                line.waiting.stream().map(place -> place.since).min(Comparator.naturalOrder()),
                line.holders.size());
    }

    /** Why a run that waits for permits has not gone on. */
    Optional<String> why(Row row) {
        return row.limiters.stream()
                .sorted()
                .map(lines::get)
                .filter(Objects::nonNull)
                .findFirst()
                .flatMap(this::why);
    }

    private Optional<String> why(Line line) {
        forget(line);
        String name = line.declared.name();
        if (line.paused != null) {
            return Optional.of("The limiter '%s' is paused: %s".formatted(name, line.paused));
        }
        int permits = line.limits().concurrency().orElse(Limiter.UNLIMITED);
        if (line.holders.size() >= permits) {
            if (line.holders.isEmpty()) {
                return Optional.of(
                        "The limiter '%s' is full: 0 of %s permits are held on this shard.".formatted(name, permits));
            }
            List<RunRef> holders =
                    line.holders.stream().map(place -> place.row.ref).toList();
            String first = holders.stream()
                    .limit(NAMED)
                    .map(run -> "'" + run.id() + "'")
                    .collect(Collectors.joining(", "));
            String more = holders.size() > NAMED ? " and %s more".formatted(holders.size() - NAMED) : "";
            return Optional.of("The limiter '%s' is full: %s of %s permits are held, by %s%s."
                    .formatted(name, holders.size(), permits, first, more));
        }
        return line.limits()
                .rateWindows()
                .flatMap(windows -> line.begun.freeAt(windows, tables.now()))
                .map(at -> "The rate of the limiter '%s' allows no more before %s.".formatted(name, at));
    }
}
