package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Described;

/** The statements for attributes and the status of runs. The rules of {@link LedgerSql} apply. */
final class DescriptionSql {
    /**
     * Changes the row of a run that the worker holds, and removes the rows of attributes that it sets. A null removes an
     * attribute.
     */
    private static final String DESCRIBE = """
            WITH acting AS MATERIALIZED (
                SELECT g.key, g.attributes, g.status
                FROM ${described}
                CROSS JOIN LATERAL (SELECT state, epoch, owner FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE ${lane_exists} AND r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ?
            ), former AS (
                DELETE FROM ${schema}.attribute WHERE ctid = ANY (ARRAY(
                    SELECT f.ctid
                    FROM acting a
                    CROSS JOIN LATERAL jsonb_object_keys(a.attributes) AS set_now (name)
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.attribute WHERE attribute.key = a.key AND attribute.name = set_now.name OFFSET 0
                    ) f))
            ), done AS (
                UPDATE ${schema}.run SET
                    attributes = NULLIF(jsonb_strip_nulls(COALESCE(run.attributes, '{}') || a.attributes), '{}'),
                    status = COALESCE(a.status, run.status)
                FROM acting a
                WHERE run.key = ANY (ARRAY(SELECT key FROM acting)) AND run.key = a.key
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /**
     * Makes the rows by which the attributes of these runs are found, if they are not there. By encrypted ones no run is
     * found, nor by those of kinds that only a newer version knows.
     */
    private static final String INDEX = """
            WITH done AS (
                INSERT INTO ${schema}.attribute (key, created_at, at, number, partition, name, kind, value)
                SELECT r.key, r.created_at, CASE v.kind WHEN 'time' THEN v.value::timestamptz END,
                       CASE v.kind WHEN 'number' THEN v.value::numeric END, r.partition, v.name, v.kind, v.value
                FROM unnest(?::bigint[]) AS g (key)
                CROSS JOIN LATERAL (
                    SELECT key, partition, created_at, attributes FROM ${schema}.run WHERE run.key = g.key OFFSET 0
                ) r
                CROSS JOIN LATERAL ${schema}.attribute_values(r.attributes) AS v
                WHERE v.kind IN ('text', 'number', 'flag', 'time', 'keywords')
                ON CONFLICT DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    final String describe;
    final String index;

    DescriptionSql(Schema schema) {
        this.describe = Pieces.sql(schema, Described.put(DESCRIBE));
        this.index = Pieces.sql(schema, INDEX);
    }
}
