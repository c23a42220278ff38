package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;

/** The statements that move a run to another queue or version. */
public final class ReassignSql {
    private static final String LOCK = "SELECT key FROM ${schema}.run WHERE id = ? FOR NO KEY UPDATE";

    /** The run as it is under the lock, if it is the one that the sender saw. */
    private static final String FIND = """
            SELECT r.key, r.state, r.epoch, r.changed_at, ${now} AS at,
                   r.after IS NOT NULL OR r.before IS NOT NULL AS of_dag,
                   EXISTS (SELECT FROM ${schema}.object_call c WHERE c.key = r.key) AS calls,
                   (g.queue IS NULL OR r.queue = g.queue) AND (g.version IS NULL OR r.version IS NOT DISTINCT FROM g.version)
                   OR EXISTS (SELECT FROM ${schema}.audit a WHERE a.id = g.entry) AS done
            FROM (SELECT ?::text AS id, ?::text AS queue, ?::text AS version, ?::uuid AS entry) g
            JOIN ${schema}.run r ON r.id = g.id
            WHERE r.created_at = ?::timestamptz
            """;

    /** A run that waits for a worker waits in the new queue from now on. Its place in the old one is free. */
    private static final String MOVE = """
            WITH given AS MATERIALIZED (
                SELECT ?::bigint AS key, ?::text AS queue, ?::text AS version, ?::timestamptz AS at
            ), moved AS (
                UPDATE ${schema}.run SET queue = COALESCE(g.queue, run.queue), version = COALESCE(g.version, run.version)
                FROM given g
                WHERE run.key = g.key
                RETURNING run.key, run.queue, run.version, run.placement
            ), requeued AS (
                UPDATE ${schema}.ready SET
                    queue = m.queue, version = COALESCE(m.version, '') || COALESCE(E'\\n' || m.placement, ''), since = g.at
                FROM moved m
                CROSS JOIN given g
                WHERE ready.key = m.key
            ), freed AS (
                DELETE FROM ${schema}.slot USING given g WHERE slot.key = g.key AND g.queue IS NOT NULL
            )
            SELECT count(*) FROM moved
            """;

    public final String lock;
    public final String find;
    public final String move;

    public ReassignSql(Schema schema) {
        this.lock = Pieces.sql(schema, LOCK);
        this.find = Pieces.sql(schema, FIND);
        this.move = Pieces.sql(schema, MOVE);
    }
}
