package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;

/** The statements about what a shard keeps for others. */
public final class ExchangeSql {
    private static final String MEMBERSHIP = "SELECT name, version, owners, number FROM ${schema}.shard";

    private static final String JOIN = """
            INSERT INTO ${schema}.shard (name, version, owners, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name
            """;

    private static final String CLOSED = "SELECT number FROM ${schema}.closed_partition";

    private static final String OUTGOING = """
            SELECT number, life, to_partition, change, to_run, token, position, channel, status, name, text, payload
            FROM ${schema}.outgoing
            WHERE to_partition = ANY (?::smallint[])
            ORDER BY number
            LIMIT ?
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

    private static final String LIVE_CHILDREN = """
            SELECT r.id, r.key
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.parent_elsewhere p
                WHERE p.parent_key = g.key AND p.position <> ${REPORTING} OFFSET 0
            ) c
            CROSS JOIN LATERAL (
                SELECT id, key FROM ${schema}.run WHERE run.key = c.key AND run.state < ${COMPLETED} OFFSET 0
            ) r
            """;

    private static final String HAS_CHILDREN = """
            SELECT EXISTS (
                SELECT FROM ${schema}.parent_elsewhere WHERE parent_key = ? AND answers AND position <> ${REPORTING}
            ) AS some
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
    final String join;
    final String closed;
    final String outgoing;
    final String remove;
    final String parent;
    final String liveChildren;
    final String hasChildren;
    final String tidy;

    public ExchangeSql(Schema schema) {
        this.membership = schema.sql(MEMBERSHIP);
        this.join = schema.sql(JOIN);
        this.closed = schema.sql(CLOSED);
        this.outgoing = schema.sql(OUTGOING);
        this.remove = schema.sql(REMOVE);
        this.parent = schema.sql(PARENT);
        this.liveChildren = Pieces.sql(schema, LIVE_CHILDREN);
        this.hasChildren = Pieces.sql(schema, HAS_CHILDREN);
        this.tidy = schema.sql(TIDY);
    }
}
