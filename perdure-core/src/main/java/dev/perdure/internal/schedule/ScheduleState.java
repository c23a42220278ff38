package dev.perdure.internal.schedule;

import dev.perdure.RunState;
import dev.perdure.schedule.Overlap;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that a schedule knows: what its run last recorded. A field that a later version adds must allow null.
 *
 * @param declared what the code declares, or null
 * @param changed what was put at run time, or null; it counts before what is declared
 * @param paused why it fires nothing, or null
 * @param progress how far it has come
 * @param work what has not ended, and what waits for that
 * @param results what came of it
 */
public record ScheduleState(
        @Nullable ScheduleSpec declared,
        @Nullable ScheduleSpec changed,
        @Nullable String paused,
        Progress progress,
        Work work,
        Results results) {
    /** A schedule that was not made yet, or was deleted. */
    public static final ScheduleState NOTHING = new ScheduleState(
            null,
            null,
            null,
            new Progress(Instant.EPOCH, Instant.EPOCH, null, List.of(), null, 0, false, 0),
            new Work(List.of(), List.of(), List.of(), Instant.EPOCH, null),
            new Results(List.of(), 0, null, null));

    /**
     * How far it has come.
     *
     * @param since when it was made
     * @param decided the last fire time that was decided about
     * @param lastFired the last fire time that got a run, or null
     * @param upcoming the fire times after {@code decided}, five at most
     * @param due when the first of them is fired, which a jitter makes later, or null
     * @param fired how many fire times got a run
     * @param busy whether more is to be decided at once
     * @param mails the number of the last mail that it has taken
     */
    public record Progress(
            Instant since,
            Instant decided,
            @Nullable Instant lastFired,
            List<Instant> upcoming,
            @Nullable Instant due,
            long fired,
            boolean busy,
            long mails) {}

    /**
     * What has not ended, and what waits for that.
     *
     * @param running runs that have not reported their ends: the latest, if there are very many
     * @param waiting fire times that wait for that
     * @param backfills ranges that are being backfilled
     * @param lastEnd when the last run ended
     * @param earlier how many earlier runs have not reported their ends either, or null if there are none
     */
    public record Work(
            List<String> running,
            List<Instant> waiting,
            List<Backfill> backfills,
            Instant lastEnd,
            @Nullable Integer earlier) {
        /** Whether a run has not reported its end. */
        boolean hasRuns() {
            return !running.isEmpty() || earlier != null;
        }
    }

    /**
     * A range that is being backfilled.
     *
     * @param decided up to where it is decided
     * @param previous the last fire time in it that was decided about, or null
     * @param to its end
     * @param overlap what happens while a run has not ended
     */
    public record Backfill(Instant decided, @Nullable Instant previous, Instant to, Overlap overlap) {}

    /**
     * What came of it.
     *
     * @param recent the last runs, oldest first
     * @param failures how many have failed since one last completed
     * @param lastSuccess when one last completed, or null
     * @param lastSkip the last fire time that got no run, or null
     */
    public record Results(
            List<Past> recent,
            int failures,
            @Nullable Instant lastSuccess,
            @Nullable Skip lastSkip) {}

    /** A run that was started: its id, for which time, and how it ended, if it has reported that. */
    public record Past(String run, Instant time, @Nullable RunState state) {}

    /** A fire time that got no run, and why. */
    public record Skip(Instant time, String reason) {}

    /** What counts: null if the schedule was deleted. */
    public @Nullable ScheduleSpec spec() {
        return changed == null ? declared : changed;
    }
}
