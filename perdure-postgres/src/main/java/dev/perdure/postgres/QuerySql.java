package dev.perdure.postgres;

/** The statements that only read. */
final class QuerySql {
    /** What there is to know of a run without its payloads. */
    private static final String INFO = """
            r.key, r.id, r.definition, r.state, r.created_at, r.changed_at, r.wake_at,
                   CASE WHEN r.recoveries > 0 AND r.entries_at_recovery < (
                       SELECT count(*) FROM ${schema}.journal j
                       WHERE j.key = r.key AND j.position > 0 AND j.position < ${OUTCOME}
                   ) THEN 0 ELSE r.recoveries END AS recoveries,
                   CASE WHEN r.state = ${READY} AND NOT EXISTS (
                       SELECT FROM ${schema}.worker w
                       WHERE NOT w.dead AND r.definition = ANY (w.definitions) AND (r.version IS NULL OR r.version = w.version)
                   ) THEN 'No live worker has the definition ''' || r.definition || ''''
                          || COALESCE(' in version ''' || r.version || '''', '') || '.'
                   ELSE r.reason END AS reason""";

    private static final String FIND = """
            SELECT ${info}
            FROM ${schema}.run r
            WHERE r.id = ?
            """;

    /** Newest first. Every condition that is null is left out. */
    private static final String LIST = """
            SELECT ${info}
            FROM ${schema}.run r
            WHERE (?::int IS NULL OR r.state = ?)
              AND (?::text IS NULL OR r.definition = ?)
              AND r.created_at >= COALESCE(?::timestamptz, '-infinity')
              AND r.created_at < COALESCE(?::timestamptz, 'infinity')
              AND r.created_at <= COALESCE(?::timestamptz, 'infinity')
              AND (?::text IS NULL OR (r.created_at, r.id) < (?::timestamptz, ?))
            ORDER BY r.created_at DESC, r.id DESC
            LIMIT ?
            """;

    /** One question for all waiters of a process. */
    private static final String ENDED = """
            SELECT r.key, r.id, r.state, r.reason, o.payload AS outcome
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT key, id, state, reason FROM ${schema}.run WHERE run.key = g.key OFFSET 0
            ) r
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = ${OUTCOME} OFFSET 0
            ) o ON true
            WHERE r.state >= ${COMPLETED}
            """;

    /** What the present life of each of these has started. */
    private static final String LIVE_CHILDREN = """
            SELECT c.id, c.key
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (SELECT restarts FROM ${schema}.run WHERE run.key = g.key OFFSET 0) p
            CROSS JOIN LATERAL (
                SELECT id, key, state, parent_restarts FROM ${schema}.run WHERE run.parent = g.key OFFSET 0
            ) c
            WHERE c.state < ${COMPLETED} AND c.parent_restarts = p.restarts
            """;

    /** Of the runs of a family, those that were born with their parent. */
    private static final String BORN_WITH_IT = "r.before IS NOT NULL";

    /** And those that its present life has started. */
    private static final String STARTED_BY_IT =
            "r.before IS NULL AND r.parent_restarts = (SELECT p.restarts FROM ${schema}.run p WHERE p.key = r.parent)";

    /** Runs of a family, in the order of their start. */
    private static final String FAMILY = """
            SELECT ${info}, CASE WHEN r.before IS NULL THEN '{}'::bigint[] ELSE r.after END AS after, o.payload AS outcome
            FROM ${schema}.run r
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = ${OUTCOME} OFFSET 0
            ) o ON true
            WHERE r.parent = ? AND ${member}
            ORDER BY r.key
            """;

    /** What a run was born as that has left that state, where no row says it. */
    private static final String FIRST_STATE = """
            CASE WHEN ${run}.after <> '{}' THEN ${PENDING}
                            WHEN ${run}.changes = 1 AND ${run}.state = ${RUNNING}
                                 OR ${run}.changes = 2 AND ${run}.ran_at IS NOT NULL
                                 OR EXISTS (
                                     SELECT FROM ${schema}.event
                                     WHERE event.key = ${run}.key AND event.number = 1 AND event.state = ${RUNNING}
                                 ) THEN ${READY}
                            ELSE ${RUNNING} END""";

    /** The states that they have left, and those that they are in. */
    private static final String FAMILY_CHANGES = """
            SELECT t.key, c.state, c.at, c.reason
            FROM (
                SELECT key, changes, state, created_at, changed_at, reason, ran_at, after FROM ${schema}.run r
                WHERE r.parent = ? AND ${member} OFFSET 0
            ) AS t
            CROSS JOIN LATERAL (
                SELECT number, state, at, reason FROM ${schema}.event WHERE event.key = t.key
                UNION ALL
                SELECT 0, ${first_state}, t.created_at, NULL
                WHERE t.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event WHERE event.key = t.key AND event.number = 0)
                UNION ALL
                SELECT t.changes - 1, ${RUNNING}, t.ran_at, NULL WHERE t.ran_at IS NOT NULL
                UNION ALL
                SELECT t.changes, t.state, t.changed_at, t.reason
            ) AS c
            ORDER BY t.key, c.number
            """;

    /** The states it has left, with those that have no row of their own, and the one it is in. */
    private static final String CHANGES = """
            SELECT number, state, at, reason FROM ${schema}.event WHERE key = ?
            UNION ALL
            SELECT 0, ${first_state}, created_at, NULL FROM ${schema}.run
            WHERE key = ? AND changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event WHERE event.key = run.key AND event.number = 0)
            UNION ALL
            SELECT changes - 1, ${RUNNING}, ran_at, NULL FROM ${schema}.run WHERE key = ? AND ran_at IS NOT NULL
            UNION ALL
            SELECT changes, state, changed_at, reason FROM ${schema}.run WHERE key = ?
            ORDER BY number
            """;

    private static final String AUDITED =
            "SELECT at, position, status = ${VALUE} AS resolved, operator FROM ${schema}.audit WHERE key = ? ORDER BY at";

    final String find;
    final String list;
    final String ended;
    final String liveChildren;
    final String tasks;
    final String taskChanges;
    final String children;
    final String childrenChanges;
    final String changes;
    final String audited;

    QuerySql(Schema schema) {
        this.find = schema.sql(FIND.replace("${info}", INFO));
        this.list = schema.sql(LIST.replace("${info}", INFO));
        this.ended = schema.sql(ENDED);
        this.liveChildren = schema.sql(LIVE_CHILDREN);
        this.tasks = family(schema, FAMILY, BORN_WITH_IT);
        this.taskChanges = family(schema, FAMILY_CHANGES, BORN_WITH_IT);
        this.children = family(schema, FAMILY, STARTED_BY_IT);
        this.childrenChanges = family(schema, FAMILY_CHANGES, STARTED_BY_IT);
        this.audited = schema.sql(AUDITED);
        this.changes = schema.sql(CHANGES.replace("${first_state}", firstState("run")));
    }

    private static String family(Schema schema, String statement, String member) {
        return schema.sql(statement
                .replace("${info}", INFO)
                .replace("${member}", member)
                .replace("${first_state}", firstState("t")));
    }

    private static String firstState(String run) {
        return FIRST_STATE.replace("${run}", run);
    }
}
