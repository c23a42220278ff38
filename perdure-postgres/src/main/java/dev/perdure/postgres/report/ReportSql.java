package dev.perdure.postgres.report;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;

/**
 * The statements about what steps report. The rules of {@link LedgerSql} apply.
 *
 * <p>Lock order: lane, then runs, whose key nobody may delete until the commit, so that no report outlives its run. A
 * run that is being removed is skipped. Nothing that changes a run waits for such a lock.
 */
public final class ReportSql {
    /**
     * Writes reports of runs that the worker holds, or held last. A report of a later life of the run has a higher
     * version, because a later life has a later epoch.
     */
    private static final String WRITE = """
            WITH ${fence}, ${clock}, accepted AS MATERIALIZED (
                SELECT g.*, r.restarts, r.partition
                FROM ${reports}
                CROSS JOIN LATERAL (
                    SELECT restarts, partition FROM ${schema}.run
                    WHERE run.key = g.key AND run.epoch = g.epoch AND (run.owner = ? OR run.owner IS NULL) AND run.removed_at IS NULL
                    FOR KEY SHARE SKIP LOCKED
                ) r
                WHERE EXISTS (SELECT FROM fence)
            ), written AS (
                INSERT INTO ${schema}.report AS o (
                    key, version, heartbeat_version, at, fraction, position, attempt, restarts, partition, step, message, heartbeat)
                SELECT key, version, heartbeat_version, clock.at, fraction, position, attempt, restarts, partition, step, message, heartbeat
                FROM accepted CROSS JOIN clock
                ON CONFLICT (key, position, partition) DO UPDATE SET
                    version = excluded.version, at = excluded.at, fraction = excluded.fraction, attempt = excluded.attempt,
                    restarts = excluded.restarts, step = excluded.step, message = excluded.message,
                    heartbeat_version = CASE WHEN o.restarts = excluded.restarts
                        THEN GREATEST(o.heartbeat_version, excluded.heartbeat_version) ELSE excluded.heartbeat_version END,
                    heartbeat = CASE WHEN o.restarts = excluded.restarts AND o.heartbeat_version > excluded.heartbeat_version
                        THEN o.heartbeat ELSE excluded.heartbeat END
                    WHERE o.version < excluded.version
                RETURNING 1
            )
            SELECT count(*) FROM written
            """;

    private static final String READ = """
            SELECT o.version, o.heartbeat_version, o.at, o.fraction, o.position, o.attempt, o.step, o.message, o.heartbeat
            FROM ${schema}.report o
            CROSS JOIN LATERAL (
                SELECT state FROM ${schema}.run WHERE run.key = o.key AND run.restarts = o.restarts OFFSET 0
            ) r
            WHERE o.key = ? AND ${condition}
            ORDER BY o.position
            """;

    private static final String AT_POSITION = "o.position = ?";

    /** The last step of a run that has completed may have no answer of its own. */
    private static final String WITHOUT_ANSWER = """
            r.state <> ${COMPLETED} AND (
                SELECT true FROM ${schema}.journal j WHERE j.key = o.key AND j.position = o.position AND j.note = 0 LIMIT 1
            ) IS NULL""";

    final String write;
    final String find;
    final String open;

    public ReportSql(Schema schema, LedgerSql ledger) {
        this.write = ledger.settings + ";\n"
                + Pieces.sql(schema, WRITE.replace("${reports}", ReportColumns.REPORTS.many("g")));
        this.find = ledger.settings + ";\n" + Pieces.sql(schema, READ.replace("${condition}", AT_POSITION));
        this.open = ledger.settings + ";\n" + Pieces.sql(schema, READ.replace("${condition}", WITHOUT_ANSWER));
    }
}
