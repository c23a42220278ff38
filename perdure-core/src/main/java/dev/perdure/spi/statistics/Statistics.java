package dev.perdure.spi.statistics;

import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Reads many runs at once, for statistics. The number of rows that each method looks at is bounded where the store has
 * an index for it: PostgreSQL has none for the ends of runs before version 16.
 */
public interface Statistics {
    /**
     * A run, in short.
     *
     * @param run the run
     * @param definition the name of its definition
     * @param state its state
     * @param createdAt when it was started
     * @param changedAt when it entered its state
     */
    record Seen(RunRef run, String definition, RunState state, Instant createdAt, Instant changedAt) {}

    /**
     * The newest of the runs that a filter selects, whatever its limit, page and order: newest first.
     *
     * @param within only runs that were created this long ago or later, by the store's clock
     * @param limit how many at most
     */
    List<Seen> newest(RunSelection selection, Duration within, int limit);

    /** The same in a store that has all runs. */
    default List<Seen> newest(RunFilter filter, Duration within, int limit) {
        return newest(new RunSelection(filter), within, limit);
    }

    /**
     * A step that has ended.
     *
     * @param name its name
     * @param failed whether it failed finally
     * @param took the time from what its run has recorded before its answer, or from when the run entered its state, to
     *     its answer
     */
    record StepTime(String name, boolean failed, Duration took) {}

    /**
     * The steps of these runs that have ended, in their current lives, in no order.
     *
     * @param most how many entries of each journal are looked at
     */
    List<StepTime> steps(Collection<RunRef> runs, int most);

    /**
     * What happened to runs in a second.
     *
     * @param begin when the second begins
     * @param started how many runs were started
     * @param ended how many ended
     * @param failed how many of these failed
     */
    record Second(Instant begin, int started, int ended, int failed) {}

    /**
     * What happened to runs in some seconds.
     *
     * @param from when the first second begins
     * @param to when the last one ends, which is not later than now
     * @param seconds the seconds in which something happened, oldest first
     * @param more whether more runs may have ended, which the store has not found
     */
    record Rates(Instant from, Instant to, List<Second> seconds, boolean more) {}

    /**
     * What happened to runs in the last whole seconds, by the store's clock.
     *
     * @param seconds how many seconds
     * @param most how many runs the store looks at, of those that were started in this time, and of those that ended in
     *     it and were started before. If more were started, there are fewer seconds
     */
    Rates rates(int seconds, int most);

    /**
     * A time, cut into bars of the same length.
     *
     * @param from when it begins
     * @param to when it ends
     * @param bars how many bars
     * @param ended whether runs belong to the bar in which they ended, and not to that in which they were created
     */
    record Span(Instant from, Instant to, int bars, boolean ended) {
        /** When a bar begins, counted from 0; the one after the last bar begins when the last one ends. */
        public Instant begin(int bar) {
            return bar == bars
                    ? to
                    : from.plus(Duration.between(from, to).dividedBy(bars).multipliedBy(bar));
        }
    }

    /**
     * Runs over time.
     *
     * @param bars how many runs each bar has, by state, without states of which there are none
     * @param sampled which part of the time was looked at. If it is less than 1, the numbers were scaled up
     * @param more whether there are more runs than the bars have
     */
    record Histogram(List<Map<RunState, Long>> bars, double sampled, boolean more) {}

    /** Counts the runs that a filter selects, whatever its limit, page and order, over time. */
    Histogram histogram(RunSelection selection, Span span);

    /** The same in a store that has all runs. */
    default Histogram histogram(RunFilter filter, Span span) {
        return histogram(new RunSelection(filter), span);
    }

    /**
     * A time for which a run was ready until a worker took it.
     *
     * @param ready when the run became ready
     * @param took how long it was ready
     */
    record Wait(Instant ready, Duration took) {}

    /**
     * How long runs that were created in a span were ready until a worker took them, in no order. A run that was started
     * where it runs was never ready, one that sleeps may be so several times.
     *
     * @param most how many runs of each bar are looked at: those that were created first
     */
    List<Wait> waits(Span span, int most);
}
