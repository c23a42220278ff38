package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;

/**
 * The statements by which a batch locks everything that it will touch, in one ordered pass. The rules of
 * {@link LedgerSql} apply.
 */
public final class LockSql {
    /** Locks the lane and every run that the batch moves, in the order of their keys. */
    private static final String LOCK = """
            WITH ${fence}, wanted AS (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key) ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (
                SELECT FROM ${schema}.run WHERE run.key = wanted.key AND run.partition = wanted.key & 255 FOR NO KEY UPDATE
            ) locked
            -- A dead worker locks nothing, because the sweep would skip what it locks.
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /**
     * The same for a batch that also touches other runs: the receivers of its commands and mail, the parents that wait
     * for runs that it ends, by key or by id, the runs that come after those, the tasks of runs that it kills or runs
     * again, and the next calls of virtual objects that it may free.
     */
    private static final String LOCK_ALL = """
            WITH ${fence}, wanted AS (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                UNION ALL
                SELECT r.key
                FROM unnest(?::text[]) AS addressed (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = addressed.id OFFSET 0) r
                UNION ALL
                SELECT unnest(r.others)
                FROM unnest(?::bigint[]) AS ending (key)
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN parent_position IS NULL THEN before ELSE array_append(before, parent) END AS others
                    FROM ${schema}.run WHERE run.key = ending.key OFFSET 0
                ) r
                UNION ALL
                SELECT unnest(r.others)
                FROM unnest(?::text[]) AS ending (id)
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN parent_position IS NULL THEN before ELSE array_append(before, parent) END AS others
                    FROM ${schema}.run WHERE run.id = ending.id OFFSET 0
                ) r
                UNION ALL
                SELECT t.key
                FROM unnest(?::text[]) AS dag (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = dag.id OFFSET 0) r
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.run WHERE run.parent = r.key AND run.before IS NOT NULL OFFSET 0
                ) t
                UNION ALL
                SELECT w.key
                FROM (
                    SELECT c.object_type, c.object_key, count(*) AS ends
                    FROM (
                        SELECT key FROM unnest(?::bigint[]) AS holder (key)
                        UNION ALL
                        SELECT r.key
                        FROM unnest(?::text[]) AS ending (id)
                        CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = ending.id OFFSET 0) r
                    ) holder
                    CROSS JOIN LATERAL (
                        SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = holder.key OFFSET 0
                    ) c
                    GROUP BY c.object_type, c.object_key
                ) freed
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.object_call
                    WHERE object_type = freed.object_type AND object_key = freed.object_key AND number IS NOT NULL
                    ORDER BY number
                    -- Each run that ends may itself wait for the object.
                    LIMIT freed.ends + 1
                ) w
                ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (SELECT FROM ${schema}.run WHERE run.key = wanted.key FOR NO KEY UPDATE) locked
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /** The same for a batch that touches only the runs that it moves and the runs that come after these. */
    private static final String LOCK_AFTER = """
            WITH ${fence}, wanted AS (
                SELECT key FROM (
                    SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                    UNION
                    SELECT unnest(r.before)
                    FROM unnest(?::bigint[]) AS ending (key)
                    CROSS JOIN LATERAL (SELECT before FROM ${schema}.run WHERE run.key = ending.key OFFSET 0) r
                ) AS each_once
                ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (SELECT FROM ${schema}.run WHERE run.key = wanted.key FOR NO KEY UPDATE) locked
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    public final String lock;
    public final String lockAfter;
    public final String lockAll;

    LockSql(Schema schema) {
        this.lock = Pieces.sql(schema, LOCK);
        this.lockAfter = Pieces.sql(schema, LOCK_AFTER);
        this.lockAll = Pieces.sql(schema, LOCK_ALL);
    }
}
