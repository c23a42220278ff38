package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.read.FilterSql;
import dev.perdure.postgres.write.part.Pieces;

/** The statements that read which runs of this shard others wait for. */
public final class WaitsSql {
    /** A shard that is too busy for these has more urgent work, and those who ask do not wait longer. */
    private static final String SETTINGS =
            FilterSql.SETTINGS.replaceFirst("SELECT", "SELECT length(set_config('statement_timeout', '2s', true)) +");

    /** As the calls that have waited for a while, of which a single server looks for cycles by itself. */
    private static final String HOLDERS = """
            SELECT DISTINCT o.holder AS key
            FROM ${schema}.object_call c
            JOIN ${schema}.run r ON r.key = c.key
            JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key
            WHERE c.number IS NOT NULL AND r.state = ${PENDING} AND r.changed_at < ${now} - interval '1 second'
              -- Not EXISTS, for which the server may read the whole table into a hash table.
              AND (r.parent_position <> ${REPORTING} OR (
                  SELECT true FROM ${schema}.parent_elsewhere p
                  WHERE p.key = c.key AND p.answers AND p.position <> ${REPORTING} LIMIT 1
              ) IS NOT NULL)
              AND o.holder > ?
            ORDER BY o.holder
            LIMIT ?
            """;

    /** Each run is looked up; a join might read all of them. The reasons are those of the contract. */
    private static final String WAITS = """
            SELECT g.key AS waiting, n.life, n.reason,
                   r.id, r.key, r.restarts, r.state, r.definition, c.object_type, c.object_key, r.created_at, r.changed_at
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT o.holder AS key, w.restarts AS life, 'TURN' AS reason
                FROM ${schema}.object_call l
                JOIN ${schema}.object o ON o.type = l.object_type AND o.key = l.object_key
                JOIN ${schema}.run w ON w.key = l.key
                WHERE l.key = g.key AND l.number IS NOT NULL
                UNION ALL
                SELECT called.key, called.parent_restarts, 'CALL' FROM ${schema}.run called
                WHERE called.parent = g.key AND called.parent_position <> ${REPORTING}
                UNION ALL
                SELECT p.key, p.life, 'CALL_ACROSS' FROM ${schema}.parent_elsewhere p
                WHERE p.parent_key = g.key AND p.answers AND p.position <> ${REPORTING}
            ) n
            CROSS JOIN LATERAL (
                SELECT id, key, restarts, state, definition, created_at, changed_at
                FROM ${schema}.run WHERE run.key = n.key AND run.state < ${COMPLETED} OFFSET 0
            ) r
            LEFT JOIN LATERAL (
                SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = r.key OFFSET 0
            ) c ON true
            """;

    final String holders;
    final String waits;

    public WaitsSql(Schema schema) {
        this.holders = Pieces.sql(schema, SETTINGS + HOLDERS);
        this.waits = Pieces.sql(schema, SETTINGS + WAITS);
    }
}
