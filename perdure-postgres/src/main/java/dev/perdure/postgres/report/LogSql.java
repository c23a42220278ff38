package dev.perdure.postgres.report;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;
import dev.perdure.spi.report.Reports;

/** The statements about log lines. The rules of {@link LedgerSql} and the locks of {@link ReportSql} apply. */
public final class LogSql {
    /**
     * Writes lines behind the last line of their run. The worker holds the run, or held it earlier: a run often moves on
     * before its lines are written. The lower half of a number counts the lines of one epoch, so it tells how many were
     * dropped before they came here.
     */
    private static final String WRITE = """
            WITH ${fence}, given AS MATERIALIZED (
                SELECT g.* FROM ${lines}
            ), accepted AS MATERIALIZED (
                SELECT g.key, r.epoch, r.own, r.partition, COALESCE(b.number, 0) AS number, COALESCE(b.ordinal, 0) AS ordinal,
                       COALESCE(b.through, 0) AS through
                FROM (SELECT DISTINCT key FROM given) g
                CROSS JOIN LATERAL (
                    SELECT epoch, partition, (run.owner = ? OR run.owner IS NULL) AS own FROM ${schema}.run
                    WHERE run.key = g.key AND run.removed_at IS NULL
                    FOR KEY SHARE SKIP LOCKED
                ) r
                LEFT JOIN LATERAL (
                    SELECT number, ordinal, through FROM ${schema}.log_line
                    WHERE log_line.key = g.key
                    ORDER BY number DESC
                    LIMIT 1
                ) b ON true
                WHERE EXISTS (SELECT FROM fence)
            ), counted AS MATERIALIZED (
                SELECT g.*, a.partition, a.ordinal AS ordinal_before, a.through AS through_before,
                       (g.number & ${LOWER}) - COALESCE(
                           lag(g.number & ${LOWER}) OVER (PARTITION BY g.key, g.epoch ORDER BY g.number),
                           CASE WHEN g.epoch = a.number >> 32 THEN a.number & ${LOWER} ELSE 0 END) AS more
                FROM given g JOIN accepted a ON a.key = g.key
                WHERE g.number > a.number AND (g.epoch < a.epoch OR g.epoch = a.epoch AND a.own)
            ), numbered AS MATERIALIZED (
                SELECT c.*, ordinal_before + sum(more) OVER (PARTITION BY key ORDER BY number) AS ordinal,
                       through_before + sum(size) OVER (PARTITION BY key ORDER BY number) AS through
                FROM counted c
            ), reached AS MATERIALIZED (
                SELECT key, max(ordinal) AS ordinal, max(through) AS through FROM numbered GROUP BY key
            ), written AS (
                INSERT INTO ${schema}.log_line (key, number, ordinal, through, at, position, attempt, partition, level, step, logger, text)
                SELECT n.key, n.number, n.ordinal, n.through, timestamptz 'epoch' + n.at * interval '1 microsecond', n.position, n.attempt,
                       n.partition, n.level, n.step, n.logger, n.text
                FROM numbered n JOIN reached e ON e.key = n.key
                WHERE n.ordinal > e.ordinal - ${LINES} AND e.through - n.through + n.size <= ${BYTES}
                RETURNING 1
            ), dropped AS (
                DELETE FROM ${schema}.log_line WHERE ctid = ANY (ARRAY(
                    SELECT l.ctid
                    FROM reached e
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.log_line
                        WHERE log_line.key = e.key AND (
                            ordinal <= e.ordinal - ${LINES}
                            OR e.through - through + octet_length(logger) + octet_length(text) > ${BYTES})
                        OFFSET 0
                    ) l))
            )
            SELECT count(*) FROM written
            """;

    private static final String READ = """
            SELECT number, at, position, attempt, level, step, logger, text
            FROM ${schema}.log_line
            WHERE key = ? AND number > ?
            ORDER BY number ${order}
            LIMIT ?
            """;

    private static final String DROPPED = """
            SELECT COALESCE(max(ordinal), 0) - count(*) AS dropped FROM ${schema}.log_line WHERE key = ?
            """;

    final String write;
    final String oldest;
    final String newest;
    final String dropped;

    public LogSql(Schema schema, LedgerSql ledger) {
        this.write = ledger.settings + ";\n"
                + Pieces.sql(
                        schema,
                        WRITE.replace("${lines}", ReportColumns.LINES.many("g"))
                                .replace("${LOWER}", String.valueOf(0xFFFF_FFFFL))
                                .replace("${LINES}", String.valueOf(Reports.MOST_LINES))
                                .replace("${BYTES}", String.valueOf(Reports.MOST_BYTES)));
        this.oldest = ledger.settings + ";\n" + schema.sql(READ.replace("${order}", "ASC"));
        this.newest = ledger.settings + ";\n" + schema.sql(READ.replace("${order}", "DESC"));
        this.dropped = ledger.settings + ";\n" + schema.sql(DROPPED);
    }
}
