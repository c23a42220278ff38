package dev.perdure.schedule;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownScheduleException;
import java.time.Instant;

/**
 * What can be asked of schedules: at once ({@link Schedules}), or with a transaction of the caller. The latter looks
 * nothing up: what it asks of a schedule that does not exist has no effect, instead of an {@link
 * UnknownScheduleException}.
 */
public interface ScheduleChanges {
    /**
     * Makes a schedule, or changes the one of this name. A schedule that the code declares keeps the change through
     * deployments until it is {@link #reset}. What was running, waiting or paused stays so.
     */
    void put(Schedule schedule);

    /**
     * Fires nothing until {@link #resume}. Fire times that fall into the pause are skipped.
     *
     * @param note why, for those who look at it
     * @throws UnknownScheduleException if there is none of this name
     */
    void pause(String name, String note);

    /**
     * Fires again from the next fire time on.
     *
     * @throws UnknownScheduleException if there is none of this name
     */
    void resume(String name);

    /**
     * Starts a run now, beside those that have not ended, also if the schedule is paused.
     *
     * @return the id of the run, which a worker starts a moment later
     * @throws UnknownScheduleException if there is none of this name
     */
    RunId trigger(String name);

    /**
     * Starts a run for each fire time of a range that has come, from the oldest. Later ones are fired when they come. A
     * fire time that has a run gets no other.
     *
     * @param from the beginning of the range
     * @param to its end, both included
     * @param overlap what happens while a run has not ended; {@link Overlap#WAIT_ALL} runs one after another
     * @throws InvalidRequestException if the range ends before it begins
     * @throws UnknownScheduleException if there is none of this name
     */
    void backfill(String name, Instant from, Instant to, Overlap overlap);

    /**
     * Does not fire at the next fire time.
     *
     * @throws UnknownScheduleException if there is none of this name
     */
    void skipNext(String name);

    /**
     * Forgets what was changed with {@link #put}, so that the schedule is as the code declares it.
     *
     * @throws UnknownScheduleException if there is none of this name
     */
    void reset(String name);

    /**
     * Deletes a schedule. Runs that it has started go on. One that the code declares is there again after the next
     * start of an engine that declares it.
     *
     * @throws UnknownScheduleException if there is none of this name
     */
    void delete(String name);
}
