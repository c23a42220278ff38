package dev.perdure.internal.schedule;

import dev.perdure.internal.schedule.ScheduleState.Backfill;
import dev.perdure.spi.change.EndReport;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule decides when it wakes: from what it knows, what time it is and what it was told, to what it knows
 * then and what it starts and cancels. Touches nothing else; the run of the schedule records the result and carries it
 * out in one transition.
 *
 * <p>How it works. First the mail, in order: the ends of runs, and what it was asked to do, each after the fire times
 * that had come when it arrived. Then the fire times since, then what waits, then backfills ({@link Firing}). A turn
 * starts a limited number of runs. If more are to be started, the next turn follows at once, and the mail from there on
 * is left to it: a command never overtakes the fire times before it.
 */
final class ScheduleTurn {
    private final ScheduleDraft draft;
    private final Firing firing;
    private final Instant now;
    private @Nullable RuntimeException trouble;

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
     * @param letters the mail, in order
     * @param seen the number of the last mail
     */
    record News(Instant now, List<Letter> letters, long seen) {}

    /**
     * A mail.
     *
     * @param number its number
     * @param at when it arrived
     * @param content what it says; null if it cannot be read, and is dropped
     */
    record Letter(long number, Instant at, @Nullable Content content) {}

    /** What a mail says. */
    sealed interface Content {}

    /** A run has ended. */
    record Ended(EndReport report) implements Content {}

    /** What the schedule was asked to do. */
    record Told(ScheduleCommand command) implements Content {}

    /**
     * What was decided.
     *
     * @param state what the schedule knows now
     * @param starts what it starts
     * @param cancels what it cancels
     * @param read how many mails it has read, from the first
     * @param trouble why it has paused itself in this turn, if its fire times cannot be computed, or null
     */
    record Decision(
            ScheduleState state,
            List<Start> starts,
            List<Cancel> cancels,
            int read,
            @Nullable RuntimeException trouble) {}

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
        int read = 0;
        while (read < news.letters().size() && turn.read(news.letters().get(read))) {
            read++;
        }
        boolean all = read == news.letters().size();
        turn.fire(spec -> {
            firing.pauseIfFailing(spec);
            if (all) {
                firing.fireDue(spec, news.now());
            }
            firing.startWaiting(spec);
            firing.backfill(spec);
        });
        turn.fire(firing::lookAhead);
        long last = all ? news.seen() : news.letters().get(read).number() - 1;
        return new Decision(draft.state(name, last), firing.starts(), firing.cancels(), read, turn.trouble);
    }

    /**
     * Fire times that cannot be computed, such as those in a zone that the Java of this worker does not know, pause the
     * schedule until it is changed or another worker takes its turn.
     */
    private void fire(Consumer<ScheduleSpec> part) {
        ScheduleSpec spec = draft.spec();
        if (spec == null) {
            return;
        }
        try {
            part.accept(spec);
        } catch (RuntimeException wrong) {
            draft.busy = false;
            draft.upcoming.clear();
            if (draft.paused == null) {
                trouble = wrong;
                draft.paused =
                        "Paused by itself: the fire times cannot be computed (%s). Put that right, or put another schedule under this name, then resume it."
                                .formatted(wrong);
            }
        }
    }

    /** Whether it was read. Otherwise the next turn reads it: the fire times before it come first. */
    private boolean read(Letter letter) {
        Instant at = letter.at().isAfter(now) ? now : letter.at();
        switch (letter.content()) {
            case Ended ended -> draft.ended(ended.report(), now);
            case Told told -> {
                fire(spec -> firing.fireDue(spec, at));
                if (firing.isFull()) {
                    return false;
                }
                obey(told.command(), at);
            }
            case null -> {}
        }
        return true;
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
                Instant to = range.to().isAfter(at) ? at : range.to(); // what comes later is fired when it comes
                draft.backfills.add(new Backfill(range.from().minusNanos(1), null, to, range.overlap()));
            }
            case SKIP_NEXT -> fire(firing::skipNext);
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
