package dev.perdure.internal.schedule;

import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleState.Backfill;
import dev.perdure.internal.schedule.ScheduleTurn.Cancel;
import dev.perdure.internal.schedule.ScheduleTurn.Start;
import dev.perdure.schedule.Overlap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The part of a {@link ScheduleTurn} that decides about fire times: which of them get a run, and when. */
final class Firing {
    private static final int MOST_STARTS = 100;
    private static final int UPCOMING = 5;
    private static final int MOST_WAITING = 1_000;

    private final String name;
    private final FireTimes times;
    private final ScheduleDraft draft;
    private final Instant now;
    private final List<Start> starts = new ArrayList<>();
    private final List<Cancel> cancels = new ArrayList<>();

    Firing(String name, FireTimes times, ScheduleDraft draft, Instant now) {
        this.name = name;
        this.times = times;
        this.draft = draft;
        this.now = now;
    }

    /** What the turn starts. */
    List<Start> starts() {
        return starts;
    }

    /** What the turn cancels. */
    List<Cancel> cancels() {
        return cancels;
    }

    /** Whether this turn may start no more, and the next one goes on at once. */
    boolean isFull() {
        ScheduleSpec spec = draft.spec();
        return isFull(spec == null ? Overlap.ALLOW : spec.policies().overlap());
    }

    /** What a turn cancels has begun before it: so one that cancels starts one run only. */
    private boolean isFull(Overlap overlap) {
        draft.busy |= starts.size() >= (overlap == Overlap.CANCEL ? 1 : MOST_STARTS);
        return draft.busy;
    }

    /**
     * The id of the reaction has the time of the turn. A turn that did not become durable has started nothing, and one
     * that did is not decided again: so there is one reaction for each pause.
     */
    void pauseIfFailing(ScheduleSpec spec) {
        int most = spec.policies().pauseAfter();
        if (most == 0 || draft.failures < most || draft.paused != null) {
            return;
        }
        draft.paused = "Paused by itself after %s failures one after another. Mend the cause, then resume the schedule."
                .formatted(draft.failures);
        ScheduleSpec.Target reaction = spec.policies().reaction();
        if (reaction != null) {
            starts.add(new Start(name + "!paused-" + now, now, draft.lastFired, reaction));
        }
    }

    void skipNext(ScheduleSpec spec) {
        next(spec, draft.decided).ifPresent(time -> {
            draft.skip(time, "It was to be skipped.");
            draft.decided = time;
            draft.upcoming.remove(time);
        });
    }

    private Optional<Instant> next(ScheduleSpec spec, Instant after) {
        return times.next(spec, after, basis());
    }

    private FireTimes.Basis basis() {
        boolean idle = !draft.hasRuns() && draft.waiting.isEmpty();
        return new FireTimes.Basis(draft.since, idle ? draft.lastEnd : null);
    }

    /** Decides about the fire times until then. How late they are counts from now. */
    void fireDue(ScheduleSpec spec, Instant until) {
        draft.busy = false;
        Instant horizon = until.minus(FireTimes.jitter(name, spec));
        Optional<Instant> first = next(spec, draft.decided).filter(time -> !time.isAfter(horizon));
        if (first.isEmpty() || isFull()) {
            return;
        }
        if (draft.paused != null) {
            draft.skip(first.get(), "The schedule is paused: " + draft.paused);
            draft.decided = horizon;
            return;
        }
        switch (spec.policies().catchUp()) {
            case NONE -> fireLast(spec, first.get(), horizon, spec.policies().within());
            case LAST -> fireLast(spec, first.get(), horizon, null);
            case ALL -> {
                if (spec.policies().overlap() == Overlap.CANCEL) {
                    fireLast(spec, first.get(), horizon, spec.policies().within());
                } else {
                    fireAll(spec, first.get(), horizon);
                }
            }
        }
    }

    private void fireLast(ScheduleSpec spec, Instant first, Instant horizon, @Nullable Duration within) {
        Instant last = times.last(spec, draft.decided, horizon, basis()).orElse(first);
        if (last.isAfter(first)) {
            draft.skip(first, "No worker fired it in time, and a later fire time had come.");
        }
        draft.decided = last;
        if (within != null && last.isBefore(oldest(spec, within))) {
            draft.skip(last, "No worker fired it within %s.".formatted(within));
        } else {
            fire(spec, last, caughtUp(spec.policies().overlap()));
        }
    }

    private void fireAll(ScheduleSpec spec, Instant first, Instant horizon) {
        Duration within = Objects.requireNonNull(spec.policies().within());
        Instant oldest = oldest(spec, within);
        Optional<Instant> next = Optional.of(first);
        if (first.isBefore(oldest)) {
            draft.skip(first, "No worker fired it within %s.".formatted(within));
            draft.decided = oldest.isAfter(horizon) ? horizon : oldest.minusNanos(1);
            next = next(spec, draft.decided);
        }
        Overlap overlap = caughtUp(spec.policies().overlap());
        while (next.isPresent() && !next.get().isAfter(horizon)) {
            if (isFull()) {
                return;
            }
            boolean isLast = isBlocked(overlap);
            draft.decided =
                    isLast ? times.last(spec, draft.decided, horizon, basis()).orElse(next.get()) : next.get();
            fire(spec, draft.decided, overlap);
            next = isLast ? Optional.empty() : next(spec, draft.decided);
        }
    }

    /**
     * What was missed is caught up one after another: a run of an earlier missed time does not overlap with a later one,
     * as neither ran at its time. A run from before that has not ended does.
     */
    private Overlap caughtUp(Overlap overlap) {
        boolean waits = overlap == Overlap.SKIP || overlap == Overlap.WAIT;
        return waits && !draft.hasRunsBut(startedNow()) ? Overlap.WAIT_ALL : overlap;
    }

    private Set<String> startedNow() {
        return starts.stream().map(Start::run).collect(Collectors.toSet());
    }

    /** Whether only the last of several fire times counts, because all others are skipped for the same reason. */
    private boolean isBlocked(Overlap overlap) {
        return switch (overlap) {
            case ALLOW -> false;
            case SKIP -> draft.hasRuns();
            case WAIT -> !draft.waiting.isEmpty();
            case WAIT_ALL -> draft.waiting.size() >= MOST_WAITING;
            case CANCEL -> false;
        };
    }

    private Instant oldest(ScheduleSpec spec, Duration within) {
        return now.minus(FireTimes.jitter(name, spec)).minus(within);
    }

    private boolean isOver(ScheduleSpec spec) {
        int limit = spec.bounds().limit();
        return limit > 0 && draft.fired + draft.waiting.size() >= limit;
    }

    private void fire(ScheduleSpec spec, Instant time, Overlap overlap) {
        if (isOver(spec)) {
            return;
        }
        switch (overlap) {
            case ALLOW -> startScheduled(spec, time);
            case SKIP -> {
                if (draft.hasRuns()) {
                    draft.skip(time, "%s had not ended.".formatted(draft.unended()));
                } else {
                    startScheduled(spec, time);
                }
            }
            case WAIT -> {
                if (draft.waiting.isEmpty()) {
                    draft.waiting.add(time);
                } else {
                    draft.skip(
                            time,
                            "%s had not ended, and another fire time waited for that.".formatted(draft.unended()));
                }
            }
            case WAIT_ALL -> {
                if (draft.waiting.size() < MOST_WAITING) {
                    draft.waiting.add(time);
                } else {
                    draft.skip(
                            time,
                            "%s had not ended, and %s fire times waited.".formatted(draft.unended(), MOST_WAITING));
                }
            }
            case CANCEL -> {
                draft.waiting.forEach(earlier -> draft.skip(earlier, "The next fire time came before it could begin."));
                draft.waiting.clear();
                draft.waiting.add(time);
                cancelRunning(time);
            }
        }
        startWaiting(spec);
    }

    private void cancelRunning(Instant time) {
        String reason = "The schedule '%s' fires for %s.".formatted(name, time);
        draft.running.forEach(run -> cancels.add(new Cancel(run, reason)));
    }

    /** Starts the first fire time that waits, if it need not wait any more. */
    void startWaiting(ScheduleSpec spec) {
        if (!draft.hasRuns() && !draft.waiting.isEmpty() && draft.paused == null) {
            startScheduled(spec, draft.waiting.removeFirst());
        }
    }

    private void startScheduled(ScheduleSpec spec, Instant time) {
        start(ScheduleNames.fired(name, time).value(), time, draft.lastFired, spec);
        draft.fired++;
        draft.lastFired = time;
    }

    /** Starts a run under this id. */
    void start(String run, Instant time, @Nullable Instant previous, ScheduleSpec spec) {
        starts.add(new Start(run, time, previous, spec.what()));
        draft.started(run, time);
    }

    /** Starts runs for the ranges that are being backfilled, as far as they may begin. */
    void backfill(ScheduleSpec spec) {
        while (!draft.backfills.isEmpty()) {
            Backfill backfill = draft.backfills.getFirst();
            Optional<Instant> time = backfilled(spec, backfill);
            if (time.isEmpty()) {
                draft.backfills.removeFirst();
                continue;
            }
            Overlap overlap = backfill.overlap();
            if (isFull(overlap)) {
                return;
            }
            if (draft.hasRuns() && overlap == Overlap.SKIP) {
                Instant last = times.last(
                                spec, backfill.decided(), backfill.to(), new FireTimes.Basis(draft.since, null))
                        .orElse(time.get());
                draft.skip(last, "%s had not ended.".formatted(draft.unended()));
                draft.backfills.removeFirst();
                continue;
            }
            if (draft.hasRuns() && overlap != Overlap.ALLOW) {
                if (overlap == Overlap.CANCEL && cancels.isEmpty()) {
                    cancelRunning(time.get());
                }
                return;
            }
            draft.backfills.set(0, new Backfill(time.get(), time.get(), backfill.to(), overlap));
            start(ScheduleNames.fired(name, time.get()).value(), time.get(), backfill.previous(), spec);
        }
    }

    /** Rules that depend on the ends of runs have no times in the past. */
    private Optional<Instant> backfilled(ScheduleSpec spec, Backfill backfill) {
        return times.next(spec, backfill.decided(), new FireTimes.Basis(draft.since, null))
                .filter(time -> !time.isAfter(backfill.to()));
    }

    /** Computes the next fire times. */
    void lookAhead(ScheduleSpec spec) {
        draft.upcoming.removeIf(time -> !time.isAfter(draft.decided));
        if (spec.has(RuleKind.AFTER_END)) {
            draft.upcoming.clear(); // each of them depends on what has ended
        }
        if (isOver(spec)) {
            draft.upcoming.clear();
            return;
        }
        Instant last = draft.upcoming.isEmpty() ? draft.decided : draft.upcoming.getLast();
        FireTimes.Basis basis = basis();
        while (draft.upcoming.size() < UPCOMING) {
            Optional<Instant> next = times.next(spec, last, basis);
            if (next.isEmpty()) {
                return;
            }
            last = next.get();
            draft.upcoming.add(last);
            basis = new FireTimes.Basis(draft.since, null);
        }
    }
}
