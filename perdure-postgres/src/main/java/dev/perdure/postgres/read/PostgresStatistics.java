package dev.perdure.postgres.read;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.statistics.Statistics;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads many runs at once. */
public final class PostgresStatistics implements Statistics {
    private static final int MOST_CHANGES = 200;
    private static final Pattern ESTIMATED_ROWS = Pattern.compile("rows=(\\d+)");

    private final Database database;
    private final Query query;
    private final StatisticsSql sql;

    public PostgresStatistics(Database database, Schema schema) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new StatisticsSql(schema);
    }

    private <T> List<T> all(FilterSql.Statement statement, Query.Reader<T> reader) {
        return query.readableByIndex(statement.text(), statement.binding(), reader);
    }

    @Override
    public List<Seen> newest(RunSelection selection, Duration within, int limit) {
        return all(
                FilterSql.newest(sql.schema, selection, within, limit, database.time()),
                row -> new Seen(
                        new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                        row.getString("definition"),
                        Codes.state(row.getInt("state")),
                        Results.time(row, "created_at"),
                        Results.time(row, "changed_at")));
    }

    @Override
    public List<StepTime> steps(Collection<RunRef> runs, int most) {
        return query.byIndex(
                sql.steps,
                parameters -> parameters
                        .longs(runs.stream().mapToLong(RunRef::key).toArray())
                        .integer(most)
                        .integer(MOST_CHANGES),
                row -> new StepTime(
                        row.getString("name"),
                        row.getBoolean("failed"),
                        Duration.of(row.getLong("took"), ChronoUnit.MICROS)));
    }

    /** A second, or none if nothing has happened. */
    private record Row(
            Instant since, Instant until, @Nullable Second second, boolean more) {
        static Row of(ResultSet row) throws SQLException {
            Instant begin = Results.timeOrNull(row, "second");
            return new Row(
                    Results.time(row, "since"),
                    Results.time(row, "until"),
                    begin == null
                            ? null
                            : new Second(begin, row.getInt("started"), row.getInt("ended"), row.getInt("failed")),
                    row.getBoolean("more"));
        }
    }

    @Override
    public Rates rates(int seconds, int most) {
        Instant time = database.time();
        List<Row> rows = query.byIndex(
                sql.rates,
                parameters -> parameters
                        .time(time)
                        .integer(seconds)
                        .integer(most)
                        .time(time)
                        .integer(seconds)
                        .time(time),
                Row::of);
        List<Second> happened = new ArrayList<>();
        for (Row row : rows) {
            if (row.second() != null) {
                happened.add(row.second());
            }
        }
        Row any = rows.getFirst();
        return new Rates(any.since(), any.until(), happened, any.more());
    }

    @Override
    public Histogram histogram(RunSelection selection, Span span) {
        HistogramSql statements = new HistogramSql(sql.schema, selection, span);
        double part = span.ended() ? 1 : (double) HistogramSql.EXACT / estimated(statements);
        List<Map<RunState, Long>> bars = new ArrayList<>();
        for (int bar = 0; bar < span.bars(); bar++) {
            bars.add(new EnumMap<>(RunState.class));
        }
        if (part >= 1) {
            long runs = count(statements.exact(), bars, 1);
            return new Histogram(bars, 1, runs > statements.most());
        }
        count(statements.sampled(part), bars, part);
        return new Histogram(bars, part, false);
    }

    @Override
    public List<Wait> waits(Span span, int most) {
        long[] begins = IntStream.rangeClosed(0, span.bars())
                .mapToLong(bar -> Micros.of(span.begin(bar)))
                .toArray();
        return query.byIndex(
                sql.waits,
                parameters -> parameters
                        .longs(Arrays.copyOfRange(begins, 0, span.bars()))
                        .longs(Arrays.copyOfRange(begins, 1, span.bars() + 1))
                        .integer(most)
                        .integer(MOST_CHANGES),
                row -> new Wait(Results.time(row, "ready"), Duration.of(row.getLong("took"), ChronoUnit.MICROS)));
    }

    private long estimated(HistogramSql statements) {
        Matcher rows = ESTIMATED_ROWS.matcher(
                all(statements.estimate(), row -> row.getString(1)).getFirst());
        return rows.find() ? Math.max(1, Long.parseLong(rows.group(1))) : 1;
    }

    /** Counts runs into bars, and returns how many it has seen. */
    private long count(FilterSql.Statement statement, List<Map<RunState, Long>> bars, double part) {
        List<Integer> seen = all(statement, row -> {
            int runs = row.getInt("runs");
            bars.get(row.getInt("bar")).put(Codes.state(row.getInt("state")), Math.round(runs / part));
            return runs;
        });
        return seen.stream().mapToLong(Integer::longValue).sum();
    }
}
