package dev.perdure.internal.engine;

import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.internal.bulk.BulkFunction;
import dev.perdure.internal.bulk.BulkState;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.handle.RunHandle;
import dev.perdure.internal.payload.EncryptedAttributes;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import java.util.List;
import java.util.Map;

/** The runs that a filter selects, for one operator. */
record EngineSelectedRuns(RunFilter filter, RunHandle.Services services, Starter starter) implements SelectedRuns {
    EngineSelectedRuns {
        attributes(services).requireNoneIn(filter);
    }

    private static EncryptedAttributes attributes(RunHandle.Services services) {
        return new EncryptedAttributes(services.settings().rules().codec());
    }

    private Runs runs() {
        return services.settings().store().runs();
    }

    @Override
    public List<RunInfo> list() {
        return runs().list(filter).stream().map(attributes(services)::decrypted).toList();
    }

    @Override
    public Map<RunState, RunCount> count() {
        return runs().count(filter);
    }

    @Override
    public RunStatistics statistics() {
        return new StatisticsReader(services.settings().store().statistics()).read(filter);
    }

    @Override
    public Failures failures() {
        return StatisticsReader.failures(runs(), filter);
    }

    @Override
    public Map<RunState, RunCount> dryRun(BulkAction action) {
        Texts.requireGiven("bulk action", action);
        return runs().count(BulkState.targets(action, filter));
    }

    @Override
    public Run<BulkReport> start(BulkAction action) {
        Texts.requireGiven("bulk action", action);
        BulkState.targets(action, filter);
        Operator operator = services.auditor().operator();
        BulkState state = BulkState.of(action, filter, operator);
        RunId id = RunId.of(BulkFunction.PREFIX
                + TimeOrderedId.next(services.settings().clockwork()).value());
        StartOptions options = StartOptions.defaults()
                .withId(id)
                .queue(Settings.SCHEDULES_QUEUE)
                .memo(state.memo());
        RunRef run = starter.start(CallTarget.of(BulkFunction.target()), state, options);
        return new RunHandle<>(run, BulkReport.class, services);
    }
}
