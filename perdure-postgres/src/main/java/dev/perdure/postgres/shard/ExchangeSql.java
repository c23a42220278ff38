package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;

/** The statements about what a shard keeps for others. */
public final class ExchangeSql {
    private static final String MEMBERSHIP = "SELECT name, version, owners, number FROM ${schema}.shard";

    private static final String NEWER_MAP = "SELECT version, owners FROM ${schema}.shard WHERE version > ?";

    private static final String JOIN = """
            INSERT INTO ${schema}.shard (name, version, owners, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name
            """;

    private static final String CLOSED = "SELECT number FROM ${schema}.closed_partition";

    /** Looks into the index once for each partition, so that what waits for a shard that is down is not read again and again. */
    private static final String FIRST = """
            WITH first AS MATERIALIZED (
                SELECT o.number
                FROM unnest(?::smallint[]) AS g (to_partition)
                CROSS JOIN LATERAL (
                    SELECT number FROM ${schema}.outgoing
                    WHERE outgoing.to_partition = g.to_partition AND number > ?
                    ORDER BY number
                    LIMIT ?
                ) o
                ORDER BY o.number
                LIMIT ?
            )
            """;

    private static final String OF_FIRST = """
            SELECT number, life, to_partition, change, to_run, token, position, channel, status, name, text, payload
            FROM ${schema}.outgoing WHERE outgoing.number = first.number OFFSET 0
            """;

    private static final String OUTGOING = """
            ${first}
            SELECT o.* FROM first CROSS JOIN LATERAL (${of_first}) o ORDER BY number
            """;

    /** The same, and in each row the version of the map and whether permits are waited for: a row without a number if nothing is on its way. */
    private static final String LOOK = """
            ${first}
            SELECT (SELECT version FROM ${schema}.shard) AS version, (
                       SELECT true FROM ${schema}.share s
                       WHERE s.kind = 'LIMITER'
                         AND (SELECT true FROM ${schema}.permit p WHERE p.limiter = s.name AND p.state = 0 LIMIT 1)
                       LIMIT 1
                   ) IS TRUE AS awaited, o.*
            FROM (VALUES (1)) AS one (row)
            LEFT JOIN first ON true
            LEFT JOIN LATERAL (${of_first}) o ON true
            ORDER BY o.number
            """;

    private static final String REMOVE = """
            WITH removed AS (
                DELETE FROM ${schema}.outgoing WHERE number = ANY (?::bigint[]) RETURNING 1
            )
            SELECT count(*) FROM removed
            """;

    private static final String PARENT = """
            SELECT p.parent, p.parent_key, p.position, p.answers, p.life
            FROM ${schema}.run r
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.parent_elsewhere WHERE parent_elsewhere.key = r.key OFFSET 0) p
            WHERE r.id = ?
            """;

    /** As the children that a kill reaches, with the cancelled runs on the way. */
    private static final String BELOW = """
            WITH RECURSIVE below AS (
                SELECT r.id, r.key, r.restarts, r.state, true AS top
                FROM unnest(?::bigint[]) AS g (key)
                CROSS JOIN LATERAL (SELECT id, key, restarts, state FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                UNION
                SELECT c.id, c.key, c.restarts, c.state, false
                FROM below b
                CROSS JOIN LATERAL (
                    SELECT id, key, restarts, state, parent_restarts, parent_position
                    FROM ${schema}.run WHERE run.parent = b.key OFFSET 0
                ) c
                WHERE (b.top OR b.state = ${CANCELLED}) AND (c.state < ${COMPLETED} OR c.state = ${CANCELLED})
                      AND c.parent_restarts = b.restarts AND c.parent_position IS DISTINCT FROM ${REPORTING}
            )
            SELECT id, key, restarts, state FROM below
            """;

    private static final String CHILDREN = """
            SELECT r.id, r.key, r.restarts, r.state
            FROM unnest(?::bigint[], ?::integer[]) AS g (key, life)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.parent_elsewhere p
                WHERE p.parent_key = g.key AND p.life = g.life AND p.position <> ${REPORTING} OFFSET 0
            ) c
            CROSS JOIN LATERAL (
                SELECT id, key, restarts, state FROM ${schema}.run
                WHERE run.key = c.key AND (run.state < ${COMPLETED} OR run.state = ${CANCELLED}) OFFSET 0
            ) r
            """;

    /** Limited, and from a position that moves on, so that it ends soon, however many there are. */
    private static final String TIDY = """
            WITH seen AS MATERIALIZED (
                SELECT key, partition FROM ${schema}.parent_elsewhere WHERE key > ? ORDER BY key LIMIT 1000
            ), gone AS (
                DELETE FROM ${schema}.parent_elsewhere p USING seen
                WHERE p.key = seen.key AND p.partition = seen.partition
                  AND NOT EXISTS (SELECT FROM ${schema}.run WHERE run.key = seen.key)
            )
            SELECT CASE WHEN count(*) = 1000 THEN max(key) ELSE 0 END AS next FROM seen
            """;

    final String membership;
    final String newerMap;
    final String join;
    final String closed;
    final String outgoing;
    final String look;
    final String remove;
    final String parent;
    final String below;
    final String children;
    final String tidy;

    public ExchangeSql(Schema schema) {
        this.membership = schema.sql(MEMBERSHIP);
        this.newerMap = schema.sql(NEWER_MAP);
        this.join = schema.sql(JOIN);
        this.closed = schema.sql(CLOSED);
        this.outgoing = schema.sql(withFirst(OUTGOING));
        this.look = schema.sql(withFirst(LOOK));
        this.remove = schema.sql(REMOVE);
        this.parent = schema.sql(PARENT);
        this.below = Pieces.sql(schema, BELOW);
        this.children = Pieces.sql(schema, CHILDREN);
        this.tidy = schema.sql(TIDY);
    }

    private static String withFirst(String sql) {
        return sql.replace("${first}", FIRST).replace("${of_first}", OF_FIRST);
    }
}
