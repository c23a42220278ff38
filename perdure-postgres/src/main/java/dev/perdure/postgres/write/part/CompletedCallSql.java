package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.CompletedCalls;

/**
 * The statement of a batch for calls of virtual objects that begin and end in it. The rules of {@link LedgerSql} and
 * {@link ObjectSql} apply. It comes after the runs of the batch have ended and before their objects are passed on.
 */
public final class CompletedCallSql {
    /**
     * Inserts calls that have already ended: all calls that follow one another at one object, or none. The call that
     * holds the object must have ended. Only the batch that ended it sees such a holder, because the same batch passes
     * the object on. No call may wait for the object except those of this batch and those that are listed.
     */
    private static final String START_AND_END = """
            WITH ${clock}, pipeline AS MATERIALIZED (
                SELECT t.ordinal
                FROM ${lines}
                CROSS JOIN LATERAL (
                    SELECT holder FROM ${schema}.object WHERE object.type = t.type AND object.key = t.object OFFSET 0
                ) o
                CROSS JOIN LATERAL (
                    SELECT FROM ${schema}.run WHERE run.key = o.holder AND run.state >= ${COMPLETED} OFFSET 0
                ) holder
                -- A call that another transaction ended before its turn has another epoch.
                CROSS JOIN LATERAL (
                    SELECT FROM ${schema}.run
                    WHERE run.key = t.follows AND run.epoch = t.epoch AND run.state >= ${COMPLETED} OFFSET 0
                ) before
                WHERE ${lane_exists}
                  AND (
                      SELECT c.key FROM ${schema}.object_call c
                      WHERE c.object_type = t.type AND c.object_key = t.object AND c.number IS NOT NULL
                        AND c.key <> ALL (?::bigint[])
                        AND (SELECT id FROM ${schema}.run WHERE run.key = c.key) <> ALL (?::text[])
                      LIMIT 1
                  ) IS NULL
            ), given AS MATERIALIZED (
                SELECT g.*, (g.key & 255)::smallint AS partition, clock.at
                FROM ${calls}
                JOIN pipeline ON pipeline.ordinal = g.pipeline
                CROSS JOIN clock
            ), born AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, changes, partition, state, reason)
                SELECT ${run_columns}, key, 1, at, at, 1, partition, state, reason FROM given
            ), appended AS (
                ${input FROM given}
                UNION ALL
                ${append.select(partition = g.partition, at = g.at) FROM given g JOIN ${entries} ON e.key = g.key}
            ), called AS (
                ${call FROM given}
            )
            SELECT key, at FROM given
            """;

    public final String startAndEnd;

    CompletedCallSql(Schema schema) {
        this.startAndEnd = Pieces.sql(
                schema,
                START_AND_END
                        .replace("${calls}", CompletedCalls.CALLS.many("g"))
                        .replace("${lines}", CompletedCalls.LINES.numbered("t")));
    }
}
