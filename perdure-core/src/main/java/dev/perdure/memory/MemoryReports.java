package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.util.ArrayDeque;
import java.util.Deque;
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
    record Kept(int restarts, Reported reported) {
        /** What the next attempt can read; null if there is nothing. */
        @Nullable
        Payload heartbeat() {
            Heartbeat heartbeat = reported.report().heartbeat();
            return heartbeat == null ? null : heartbeat.value();
        }

        Kept with(Payload value) {
            Report report = reported.report();
            Heartbeat heartbeat = report.heartbeat();
            Heartbeat other = heartbeat == null ? null : new Heartbeat(heartbeat.version(), value);
            return new Kept(
                    restarts,
                    new Reported(
                            new Report(report.source(), report.version(), report.fraction(), report.message(), other),
                            reported.at()));
        }
    }

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

    @Override
    public void log(WorkerId worker, List<Line> lines) {
        tables.inTransaction(() -> {
            lines.forEach(line -> log(worker, line));
            return true;
        });
    }

    private void log(WorkerId worker, Line line) {
        Row row = tables.byKey.get(line.source().run().key());
        boolean former =
                row != null && line.source().epoch() < row.epoch && !row.stripped && tables.workers.containsKey(worker);
        if (row == null || !(former || accepts(row, worker, line.source().epoch()))) {
            return;
        }
        Lines log = row.lines;
        Line last = log.kept.peekLast();
        if (last == null || last.number() < line.number()) {
            boolean goesOn =
                    last != null && last.source().epoch() == line.source().epoch();
            log.written += line.number()
                    - (goesOn ? last.number() : Reports.version(line.source().epoch(), 0));
            log.bytes += line.size();
            log.kept.add(line);
            while (log.kept.size() > MOST_LINES || log.bytes > MOST_BYTES) {
                log.bytes -= log.kept.removeFirst().size();
            }
        }
    }

    /** The log lines of a run. */
    static final class Lines {
        private final Deque<Line> kept = new ArrayDeque<>();
        private long written;
        private long bytes;

        void clear() {
            kept.clear();
            written = 0;
            bytes = 0;
        }
    }

    @Override
    public LogPage log(RunRef run, LogFilter filter) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            if (row == null) {
                return new LogPage(List.of(), 0);
            }
            List<LogLine> after = row.lines.kept.stream()
                    .filter(line -> line.number() > filter.after())
                    .map(MemoryReports::shown)
                    .toList();
            int many = Math.min(after.size(), filter.limit());
            int from = filter.isNewest() ? after.size() - many : 0;
            return new LogPage(after.subList(from, from + many), row.lines.written - row.lines.kept.size());
        });
    }

    private static LogLine shown(Line line) {
        Source source = line.source();
        return new LogLine(
                line.number(),
                source.step(),
                source.position(),
                source.attempt(),
                line.at(),
                line.level(),
                line.logger(),
                line.text());
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
