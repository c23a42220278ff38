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

    private static final String LIMIT = """
            WITH done AS (
                UPDATE ${schema}.limiter SET changed = changed || COALESCE(?::jsonb, '{}') WHERE name = ?
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
            """;

    private static final String PAUSE = """
            WITH done AS (
                UPDATE ${schema}.limiter SET paused = ? WHERE name = ?
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
            """;

    private static final String RESET = """
            WITH done AS (
                UPDATE ${schema}.limiter SET changed = '{}' WHERE name = ?
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
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
