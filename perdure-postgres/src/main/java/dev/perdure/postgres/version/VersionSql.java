package dev.perdure.postgres.version;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Schema;

/** The statements about versions of workers. */
public final class VersionSql {
    private static final String DRAIN = """
            WITH done AS (
                INSERT INTO ${schema}.drain (version, definition, since) VALUES (?, ?, COALESCE(?::timestamptz, now()))
                ON CONFLICT (version, definition) DO NOTHING
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
            """;

    /** Without a definition, the version is no longer told anything. */
    private static final String RESUME = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS version, ?::text AS definition
            ), done AS (
                DELETE FROM ${schema}.drain d USING given g
                WHERE d.version = g.version AND (g.definition = '' OR d.definition = g.definition)
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
            """;

    private static final String DRAINS = "SELECT definition FROM ${schema}.drain WHERE version = ?";

    private static final String OBEYS = """
            WITH done AS (
                UPDATE ${schema}.worker SET drains = ?::text[] WHERE id = ? AND NOT dead RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /**
     * A row for each definition of a version. Reads only pinned runs that have not ended. A worker whose lease is over is
     * not counted, but it may still write until a sweep has removed its lanes: so it counts as one that does not obey.
     */
    private static final String LIST = """
            WITH pinned AS MATERIALIZED (
                SELECT live_version AS version, definition, count(*) AS runs FROM ${schema}.run
                WHERE live_version IS NOT NULL
                GROUP BY live_version, definition
            ), member AS MATERIALIZED (
                SELECT version, definitions, drains, expires_at > clock_timestamp() AS alive
                FROM ${schema}.worker
                WHERE NOT dead AND version IS NOT NULL
            ), registered AS MATERIALIZED (
                SELECT m.version, d.definition, count(*) AS workers
                FROM member m CROSS JOIN LATERAL unnest(m.definitions) AS d (definition)
                WHERE m.alive
                GROUP BY m.version, d.definition
            )
            SELECT version, definition, COALESCE(p.runs, 0) AS runs, COALESCE(r.workers, 0) AS workers,
                   (SELECT count(*) FROM member m WHERE m.version = each.version AND m.alive) AS version_workers,
                   NOT EXISTS (SELECT FROM member m WHERE m.version = each.version AND '' <> ALL (m.drains)) AS all_obey,
                   EXISTS (SELECT FROM ${schema}.drain d WHERE d.version = each.version AND d.definition = '') AS told,
                   t.draining,
                   t.draining AND p.runs IS NULL AND NOT EXISTS (
                       SELECT FROM member m WHERE m.version = each.version AND NOT m.drains && ARRAY['', each.definition]
                   ) AS drained
            FROM (SELECT version, definition FROM pinned UNION SELECT version, definition FROM registered) AS each
            LEFT JOIN pinned p USING (version, definition)
            LEFT JOIN registered r USING (version, definition)
            CROSS JOIN LATERAL (
                SELECT EXISTS (
                    SELECT FROM ${schema}.drain d WHERE d.version = each.version AND d.definition IN ('', each.definition)
                ) AS draining
            ) AS t
            ORDER BY version, definition
            """;

    private static final String WORKERS = """
            SELECT w.id, w.version, w.definitions, COALESCE(w.queues, '{}') AS queues, ${labels} AS labels, w.expires_at, w.heap_used, w.heap_max, w.drains,
                   (SELECT count(*)::int FROM ${schema}.held h WHERE h.worker = w.number) AS held
            FROM ${schema}.worker w
            WHERE NOT w.dead AND w.expires_at > clock_timestamp()
            ORDER BY w.id
            """;

    private static final String IS_DRAINED = """
            SELECT EXISTS (SELECT FROM ${schema}.drain d WHERE d.version = g.version AND d.definition = '')
                   AND NOT EXISTS (SELECT FROM ${schema}.worker w WHERE w.version = g.version AND NOT w.dead AND '' <> ALL (w.drains))
                   AND (SELECT true FROM ${schema}.run r WHERE r.live_version = g.version LIMIT 1) IS NULL AS drained
            FROM (SELECT ?::text AS version) AS g
            """;

    final String drain;
    final String resume;
    final String drains;
    final String obeys;
    final String list;
    final String workers;
    final String isDrained;

    public VersionSql(Schema schema) {
        this.drain = schema.sql(DRAIN.replace("${audited}", AuditText.WHEN_DONE));
        this.resume = schema.sql(RESUME.replace("${audited}", AuditText.WHEN_DONE));
        this.drains = schema.sql(DRAINS);
        this.obeys = schema.sql(OBEYS);
        this.list = schema.sql(LIST);
        this.workers = schema.sql(WORKERS.replace("${labels}", Json.pairs("w.labels")));
        this.isDrained = schema.sql(IS_DRAINED);
    }
}
