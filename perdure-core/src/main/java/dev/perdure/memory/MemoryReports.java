package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What steps report. The row of a run has the latest report of each position. */
final class MemoryReports implements Reports {
    private final Tables tables;

    MemoryReports(Tables tables) {
        this.tables = tables;
    }

    /**
     * A report as a row has it.
     *
     * @param restarts the life of the run to which it belongs
     * @param reported the report
     */
    record Kept(int restarts, Reported reported) {}

    @Override
    public void write(WorkerId worker, List<Report> reports) {
        tables.inTransaction(() -> {
            reports.forEach(report -> write(worker, report));
            return true;
        });
    }

    private void write(WorkerId worker, Report report) {
        Source source = report.source();
        Row row = tables.byKey.get(source.run().key());
        if (row == null || !accepts(row, worker, source.epoch())) {
            return;
        }
        Kept before = row.reports.get(source.position());
        Report last = before == null || before.restarts() != row.restarts
                ? null
                : before.reported().report();
        if (last == null || last.version() < report.version()) {
            Reported now = new Reported(withHeartbeat(report, last), tables.now());
            row.reports.put(source.position(), new Kept(row.restarts, now));
        }
    }

    private boolean accepts(Row row, WorkerId worker, long epoch) {
        return row.epoch == epoch
                && (row.owner == null || row.owner.equals(worker))
                && !row.stripped
                && tables.workers.containsKey(worker);
    }

    /** A report keeps the heartbeat of an earlier one that is newer than its own. */
    private static Report withHeartbeat(Report report, @Nullable Report last) {
        Heartbeat own = report.heartbeat();
        Heartbeat before = last == null ? null : last.heartbeat();
        boolean keeps = before != null && (own == null || own.version() < before.version());
        return keeps
                ? new Report(report.source(), report.version(), report.fraction(), report.message(), before)
                : report;
    }

    @Override
    public Optional<Reported> find(RunRef run, int position) {
        return tables.inTransaction(() -> Optional.ofNullable(tables.byKey.get(run.key()))
                .flatMap(row ->
                        Optional.ofNullable(row.reports.get(position)).filter(kept -> kept.restarts() == row.restarts))
                .map(Kept::reported));
    }

    @Override
    public List<Reported> open(RunRef run) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            return row == null || row.state == RunState.COMPLETED
                    ? List.<Reported>of()
                    : row.reports.entrySet().stream()
                            .filter(report -> report.getValue().restarts() == row.restarts)
                            .filter(report -> !row.journal.containsKey(new Row.Place(report.getKey(), Entry.ANSWER)))
                            .map(report -> report.getValue().reported())
                            .toList();
        });
    }
}
