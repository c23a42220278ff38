package dev.perdure.internal.schedule;

import dev.perdure.schedule.Overlap;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule is asked to do: a message to its run. A field that a later version adds must allow null.
 *
 * @param kind what; the other fields are of some kinds only
 * @param spec of a declaration or a change
 * @param note why it is paused
 * @param run the run to be triggered
 * @param range the range to be backfilled
 */
public record ScheduleCommand(
        Kind kind,
        @Nullable ScheduleSpec spec,
        @Nullable String note,
        @Nullable String run,
        @Nullable Range range) {
    /** What it is asked. */
    public enum Kind {
        DECLARE,
        PUT,
        RESET,
        DELETE,
        PAUSE,
        RESUME,
        TRIGGER,
        BACKFILL,
        SKIP_NEXT
    }

    /** A range of times, both ends included. */
    public record Range(Instant from, Instant to, Overlap overlap) {}

    public static ScheduleCommand of(Kind kind) {
        return new ScheduleCommand(kind, null, null, null, null);
    }

    public static ScheduleCommand of(Kind kind, ScheduleSpec spec) {
        return new ScheduleCommand(kind, spec, null, null, null);
    }

    public static ScheduleCommand pause(String note) {
        return new ScheduleCommand(Kind.PAUSE, null, note, null, null);
    }

    public static ScheduleCommand trigger(String run) {
        return new ScheduleCommand(Kind.TRIGGER, null, null, run, null);
    }

    public static ScheduleCommand backfill(Range range) {
        return new ScheduleCommand(Kind.BACKFILL, null, null, null, range);
    }

    /** Whether a schedule that knows this, and was told nothing else since, becomes another one by this command. */
    public boolean changes(ScheduleState state) {
        return switch (kind) {
            case DECLARE -> !Objects.equals(spec, state.declared());
            case PUT -> !Objects.equals(spec, state.spec());
            case RESET -> state.declared() != null && state.changed() != null;
            case PAUSE -> !Objects.equals(note, state.paused());
            case RESUME -> state.paused() != null;
            case DELETE, TRIGGER, BACKFILL, SKIP_NEXT -> true;
        };
    }
}
