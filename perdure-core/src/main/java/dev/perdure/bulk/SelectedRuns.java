package dev.perdure.bulk;

import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import java.util.List;
import java.util.Map;

/**
 * The runs that a filter selects: looked at, or changed all at once. Thread-safe.
 *
 * <pre>{@code
 * SelectedRuns failed = perdure.runs(RunFilter.all().definition("order").state(RunState.FAILED));
 * failed.dryRun(BulkAction.retry());
 * Run<BulkReport> retries = perdure.as(anna).runs(filter).start(BulkAction.retry());
 * retries.result().changed();
 * }</pre>
 */
public interface SelectedRuns {
    /** Lists the runs, newest first unless the filter says otherwise, one page at a time. */
    List<RunInfo> list();

    /**
     * Counts the runs by state, whatever the filter's limit and page. A state without runs is not in the map.
     */
    Map<RunState, RunCount> count();

    /**
     * How the newest of the runs have ended in the last 24 hours, and how long they and their steps took, whatever the
     * filter's limit, page and order. The states of the filter, if it names any, are those in which runs have ended.
     */
    RunStatistics statistics();

    /**
     * The newest of the runs that failed, grouped by what they failed with, whatever the filter's limit; or of the runs in
     * the states that the filter names, grouped by their reasons.
     */
    Failures failures();

    /**
     * Counts the runs that a bulk action would be applied to now, by state. It changes nothing. The store may still
     * refuse some of them: {@link BulkReport#refused()}.
     *
     * @throws InvalidRequestException if the filter selects only states that the action is not for
     */
    Map<RunState, RunCount> dryRun(BulkAction action);

    /**
     * Applies an action to all runs that are there now, whatever the filter's limit, page and order. The bulk action is
     * a run of its own: it is durable when this returns, any worker executes it page by page, and it continues after
     * crashes. Its status tells how far it is. It is paused, resumed and cancelled like any run; what it has changed
     * stays changed.
     *
     * <p>Runs that are started later are left alone. So are the engine's own runs, such as schedules, unless the filter
     * names their definition.
     *
     * @return the run of the bulk action
     * @throws InvalidRequestException if the filter selects only states that the action is not for
     * @see RunFilter
     */
    Run<BulkReport> start(BulkAction action);
}
