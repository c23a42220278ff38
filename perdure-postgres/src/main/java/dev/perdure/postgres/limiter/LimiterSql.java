package dev.perdure.postgres.limiter;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Schema;

/** The statements about limiters themselves. */
public final class LimiterSql {
    private static final String DECLARE = """
            WITH done AS (
                INSERT INTO ${schema}.limiter AS l (name, declared)
                SELECT name, COALESCE(declared, '{}') FROM unnest(?::text[], ?::jsonb[]) AS g (name, declared) ORDER BY name
                ON CONFLICT (name) DO UPDATE SET declared = excluded.declared WHERE l.declared <> excluded.declared
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** An order that changes nothing is not recorded. The count says whether there is such a limiter. */
    private static final String LIMIT = """
            WITH given AS MATERIALIZED (
                SELECT COALESCE(?::jsonb, '{}') AS changes, ?::text AS name
            ), done AS (
                UPDATE ${schema}.limiter SET changed = limiter.changed || g.changes
                FROM given g
                WHERE limiter.name = g.name AND limiter.changed IS DISTINCT FROM limiter.changed || g.changes
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.limiter WHERE name = (SELECT name FROM given)
            """;

    private static final String PAUSE = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS reason, ?::text AS name
            ), done AS (
                UPDATE ${schema}.limiter SET paused = g.reason
                FROM given g
                WHERE limiter.name = g.name AND limiter.paused IS DISTINCT FROM g.reason
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.limiter WHERE name = (SELECT name FROM given)
            """;

    /** The share of a shard is not what an operator has changed. */
    private static final String RESET = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS name
            ), done AS (
                UPDATE ${schema}.limiter SET changed = CASE WHEN jsonb_exists(limiter.changed, 'division') THEN jsonb_build_object(
                        'concurrency', limiter.changed->'concurrency', 'division', limiter.changed->'division', 'shards', limiter.changed->'shards')
                    ELSE '{}' END
                FROM given g
                WHERE limiter.name = g.name AND limiter.changed - CASE WHEN jsonb_exists(limiter.changed, 'division') THEN '{concurrency,division,shards}'::text[] ELSE '{}' END <> '{}'
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.limiter WHERE name = (SELECT name FROM given)
            """;

    private static final String LIST = """
            SELECT name, paused, ${declared} AS declared, ${changed} AS changed, waiting, oldest, held
            FROM ${schema}.limiters
            WHERE ?::text IS NULL OR name = ?
            ORDER BY name
            """;

    final String declare;
    final String limit;
    final String pause;
    final String reset;
    final String list;

    public LimiterSql(Schema schema) {
        this.declare = schema.sql(DECLARE);
        this.limit = audited(schema, LIMIT);
        this.pause = audited(schema, PAUSE);
        this.reset = audited(schema, RESET);
        this.list = schema.sql(
                LIST.replace("${declared}", Json.pairs("declared")).replace("${changed}", Json.pairs("changed")));
    }

    private static String audited(Schema schema, String statement) {
        return schema.sql(statement.replace("${audited}", AuditText.WHEN_DONE));
    }
}
