package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.Entry;

/** The statements for statistics that no filter changes. */
public final class StatisticsSql {
    /**
     * The steps of runs. Each run is looked up on its own: its first entries, the states that it has left, and the times
     * on its row. What comes before the answer of a step in time tells when the step began; a state that the run entered
     * with the answer comes after it.
     */
    private static final String STEPS = """
            SELECT s.name, s.failed, s.took
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT e.name, e.failed, e.step,
                       COALESCE(extract(epoch FROM e.at - lag(e.at) OVER (ORDER BY e.at, e.position, e.note)) * 1000000, 0)::bigint AS took
                FROM (
                    (SELECT j.at, j.position, j.note::int AS note, j.name, j.status = ${FAILURE} AS failed,
                            j.note = 0 AND j.kind IN (${STEP}, ${TRANSACTION}) AND j.status IN (${VALUE}, ${FAILURE}) AS step
                     FROM ${schema}.journal j
                     WHERE j.key = g.key AND j.position > ${INPUT} AND j.position < ${OUTCOME}
                     ORDER BY j.position, j.note
                     LIMIT ?)
                    UNION ALL
                    (SELECT v.at, ${OUTCOME}, 0, '', false, false FROM ${schema}.event v WHERE v.key = g.key ORDER BY v.number DESC LIMIT ?)
                    UNION ALL
                    SELECT t.at, ${OUTCOME}, 0, '', false, false
                    FROM ${schema}.run r CROSS JOIN LATERAL unnest(ARRAY[r.created_at, r.ran_at]) AS t (at)
                    WHERE r.key = g.key AND t.at IS NOT NULL
                ) AS e
            ) AS s
            WHERE s.step
            """;

    /**
     * Runs that were started and that ended, by second. Those that were started in the time come from a walk along the
     * index of creation. Those that were started before and ended in it come from the summaries of ends, which
     * PostgreSQL has from version 16 on.
     */
    private static final String RATES = """
            WITH asked AS MATERIALIZED (
                SELECT date_trunc('second', COALESCE(?::timestamptz, now())) AS until, ?::int * interval '1 second' AS length, ?::int AS most
            ), newest AS MATERIALIZED (
                SELECT r.created_at, r.changed_at, r.state
                FROM ${schema}.run r
                WHERE r.created_at >= (SELECT until - length FROM asked)
                ORDER BY r.created_at DESC
                LIMIT (SELECT most + 1 FROM asked)
            ), bound AS MATERIALIZED (
                SELECT a.until, a.most, CASE WHEN n.runs > a.most THEN LEAST(date_trunc('second', n.oldest) + interval '1 second', a.until)
                                             ELSE a.until - a.length END AS since
                FROM asked a, (SELECT count(*) AS runs, min(created_at) AS oldest FROM newest) AS n
            ), older AS MATERIALIZED (
                SELECT r.changed_at, r.state
                FROM ${schema}.run r
                WHERE (SELECT to_regclass('${schema}.run_state') IS NOT NULL)
                  AND r.state >= ${COMPLETED}
                  AND r.changed_at >= date_trunc('second', COALESCE(?::timestamptz, now())) - ?::int * interval '1 second'
                  AND r.changed_at < date_trunc('second', COALESCE(?::timestamptz, now()))
                  AND r.created_at < (SELECT since FROM bound)
                LIMIT (SELECT most + 1 FROM asked)
            ), happened AS (
                SELECT date_trunc('second', created_at) AS second, 1 AS started, 0 AS ended, 0 AS failed FROM newest
                UNION ALL
                SELECT date_trunc('second', changed_at), 0, 1, (state = ${FAILED})::int
                FROM newest
                WHERE state >= ${COMPLETED} AND created_at >= (SELECT since FROM bound)
                UNION ALL
                SELECT date_trunc('second', changed_at), 0, 1, (state = ${FAILED})::int FROM older
            )
            SELECT b.since, b.until, h.second, COALESCE(sum(h.started), 0)::int AS started, COALESCE(sum(h.ended), 0)::int AS ended,
                   COALESCE(sum(h.failed), 0)::int AS failed,
                   to_regclass('${schema}.run_state') IS NULL OR (SELECT count(*) FROM older) > b.most AS more
            FROM bound b
            LEFT JOIN happened h ON h.second >= b.since AND h.second < b.until
            GROUP BY b.since, b.until, b.most, h.second
            ORDER BY h.second
            """;

    /**
     * How long runs were ready until a worker took them. The first runs of each bar are found by the index of creation;
     * of each, the states that it has left last, and those that its row shows. Numbers tell which states follow each other.
     */
    private static final String WAITS = """
            SELECT w.at AS ready, (extract(epoch FROM w.taken - w.at) * 1000000)::bigint AS took
            FROM (
                SELECT timestamptz 'epoch' + u.lower * interval '1 microsecond' AS lower,
                       timestamptz 'epoch' + u.upper * interval '1 microsecond' AS upper
                FROM unnest(?::bigint[], ?::bigint[]) AS u (lower, upper)
            ) AS b
            CROSS JOIN LATERAL (
                SELECT r.key, r.changes, r.state, r.created_at, r.changed_at, r.ran_at, r.after
                FROM ${schema}.run r
                WHERE r.created_at >= b.lower AND r.created_at < b.upper
                ORDER BY r.created_at
                LIMIT ?
            ) AS t
            CROSS JOIN LATERAL (
                SELECT c.number, c.state, c.at,
                       lead(c.number) OVER later AS next, lead(c.state) OVER later AS entered, lead(c.at) OVER later AS taken
                FROM (
                    (SELECT v.number, v.state, v.at FROM ${schema}.event v WHERE v.key = t.key ORDER BY v.number DESC LIMIT ?)
                    UNION ALL
                    SELECT 0, ${first_state}, t.created_at
                    WHERE t.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event v WHERE v.key = t.key AND v.number = 0)
                    UNION ALL
                    SELECT t.changes - 1, ${RUNNING}, t.ran_at WHERE t.ran_at IS NOT NULL
                    UNION ALL
                    SELECT t.changes, t.state, t.changed_at WHERE t.state = ${RUNNING}
                ) AS c
                WINDOW later AS (ORDER BY c.number)
            ) AS w
            WHERE w.state = ${READY} AND w.entered = ${RUNNING} AND w.next = w.number + 1
            """;

    final Schema schema;
    final String steps;
    final String rates;
    final String waits;

    public StatisticsSql(Schema schema) {
        this.schema = schema;
        this.steps = schema.sql(FilterSql.SETTINGS
                + STEPS.replace("${STEP}", String.valueOf(Codes.of(Entry.Kind.STEP)))
                        .replace("${TRANSACTION}", String.valueOf(Codes.of(Entry.Kind.TRANSACTION))));
        this.rates = schema.sql(FilterSql.SETTINGS + RATES);
        this.waits = schema.sql(FilterSql.SETTINGS + WAITS.replace("${first_state}", QuerySql.firstState("t")));
    }
}
