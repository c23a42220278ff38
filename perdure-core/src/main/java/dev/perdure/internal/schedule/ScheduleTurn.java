package dev.perdure.internal.schedule;

import dev.perdure.RunState;
import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleState.Backfill;
import dev.perdure.internal.schedule.ScheduleState.Past;
import dev.perdure.internal.schedule.ScheduleState.Progress;
import dev.perdure.internal.schedule.ScheduleState.Results;
import dev.perdure.internal.schedule.ScheduleState.Skip;
import dev.perdure.internal.schedule.ScheduleState.Work;
import dev.perdure.schedule.Overlap;
import dev.perdure.spi.change.EndReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule decides when it wakes: from what it knows, what time it is and what it was told, to what it knows then and
 * what it starts and cancels. Touches nothing else; the run of the schedule records the result and carries it out in one
 * transition.
 *
 * <p>How it works. First the ends of runs. Then what it was asked to do, in order, each after the fire times that had come when
 * it arrived; then the fire times since, then what waits, then backfills. A turn starts a limited number of runs; if more are to be started, the next turn follows at once.
 */
final class ScheduleTurn {
    private static final int MOST_STARTS = 100;
    private static final int UPCOMING = 5;
    private static final int RECENT = 10;
    private static final int MOST_RUNNING = 100;
    private static final int MOST_WAITING = 1_000;

    private final String name;
    private final FireTimes times;
    private final Instant now;
    private final List<Start> starts = new ArrayList<>();
    private final List<Cancel> cancels = new ArrayList<>();

    private @Nullable ScheduleSpec declared;
    private @Nullable ScheduleSpec changed;
    private @Nullable String paused;
    private Instant since;
    private Instant decided;
    private @Nullable Instant lastFired;
    private long fired;
    private final long mails;
    private boolean busy;
    private Instant lastEnd;
    private final List<Instant> upcoming;
    private final List<String> running;
    private final List<Instant> waiting;
    private final List<Backfill> backfills;
    private final List<Past> recent;
    private int failures;
    private @Nullable Instant lastSuccess;
    private @Nullable Skip lastSkip;

    /**
     * A run to be started.
     *
     * @param run its id
     * @param time for which time
     * @param previous the time before that got a run, or null
     * @param what what to run
     */
    record Start(String run, Instant time, @Nullable Instant previous, ScheduleSpec.Target what) {}

    /** A run to be cancelled. */
    record Cancel(String run, String reason) {}

    /**
     * What is new.
     *
     * @param now what time it is
     * @param reports the runs that have ended
     * @param commands what the schedule was asked to do
     * @param mails the number of the last mail
     */
    record News(Instant now, List<EndReport> reports, List<Told> commands, long mails) {}

    /** What the schedule was asked to do, and when that arrived. */
    record Told(ScheduleCommand command, Instant at) {}

    /**
     * What was decided.
     *
     * @param state what the schedule knows now
     * @param starts what it starts
     * @param cancels what it cancels
     */
    record Decision(ScheduleState state, List<Start> starts, List<Cancel> cancels) {}

    private ScheduleTurn(String name, FireTimes times, ScheduleState state, News news) {
        this.name = name;
        this.times = times;
        this.now = news.now();
        this.mails = news.mails();
        this.declared = state.declared();
        this.changed = state.changed();
        this.paused = state.paused();
        this.since = state.progress().since();
        this.decided = state.progress().decided();
        this.lastFired = state.progress().lastFired();
        this.upcoming = new ArrayList<>(state.progress().upcoming());
        this.fired = state.progress().fired();
        this.running = new ArrayList<>(state.work().running());
        this.waiting = new ArrayList<>(state.work().waiting());
        this.backfills = new ArrayList<>(state.work().backfills());
        this.lastEnd = state.work().lastEnd();
        this.recent = new ArrayList<>(state.results().recent());
        this.failures = state.results().failures();
        this.lastSuccess = state.results().lastSuccess();
        this.lastSkip = state.results().lastSkip();
    }

    /** Decides. */
    static Decision decide(String name, FireTimes times, ScheduleState state, News news) {
        ScheduleTurn turn = new ScheduleTurn(name, times, state, news);
        news.reports().forEach(turn::ended);
        news.commands().forEach(turn::obeyInTime);
        ScheduleSpec spec = turn.spec();
        if (spec != null) {
            turn.pauseIfFailing(spec);
            turn.fireDue(spec, turn.now);
            turn.startWaiting(spec);
            turn.backfill(spec);
            turn.lookAhead(spec);
        }
        return turn.decision();
    }

    private @Nullable ScheduleSpec spec() {
        return changed == null ? declared : changed;
    }

    private Decision decision() {
        ScheduleState state = new ScheduleState(
                declared,
                changed,
                paused,
                new Progress(since, decided, lastFired, List.copyOf(upcoming), due(), fired, busy, mails),
                new Work(List.copyOf(running), List.copyOf(waiting), List.copyOf(backfills), lastEnd),
                new Results(List.copyOf(recent), failures, lastSuccess, lastSkip));
        return new Decision(state, starts, cancels);
    }

    private @Nullable Instant due() {
        ScheduleSpec spec = spec();
        return spec == null || upcoming.isEmpty() ? null : upcoming.getFirst().plus(FireTimes.jitter(name, spec));
    }

    // ---- ends

    private void ended(EndReport report) {
        String run = report.run().value();
        if (!running.remove(run)) {
            return; // a schedule that was deleted since, or one more of those than it counts
        }
        lastEnd = now;
        RunState state = report.state();
        recent.replaceAll(past -> past.run().equals(run) ? new Past(run, past.time(), state) : past);
        if (state == RunState.COMPLETED) {
            failures = 0;
            lastSuccess = now;
        } else if (state == RunState.FAILED) {
            failures++;
        }
    }

    private void pauseIfFailing(ScheduleSpec spec) {
        int most = spec.policies().pauseAfter();
        if (most == 0 || failures < most || paused != null) {
            return;
        }
        paused = "Paused by itself after %d failures one after another. Mend the cause, then resume the schedule."
                .formatted(failures);
        ScheduleSpec.Target reaction = spec.policies().reaction();
        if (reaction != null) {
            starts.add(new Start(name + "!paused-" + now, now, lastFired, reaction));
        }
    }

    // ---- commands

    private void obeyInTime(Told told) {
        Instant at = told.at().isAfter(now) ? now : told.at();
        ScheduleSpec spec = spec();
        if (spec != null) {
            fireDue(spec, at);
        }
        obey(told.command(), at);
    }

    private void obey(ScheduleCommand command, Instant at) {
        switch (command.kind()) {
            case DECLARE -> declare(Objects.requireNonNull(command.spec()), at);
            case PUT -> put(Objects.requireNonNull(command.spec()), at);
            case RESET -> {
                if (declared != null) {
                    changed = null;
                    timesChanged(at);
                }
            }
            case DELETE -> delete();
            case PAUSE -> paused = Objects.requireNonNullElse(command.note(), "");
            case RESUME -> resume(at);
            case TRIGGER -> trigger(Objects.requireNonNull(command.run()));
            case BACKFILL -> {
                ScheduleCommand.Range range = Objects.requireNonNull(command.range());
                backfills.add(new Backfill(range.from().minusNanos(1), null, range.to(), range.overlap()));
            }
            case SKIP_NEXT -> skipNext();
        }
    }

    /** What fell into the pause is skipped. */
    private void resume(Instant at) {
        if (paused != null) {
            paused = null;
            failures = 0;
            timesChanged(at);
        }
    }

    private void declare(ScheduleSpec spec, Instant at) {
        boolean isNew = spec() == null;
        if (!spec.equals(declared)) {
            declared = spec;
            if (changed == null) {
                timesChanged(at);
            }
        }
        if (isNew) {
            begin(at);
        }
    }

    /** A change of what the code declares is kept apart from it. */
    private void put(ScheduleSpec spec, Instant at) {
        boolean isNew = spec() == null;
        if (!spec.equals(spec())) {
            changed = spec;
            timesChanged(at);
        }
        if (isNew) {
            begin(at);
        }
    }

    private void begin(Instant at) {
        since = at;
        decided = at;
        lastEnd = at;
        paused = null;
        upcoming.clear();
    }

    /** What is before was decided by the old times. */
    private void timesChanged(Instant at) {
        decided = decided.isBefore(at) ? at : decided;
        upcoming.clear();
    }

    private void delete() {
        declared = null;
        changed = null;
        paused = null;
        upcoming.clear();
        running.clear();
        waiting.clear();
        backfills.clear();
        recent.clear();
        busy = false;
        fired = 0;
        failures = 0;
        lastFired = null;
        lastSuccess = null;
        lastSkip = null;
    }

    private void trigger(String run) {
        ScheduleSpec spec = spec();
        if (spec != null) {
            start(run, now, lastFired, spec);
        }
    }

    private void skipNext() {
        ScheduleSpec spec = spec();
        if (spec != null) {
            next(spec, decided).ifPresent(time -> {
                skip(time, "It was to be skipped.");
                decided = time;
                upcoming.remove(time);
            });
        }
    }

    // ---- firing

    private Optional<Instant> next(ScheduleSpec spec, Instant after) {
        return times.next(spec, after, basis());
    }

    private FireTimes.Basis basis() {
        return new FireTimes.Basis(since, running.isEmpty() && waiting.isEmpty() ? lastEnd : null);
    }

    /** Decides about the fire times until then. How late they are counts from now. */
    private void fireDue(ScheduleSpec spec, Instant until) {
        busy = false;
        Instant horizon = until.minus(FireTimes.jitter(name, spec));
        Optional<Instant> first = next(spec, decided).filter(time -> !time.isAfter(horizon));
        if (first.isEmpty()) {
            return;
        }
        if (paused != null) {
            skip(first.get(), "The schedule is paused: " + paused);
            decided = horizon;
            return;
        }
        switch (spec.policies().catchUp()) {
            case NONE -> fireLast(spec, first.get(), horizon, spec.policies().within());
            case LAST -> fireLast(spec, first.get(), horizon, null);
            case ALL -> fireAll(spec, first.get(), horizon);
        }
    }

    private void fireLast(ScheduleSpec spec, Instant first, Instant horizon, @Nullable Duration within) {
        Instant last = times.last(spec, decided, horizon, basis()).orElse(first);
        if (last.isAfter(first)) {
            skip(first, "No worker fired it in time, and a later fire time had come.");
        }
        decided = last;
        if (within != null && last.isBefore(oldest(spec, within))) {
            skip(last, "No worker fired it within %s.".formatted(within));
        } else {
            fire(spec, last);
        }
    }

    private void fireAll(ScheduleSpec spec, Instant first, Instant horizon) {
        Instant oldest = oldest(spec, Objects.requireNonNull(spec.policies().within()));
        Optional<Instant> next = Optional.of(first);
        if (first.isBefore(oldest)) {
            skip(
                    first,
                    "No worker fired it within %s.".formatted(spec.policies().within()));
            decided = oldest.minusNanos(1);
            next = next(spec, decided);
        }
        while (next.isPresent() && !next.get().isAfter(horizon)) {
            if (starts.size() >= MOST_STARTS) {
                busy = true;
                return;
            }
            decided = next.get();
            fire(spec, decided);
            next = next(spec, decided);
        }
    }

    private Instant oldest(ScheduleSpec spec, Duration within) {
        return now.minus(FireTimes.jitter(name, spec)).minus(within);
    }

    private boolean isOver(ScheduleSpec spec) {
        int limit = spec.bounds().limit();
        return limit > 0 && fired + waiting.size() >= limit;
    }

    private void fire(ScheduleSpec spec, Instant time) {
        if (isOver(spec)) {
            return;
        }
        String other = running.isEmpty() ? null : running.getFirst();
        switch (spec.policies().overlap()) {
            case ALLOW -> startScheduled(spec, time);
            case SKIP -> {
                if (other == null) {
                    startScheduled(spec, time);
                } else {
                    skip(time, "Run '%s' had not ended.".formatted(other));
                }
            }
            case WAIT -> {
                if (waiting.isEmpty()) {
                    waiting.add(time);
                } else {
                    skip(time, "Run '%s' had not ended, and another fire time waited for that.".formatted(other));
                }
            }
            case WAIT_ALL -> {
                if (waiting.size() < MOST_WAITING) {
                    waiting.add(time);
                } else {
                    skip(time, "Run '%s' had not ended, and %d fire times waited.".formatted(other, MOST_WAITING));
                }
            }
            case CANCEL -> {
                waiting.forEach(earlier -> skip(earlier, "The next fire time came before it could begin."));
                waiting.clear();
                waiting.add(time);
                cancelRunning(time);
            }
        }
        startWaiting(spec);
    }

    private void cancelRunning(Instant time) {
        running.forEach(run -> cancels.add(new Cancel(run, "The schedule '%s' fires for %s.".formatted(name, time))));
    }

    private void startWaiting(ScheduleSpec spec) {
        if (running.isEmpty() && !waiting.isEmpty() && paused == null) {
            startScheduled(spec, waiting.removeFirst());
        }
    }

    private void startScheduled(ScheduleSpec spec, Instant time) {
        start(ScheduleNames.fired(name, time).value(), time, lastFired, spec);
        fired++;
        lastFired = time;
    }

    private void start(String run, Instant time, @Nullable Instant previous, ScheduleSpec spec) {
        starts.add(new Start(run, time, previous, spec.what()));
        running.add(run);
        if (running.size() > MOST_RUNNING) {
            running.removeFirst();
        }
        recent.add(new Past(run, time, null));
        if (recent.size() > RECENT) {
            recent.removeFirst();
        }
    }

    private void skip(Instant time, String reason) {
        lastSkip = new Skip(time, reason);
    }

    // ---- backfills

    private void backfill(ScheduleSpec spec) {
        while (!backfills.isEmpty()) {
            Backfill backfill = backfills.getFirst();
            Optional<Instant> time = backfilled(spec, backfill);
            if (time.isEmpty()) {
                backfills.removeFirst();
                continue;
            }
            if (starts.size() >= MOST_STARTS) {
                busy = true;
                return;
            }
            if (!running.isEmpty() && backfill.overlap() != Overlap.ALLOW && backfill.overlap() != Overlap.SKIP) {
                if (backfill.overlap() == Overlap.CANCEL && cancels.isEmpty()) {
                    cancelRunning(time.get());
                }
                return;
            }
            backfills.set(0, new Backfill(time.get(), time.get(), backfill.to(), backfill.overlap()));
            if (running.isEmpty() || backfill.overlap() == Overlap.ALLOW) {
                start(ScheduleNames.fired(name, time.get()).value(), time.get(), backfill.previous(), spec);
            } else {
                skip(time.get(), "Run '%s' had not ended.".formatted(running.getFirst()));
            }
        }
    }

    /** Rules that depend on the ends of runs have no times in the past. */
    private Optional<Instant> backfilled(ScheduleSpec spec, Backfill backfill) {
        return times.next(spec, backfill.decided(), new FireTimes.Basis(since, null))
                .filter(time -> !time.isAfter(backfill.to()));
    }

    // ---- looking ahead

    private void lookAhead(ScheduleSpec spec) {
        upcoming.removeIf(time -> !time.isAfter(decided));
        if (spec.has(RuleKind.AFTER_END)) {
            upcoming.clear(); // each of them depends on what has ended
        }
        if (isOver(spec)) {
            upcoming.clear();
            return;
        }
        Instant last = upcoming.isEmpty() ? decided : upcoming.getLast();
        FireTimes.Basis basis = basis();
        while (upcoming.size() < UPCOMING) {
            Optional<Instant> next = times.next(spec, last, basis);
            if (next.isEmpty()) {
                return;
            }
            last = next.get();
            upcoming.add(last);
            basis = new FireTimes.Basis(since, null);
        }
    }
}
