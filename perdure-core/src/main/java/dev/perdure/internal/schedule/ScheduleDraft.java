package dev.perdure.internal.schedule;

import dev.perdure.RunState;
import dev.perdure.internal.schedule.ScheduleState.Backfill;
import dev.perdure.internal.schedule.ScheduleState.Past;
import dev.perdure.internal.schedule.ScheduleState.Progress;
import dev.perdure.internal.schedule.ScheduleState.Results;
import dev.perdure.internal.schedule.ScheduleState.Skip;
import dev.perdure.internal.schedule.ScheduleState.Work;
import dev.perdure.spi.change.EndReport;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A {@link ScheduleState} while a turn changes it. */
final class ScheduleDraft {
    private static final int RECENT = 10;
    private static final int MOST_RUNNING = 100;

    @Nullable
    ScheduleSpec declared;

    @Nullable
    ScheduleSpec changed;

    @Nullable
    String paused;

    Instant since;
    Instant decided;

    @Nullable
    Instant lastFired;

    final List<Instant> upcoming;
    long fired;
    boolean busy;
    final List<String> running;
    final List<Instant> waiting;
    final List<Backfill> backfills;
    Instant lastEnd;
    int failures;
    private int earlier;
    private final List<Past> recent;
    private @Nullable Instant lastSuccess;
    private @Nullable Skip lastSkip;

    ScheduleDraft(ScheduleState state) {
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
        this.earlier = Objects.requireNonNullElse(state.work().earlier(), 0);
        this.recent = new ArrayList<>(state.results().recent());
        this.failures = state.results().failures();
        this.lastSuccess = state.results().lastSuccess();
        this.lastSkip = state.results().lastSkip();
    }

    /** What counts: null if the schedule was deleted. */
    @Nullable
    ScheduleSpec spec() {
        return changed == null ? declared : changed;
    }

    /**
     * The state as it is now.
     *
     * @param name the name of the schedule
     * @param mails the number of the last mail that was taken
     */
    ScheduleState state(String name, long mails) {
        return new ScheduleState(
                declared,
                changed,
                paused,
                new Progress(since, decided, lastFired, List.copyOf(upcoming), due(name), fired, busy, mails),
                new Work(
                        List.copyOf(running),
                        List.copyOf(waiting),
                        List.copyOf(backfills),
                        lastEnd,
                        earlier == 0 ? null : Integer.valueOf(earlier)),
                new Results(List.copyOf(recent), failures, lastSuccess, lastSkip));
    }

    private @Nullable Instant due(String name) {
        ScheduleSpec spec = spec();
        return spec == null || upcoming.isEmpty() ? null : upcoming.getFirst().plus(FireTimes.jitter(name, spec));
    }

    /** A run was started. Of very many that have not ended, the oldest are only counted. */
    void started(String run, Instant time) {
        running.add(run);
        if (running.size() > MOST_RUNNING) {
            running.removeFirst();
            earlier++;
        }
        recent.add(new Past(run, time, null));
        if (recent.size() > RECENT) {
            recent.removeFirst();
        }
    }

    /** Whether a run has not ended. */
    boolean hasRuns() {
        return !running.isEmpty() || earlier > 0;
    }

    /** Whether a run has not ended that is none of these. */
    boolean hasRunsBut(Set<String> runs) {
        return earlier > 0 || !runs.containsAll(running);
    }

    /** A run that has not ended, in words. */
    String unended() {
        return running.isEmpty()
                ? "One of %s earlier runs".formatted(earlier)
                : "Run '%s'".formatted(running.getFirst());
    }

    /** A run has ended, or was never started because another one has its id. */
    void ended(EndReport report, Instant now) {
        String run = report.run().value();
        if (!running.remove(run)) {
            if (earlier == 0) {
                return; // of a schedule that was deleted since
            }
            earlier--;
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

    /** A fire time gets no run. */
    void skip(Instant time, String reason) {
        lastSkip = new Skip(time, reason);
    }

    /** Begins a schedule that was just made. */
    void begin(Instant at) {
        since = at;
        decided = at;
        lastEnd = at;
        paused = null;
        upcoming.clear();
    }

    /** Other times count from here on; what is before was decided by the old ones. */
    void timesChanged(Instant at) {
        decided = decided.isBefore(at) ? at : decided;
        upcoming.clear();
    }

    /** Forgets everything. */
    void delete() {
        declared = null;
        changed = null;
        paused = null;
        upcoming.clear();
        running.clear();
        earlier = 0;
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
}
