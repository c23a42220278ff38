package dev.perdure.postgres.read;

import dev.perdure.RunFilter.Period;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.statistics.Statistics.Span;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;

/**
 * The statements that count runs over time.
 *
 * <p>How it works: the planner's estimate tells how many runs there are. Few runs are all counted, in one pass. Of many,
 * only slices of the time are looked at, the same number in every bar and spread evenly over it, each by the index of
 * creation; the counts are scaled up. So the cost does not grow with the number of runs.
 */
final class HistogramSql {
    /** Up to how many runs all are counted, and about how many are looked at if there are more. */
    static final int EXACT = 5_000;

    /** How many runs are counted at most, if the estimate is too low. */
    private static final int MOST = 2 * EXACT;

    /** How many runs are counted by their ends, which no index of slices finds. */
    private static final int MOST_ENDED = 40_000;

    /** How many slices there are about, in all bars. */
    private static final int SLICES = 480;

    private static final int MOST_OF_SLICE = 1_000;

    private static final String ESTIMATE = "EXPLAIN SELECT FROM ${from} WHERE ${conditions}";

    private static final String EXACTLY = """
            SELECT greatest(0, width_bucket(seen.at, ARRAY(SELECT timestamptz 'epoch' + m * interval '1 microsecond' FROM unnest(?::bigint[]) AS m)) - 1) AS bar,
                   seen.state, count(*)::int AS runs
            FROM (SELECT ${at} AS at, r.state FROM ${from} WHERE ${conditions} LIMIT ?) AS seen
            GROUP BY 1, 2
            """;

    private static final String SAMPLED = """
            SELECT g.bar, s.state, count(*)::int AS runs
            FROM (
                SELECT timestamptz 'epoch' + u.lower * interval '1 microsecond' AS lower,
                       timestamptz 'epoch' + u.upper * interval '1 microsecond' AS upper, u.bar
                FROM unnest(?::bigint[], ?::bigint[], ?::int[]) AS u (lower, upper, bar)
            ) AS g
            CROSS JOIN LATERAL (
                SELECT r.state FROM ${from} WHERE ${conditions} AND ${created_at} >= g.lower AND ${created_at} < g.upper LIMIT ?
            ) AS s
            GROUP BY 1, 2
            """;

    private final Schema schema;
    private final FilterSql selected;
    private final Span span;

    HistogramSql(Schema schema, RunSelection selection, Span span) {
        this.schema = schema;
        this.span = span;
        this.selected = FilterSql.of(selection);
        Period whole = new Period(span.from(), span.to());
        if (span.ended()) {
            selected.addEnded(whole);
        } else {
            selected.addPeriod("${created_at}", whole);
        }
    }

    private String text(String statement) {
        return schema.sql(FilterSql.SETTINGS + selected.in(statement));
    }

    /** How many runs there are, as the planner estimates. */
    FilterSql.Statement estimate() {
        return new FilterSql.Statement(text(ESTIMATE), selected::bind);
    }

    /** How many runs {@link #exact} counts. */
    int most() {
        return span.ended() ? MOST_ENDED : MOST;
    }

    /** Counts all runs, up to {@link #most()} and one more. */
    FilterSql.Statement exact() {
        String at = span.ended() ? "r.changed_at" : "${created_at}";
        long[] begins = IntStream.range(0, span.bars())
                .mapToLong(bar -> Micros.of(span.begin(bar)))
                .toArray();
        return new FilterSql.Statement(text(EXACTLY.replace("${at}", at)), parameters -> {
            parameters.longs(begins);
            selected.bind(parameters);
            parameters.integer(most() + 1);
        });
    }

    /**
     * Counts the runs of slices.
     *
     * @param part which part of the time to look at
     */
    FilterSql.Statement sampled(double part) {
        int ofBar = Math.max(1, SLICES / span.bars());
        int slices = span.bars() * ofBar;
        long[] lower = new long[slices];
        long[] upper = new long[slices];
        int[] bars = new int[slices];
        for (int slice = 0; slice < slices; slice++) {
            bars[slice] = slice / ofBar;
            Instant begin = span.begin(bars[slice]);
            Duration width =
                    Duration.between(begin, span.begin(bars[slice] + 1)).dividedBy(ofBar);
            lower[slice] = Micros.of(begin.plus(width.multipliedBy(slice % ofBar)));
            upper[slice] = lower[slice] + Math.max(1, Math.round(width.toNanos() / 1_000.0 * part));
        }
        return new FilterSql.Statement(text(SAMPLED), parameters -> {
            parameters.longs(lower).longs(upper).ints(bars);
            selected.bind(parameters);
            parameters.integer(MOST_OF_SLICE);
        });
    }
}
