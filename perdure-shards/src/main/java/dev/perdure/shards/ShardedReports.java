package dev.perdure.shards;

import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Parts;
import java.util.List;
import java.util.Optional;

/** What steps report, on the shard of their run. */
final class ShardedReports implements Reports {
    private final Shards shards;

    ShardedReports(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void write(WorkerId worker, List<Report> reports) {
        Parts.divide(reports, report -> shards.of(report.source().run()))
                .forEach((shard, some) -> shards.store(shard).reports().write(worker, some));
    }

    @Override
    public Optional<Reported> find(RunRef run, int position) {
        return shards.having(run).reports().find(run, position);
    }

    @Override
    public List<Reported> open(RunRef run) {
        return shards.having(run).reports().open(run);
    }

    @Override
    public void log(WorkerId worker, List<Line> lines) {
        Parts.divide(lines, line -> shards.of(line.source().run()))
                .forEach((shard, some) -> shards.store(shard).reports().log(worker, some));
    }

    @Override
    public LogPage log(RunRef run, LogFilter filter) {
        return shards.having(run).reports().log(run, filter);
    }
}
