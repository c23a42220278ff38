package dev.perdure.internal.schedule;

import dev.perdure.internal.schedule.ScheduleState.Backfill;
import dev.perdure.spi.change.EndReport;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule decides when it wakes: from what it knows, what time it is and what it was told, to what it knows
 * then and what it starts and cancels. Touches nothing else; the run of the schedule records the result and carries it
 * out in one transition.
 *
 * <p>How it works. First the ends of runs. Then what it was asked to do, in order, each after the fire times that had
 * come when it arrived; then the fire times since, then what waits, then backfills ({@link Firing}). A turn starts a
 * limited number of runs; if more are to be started, the next turn follows at once.
 */
final class ScheduleTurn {
    private final ScheduleDraft draft;
    private final Firing firing;
    private final Instant now;

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

    private ScheduleTurn(ScheduleDraft draft, Firing firing, Instant now) {
        this.draft = draft;
        this.firing = firing;
        this.now = now;
    }

    /** Decides. */
    static Decision decide(String name, FireTimes times, ScheduleState state, News news) {
        ScheduleDraft draft = new ScheduleDraft(state);
        Firing firing = new Firing(name, times, draft, news.now());
        ScheduleTurn turn = new ScheduleTurn(draft, firing, news.now());
        news.reports().forEach(report -> draft.ended(report, news.now()));
        news.commands().forEach(turn::obeyInTime);
        ScheduleSpec spec = draft.spec();
        if (spec != null) {
            firing.pauseIfFailing(spec);
            firing.fireDue(spec, news.now());
            firing.startWaiting(spec);
            firing.backfill(spec);
            firing.lookAhead(spec);
        }
        return new Decision(draft.state(name, news.mails()), firing.starts(), firing.cancels());
    }

    private void obeyInTime(Told told) {
        Instant at = told.at().isAfter(now) ? now : told.at();
        ScheduleSpec spec = draft.spec();
        if (spec != null) {
            firing.fireDue(spec, at);
        }
        obey(told.command(), at);
    }

    private void obey(ScheduleCommand command, Instant at) {
        switch (command.kind()) {
            case DECLARE -> declare(Objects.requireNonNull(command.spec()), at);
            case PUT -> put(Objects.requireNonNull(command.spec()), at);
            case RESET -> {
                if (draft.declared != null) {
                    draft.changed = null;
                    draft.timesChanged(at);
                }
            }
            case DELETE -> draft.delete();
            case PAUSE -> draft.paused = Objects.requireNonNullElse(command.note(), "");
            case RESUME -> resume(at);
            case TRIGGER -> trigger(Objects.requireNonNull(command.run()));
            case BACKFILL -> {
                ScheduleCommand.Range range = Objects.requireNonNull(command.range());
                draft.backfills.add(new Backfill(range.from().minusNanos(1), null, range.to(), range.overlap()));
            }
            case SKIP_NEXT -> {
                ScheduleSpec spec = draft.spec();
                if (spec != null) {
                    firing.skipNext(spec);
                }
            }
        }
    }

    /** What fell into the pause is skipped. */
    private void resume(Instant at) {
        if (draft.paused != null) {
            draft.paused = null;
            draft.failures = 0;
            draft.timesChanged(at);
        }
    }

    private void declare(ScheduleSpec spec, Instant at) {
        boolean isNew = draft.spec() == null;
        if (!spec.equals(draft.declared)) {
            draft.declared = spec;
            if (draft.changed == null) {
                draft.timesChanged(at);
            }
        }
        if (isNew) {
            draft.begin(at);
        }
    }

    /** A change of what the code declares is kept apart from it. */
    private void put(ScheduleSpec spec, Instant at) {
        boolean isNew = draft.spec() == null;
        if (!spec.equals(draft.spec())) {
            draft.changed = spec;
            draft.timesChanged(at);
        }
        if (isNew) {
            draft.begin(at);
        }
    }

    private void trigger(String run) {
        ScheduleSpec spec = draft.spec();
        if (spec != null) {
            firing.start(run, now, draft.lastFired, spec);
        }
    }
}
