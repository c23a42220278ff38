package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Runs;

/**
 * The statements that read the tasks or the children of a run one page at a time.
 *
 * <p>The first looks at the next runs that the run has started, along the index {@code run_parent}, and says which of
 * them are wanted. The others read what a page shows of those. So a page reads a bounded number of rows, also if nearly
 * all of these runs are of another kind or of an earlier life.
 */
public final class StartedRunsSql {
    private static final String NEXT = """
            SELECT r.key, r.created_at, CASE WHEN r.before IS NULL THEN 0 ELSE cardinality(r.after) END AS edges, ${member} AS wanted
            FROM (
                SELECT * FROM ${schema}.run
                WHERE parent = ? AND (created_at, key) > (?::timestamptz, ?)
                ORDER BY created_at, key
                LIMIT ?
            ) AS r
            ORDER BY r.created_at, r.key
            """;

    private static final String INFOS = """
            SELECT ${info}, CASE WHEN r.before IS NULL THEN '{}'::bigint[] ELSE r.after END AS after
            FROM unnest(?::bigint[]) WITH ORDINALITY AS g (key, ordinal)
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
            ORDER BY g.ordinal
            """;

    private static final String IDS = """
            SELECT r.key, r.id
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (SELECT key, id FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
            """;

    /** The states that runs have left, including those without a row of their own, and the states in which they are. */
    private static final String STATES = """
            SELECT g.key, c.state, c.at
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) t
            CROSS JOIN LATERAL (
                (SELECT number, state, at FROM ${schema}.event WHERE event.key = t.key ORDER BY number LIMIT ${SHOWN})
                UNION ALL
                SELECT 0, ${first_state}, t.created_at
                WHERE t.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event WHERE event.key = t.key AND event.number = 0)
                UNION ALL
                SELECT t.changes - 1, ${RUNNING}, t.ran_at WHERE t.ran_at IS NOT NULL
                UNION ALL
                SELECT t.changes, t.state, t.changed_at
                ORDER BY number
                LIMIT ${SHOWN}
            ) AS c
            ORDER BY g.key, c.number
            """;

    final String nextTasks;
    final String nextChildren;
    final String infos;
    final String ids;
    final String states;

    public StartedRunsSql(Schema schema) {
        this.nextTasks = sql(schema, NEXT.replace("${member}", QuerySql.TASKS));
        this.nextChildren = sql(schema, NEXT.replace("${member}", QuerySql.CHILDREN));
        this.infos = sql(schema, INFOS.replace("${info}", QuerySql.INFO));
        this.ids = sql(schema, IDS);
        this.states = sql(
                schema,
                STATES.replace("${first_state}", QuerySql.firstState("t"))
                        .replace("${SHOWN}", Integer.toString(Runs.Below.SHOWN_STATES)));
    }

    private static String sql(Schema schema, String statement) {
        return schema.sql(FilterSql.SETTINGS + statement);
    }
}
