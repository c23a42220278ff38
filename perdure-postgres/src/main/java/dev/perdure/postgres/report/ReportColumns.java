package dev.perdure.postgres.report;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.spi.report.Reports.Line;
import dev.perdure.spi.report.Reports.Report;
import dev.perdure.spi.report.Reports.Source;

/** The columns of reports and of log lines. */
final class ReportColumns {
    private static final Columns<Source> SOURCE = Columns.<Source>of()
            .bigint("key", source -> source.run().key())
            .bigint("epoch", Source::epoch)
            .integer("position", Source::position)
            .integer("attempt", Source::attempt)
            .text("step", Source::step);

    static final Columns<Report> REPORTS = SOURCE.in(Report::source)
            .bigint("version", Report::version)
            .bigint(
                    "heartbeat_version",
                    report ->
                            report.heartbeat() == null ? 0 : report.heartbeat().version())
            .float8OrNull("fraction", Report::fraction)
            .text("message", Report::message)
            .bytes(
                    "heartbeat",
                    report -> report.heartbeat() == null
                            ? null
                            : report.heartbeat().value().bytes());

    static final Columns<Line> LINES = SOURCE.in(Line::source)
            .bigint("number", Line::number)
            .bigint("at", line -> Micros.of(line.at()))
            .integer("size", Line::size)
            .integer("level", line -> line.level().toInt())
            .text("logger", Line::logger)
            .text("text", Line::text);

    private ReportColumns() {}
}
