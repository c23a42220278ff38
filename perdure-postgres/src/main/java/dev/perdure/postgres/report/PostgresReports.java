package dev.perdure.postgres.report;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.slf4j.event.Level;

/**
 * What steps report ({@link ReportSql}).
 *
 * <p>A report is safe to repeat, also if an earlier copy of it arrives late: the store has a newer one then. So it needs
 * no lane of its own; it only checks that the worker is alive.
 */
public final class PostgresReports implements Reports {
    private final Database database;
    private final Query query;
    private final ReportSql sql;
    private final LogSql logSql;
    private final Workers workers;

    public PostgresReports(Database database, Schema schema, LedgerSql ledgerSql, Workers workers) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new ReportSql(schema, ledgerSql);
        this.logSql = new LogSql(schema, ledgerSql);
        this.workers = workers;
    }

    @Override
    public void write(WorkerId worker, List<Report> reports) {
        if (!reports.isEmpty()) {
            send(
                    worker,
                    sql.write,
                    parameters -> ReportColumns.REPORTS.bind(parameters.time(database.time()), reports));
        }
    }

    /** Sends a statement that begins with the fence and ends with the worker. */
    private void send(WorkerId worker, String statementText, Query.Binding binding) {
        Integer number = workers.number(worker);
        if (number == null) {
            return;
        }
        int lane = workers.lanes().row(number, Lanes.POLL);
        try {
            database.call(connection -> {
                try (PreparedStatement statement = Database.prepare(connection, statementText)) {
                    Parameters parameters = new Parameters(statement).text(Database.LOCK_TIMEOUT);
                    binding.bind(parameters.integer(number).integer(lane));
                    parameters.integer(number);
                    return statement.execute();
                }
            });
        } catch (LockedException busy) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE, "What steps report is locked by another transaction.", busy);
        }
    }

    @Override
    public void log(WorkerId worker, List<Line> lines) {
        if (!lines.isEmpty()) {
            send(worker, logSql.write, parameters -> ReportColumns.LINES.bind(parameters, lines));
        }
    }

    @Override
    public LogPage log(RunRef run, LogFilter filter) {
        List<LogLine> lines = query.byIndex(
                filter.isNewest() ? logSql.newest : logSql.oldest,
                parameters ->
                        parameters.number(run.key()).number(filter.after()).integer(filter.limit()),
                PostgresReports::line);
        long dropped = query.byIndex(
                        logSql.dropped, parameters -> parameters.number(run.key()), row -> row.getLong("dropped"))
                .getFirst();
        return new LogPage(filter.isNewest() ? lines.reversed() : lines, dropped);
    }

    private static LogLine line(ResultSet row) throws SQLException {
        return new LogLine(
                row.getLong("number"),
                row.getString("step"),
                row.getInt("position"),
                row.getInt("attempt"),
                Results.time(row, "at"),
                Level.intToLevel(row.getInt("level")),
                row.getString("logger"),
                row.getString("text"));
    }

    @Override
    public Optional<Reported> find(RunRef run, int position) {
        return query
                .byIndex(
                        sql.find,
                        parameters -> parameters.number(run.key()).integer(position),
                        row -> reported(run, row))
                .stream()
                .findFirst();
    }

    @Override
    public List<Reported> open(RunRef run) {
        return query.byIndex(sql.open, parameters -> parameters.number(run.key()), row -> reported(run, row));
    }

    private static Reported reported(RunRef run, ResultSet row) throws SQLException {
        long version = row.getLong("version");
        long heartbeatVersion = row.getLong("heartbeat_version");
        double fraction = row.getDouble("fraction");
        boolean noFraction = row.wasNull();
        Source source = new Source(
                run, version >> Integer.SIZE, row.getInt("position"), row.getString("step"), row.getInt("attempt"));
        Report report = new Report(
                source,
                version,
                noFraction ? null : fraction,
                row.getString("message"),
                heartbeatVersion == 0 ? null : new Heartbeat(heartbeatVersion, new Payload(row.getBytes("heartbeat"))));
        return new Reported(report, Results.time(row, "at"));
    }
}
