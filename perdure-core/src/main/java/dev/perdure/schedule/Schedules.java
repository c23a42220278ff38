package dev.perdure.schedule;

import dev.perdure.error.UnknownScheduleException;
import java.util.List;

/**
 * The schedules: made, looked at and changed at run time. What is asked for here is durable when the call returns, and
 * a worker carries it out a moment later, in order. Thread-safe.
 *
 * <pre>{@code
 * perdure.schedules().put(Schedule.cron("report-acme", "0 6 * * *", zone, Reports::nightly, "acme"));
 * perdure.schedules().pause("report-acme", "the customer is on holiday");
 * }</pre>
 */
public interface Schedules extends ScheduleChanges {
    /**
     * Schedules in the order of their names, from after a name.
     *
     * @param after the name; empty for the first page
     * @param most how many at most
     */
    List<ScheduleInfo> list(String after, int most);

    /**
     * One schedule.
     *
     * @throws UnknownScheduleException if there is none of this name
     */
    ScheduleInfo get(String name);

    /** Makes or changes many schedules, in few commits. */
    void putAll(List<Schedule> schedules);
}
