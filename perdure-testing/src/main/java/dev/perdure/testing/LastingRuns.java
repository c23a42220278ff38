package dev.perdure.testing;

import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import java.util.List;
import java.util.Map;

/**
 * The runs that a filter selects, through the engine that is there when they are asked for.
 *
 * @param perdure asks that engine
 * @param filter selects the runs
 */
record LastingRuns(ForwardingPerdure perdure, RunFilter filter) implements SelectedRuns {
    @Override
    public List<RunInfo> list() {
        return perdure.ask(engine -> engine.runs(filter).list());
    }

    @Override
    public Map<RunState, RunCount> count() {
        return perdure.ask(engine -> engine.runs(filter).count());
    }

    @Override
    public RunStatistics statistics() {
        return perdure.ask(engine -> engine.runs(filter).statistics());
    }

    @Override
    public Failures failures() {
        return perdure.ask(engine -> engine.runs(filter).failures());
    }

    @Override
    public Map<RunState, RunCount> dryRun(BulkAction action) {
        return perdure.ask(engine -> engine.runs(filter).dryRun(action));
    }

    @Override
    public Run<BulkReport> start(BulkAction action) {
        return perdure.ask(engine -> perdure.lasting(engine.runs(filter).start(action)));
    }
}
