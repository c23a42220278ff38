package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Schema;

/** The statements that read what runs of other shards have started here. */
public final class LinksSql {
    private static final String LIFE = "SELECT restarts FROM ${schema}.run WHERE key = ?";

    /** Selects the children of a life of a run of another shard, in place of those of a run that is here. */
    private static final String CHILDREN = """
            r.key = ANY (ARRAY(
                SELECT p.key FROM ${schema}.parent_elsewhere p
                WHERE p.parent_key = ? AND p.life = ? AND p.position <> ${REPORTING}))""";

    /** Along the index of the links, of which each has the time of creation of its run. */
    private static final String NEXT_CHILDREN = """
            SELECT p.key, p.created_at, 0 AS edges, p.life = ? AND p.position <> ${REPORTING} AS wanted
            FROM (
                SELECT * FROM ${schema}.parent_elsewhere
                WHERE parent_key = ? AND (created_at, key) > (?::timestamptz, ?)
                ORDER BY created_at, key
                LIMIT ?
            ) AS p
            ORDER BY p.created_at, p.key
            """;

    /** The children of each run are looked up; a join might read the children of all runs. */
    private static final String TREE = """
            WITH RECURSIVE tree AS (
                SELECT r.key
                FROM unnest(?::bigint[]) AS g (key)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                UNION
                SELECT c.key
                FROM tree
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.run
                    WHERE run.parent = tree.key AND run.parent_position IS DISTINCT FROM ${REPORTING}
                    OFFSET 0
                ) c
            )
            SELECT key FROM tree
            """;

    private static final String STARTED_BY = """
            SELECT c.key
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.parent_elsewhere p
                WHERE p.parent_key = g.key AND p.position <> ${REPORTING}
                OFFSET 0
            ) c
            """;

    final Schema schema;
    final String life;
    final String children;
    final String childrenChanges;
    final String nextChildren;
    final String tree;
    final String startedBy;

    public LinksSql(Schema schema) {
        this.schema = schema;
        this.life = schema.sql(LIFE);
        this.children = QuerySql.started(schema, CHILDREN);
        this.childrenChanges = QuerySql.startedChanges(schema, CHILDREN);
        this.nextChildren = schema.sql(FilterSql.SETTINGS + NEXT_CHILDREN);
        this.tree = schema.sql(FilterSql.SETTINGS + TREE);
        this.startedBy = schema.sql(FilterSql.SETTINGS + STARTED_BY);
    }
}
