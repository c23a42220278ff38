package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Schema;

/** The statements that only read. */
public final class QuerySql {
    /** The columns of a run, without payloads. */
    static final String INFO = """
            r.key, r.id, r.definition, r.state, r.created_at, r.changed_at, r.wake_at, ${attributes} AS attributes, r.memo, r.status, r.headers,
                   CASE WHEN r.recoveries > 0 AND r.entries_at_recovery < (
                       SELECT count(*) FROM ${schema}.journal j
                       WHERE j.key = r.key AND j.position > 0 AND j.position < ${OUTCOME}
                   ) THEN 0 ELSE r.recoveries END AS recoveries,
                   COALESCE(
                       ${schema}.why_waits(r.key, r.state, r.awaited_names, COALESCE(?::timestamptz, now())), r.reason
                   ) AS reason,
                   -- As in the view runs, which a worker may not read.
                   CASE WHEN r.state = ${SUSPENDED} THEN ARRAY(
                       SELECT a.what FROM (
                           SELECT 0 AS position, CASE left(n.name, 1) WHEN 'm' THEN 'message ''' WHEN 'l' THEN 'permit of limiter '''
                                       ELSE 'promise ''' END || substr(n.name, 3) || '''' AS what
                           FROM unnest(r.awaited_names) AS n (name)
                           WHERE n.name NOT LIKE 'p:%' OR NOT EXISTS (
                               SELECT FROM ${schema}.mail m
                               WHERE m.key = r.key AND m.channel <> 0 AND m.position = 0 AND m.name = substr(n.name, 3)
                           )
                           UNION ALL
                           -- By its parent alone: if some run has very many children, the server would also look for all live runs.
                           SELECT c.parent_position, 'run ''' || c.id || '''' FROM (SELECT * FROM ${schema}.run WHERE run.parent = r.key OFFSET 0) c
                           WHERE c.parent_restarts = r.restarts AND c.parent_position <@ r.awaited AND c.state < ${COMPLETED}
                           UNION ALL
                           -- A run of another shard, whose id only the journal has.
                           SELECT b.position, 'run ''' || b.id || '''' FROM (
                               SELECT j.position, split_part(${schema}.payload_text(j.payload), chr(10), 1) AS id
                               FROM ${schema}.journal j
                               WHERE j.key = r.key AND j.position >= lower(r.awaited) AND j.position < upper(r.awaited)
                                 AND j.position <@ r.awaited AND j.kind = ${CHILD} AND j.status = ${BEGUN} AND octet_length(j.payload) > 0
                           ) b
                           WHERE (SELECT true FROM ${schema}.run c WHERE c.id = b.id LIMIT 1) IS NULL AND NOT EXISTS (
                               SELECT FROM ${schema}.mail m
                               WHERE m.key = r.key AND m.channel <> 0 AND m.position = b.position AND m.restarts = r.restarts
                           )
                           UNION ALL
                           SELECT s.position, 'event ''' || s.event || ''''
                                  || CASE WHEN s.event_key = '' THEN '' ELSE ' with key ''' || s.event_key || '''' END
                           FROM ${schema}.subscription s
                           WHERE s.key = r.key AND s.restarts = r.restarts AND s.position <@ r.awaited AND NOT EXISTS (
                               SELECT FROM ${schema}.mail m
                               WHERE m.key = r.key AND m.channel <> 0 AND m.position = s.position AND m.restarts = s.restarts
                           )
                           UNION ALL
                           SELECT w.position, 'awakeable at position ' || w.position FROM ${schema}.awakeable w
                           WHERE w.key = r.key AND w.restarts = r.restarts AND w.position <@ r.awaited AND NOT EXISTS (
                               SELECT FROM ${schema}.mail m
                               WHERE m.key = r.key AND m.channel <> 0 AND m.position = w.position AND m.restarts = w.restarts
                           )
                       ) AS a
                       ORDER BY a.position, a.what
                       LIMIT 10
                   ) ELSE '{}' END AS awaited""".replace("${attributes}", Descriptions.pairs("r.attributes"));

    private static final String FIND = """
            SELECT ${info}
            FROM ${schema}.run r
            WHERE r.id = ?
            """;

    /** A range of ids, in their order. The input is the answer at position 0. */
    private static final String LATEST = """
            SELECT ${info}, (
                SELECT j.payload FROM ${schema}.journal j
                WHERE j.key = r.key AND j.position < ${OUTCOME} AND j.note = 0 AND j.status = ${VALUE}
                ORDER BY j.position DESC
                LIMIT 1
            ) AS recorded
            FROM ${schema}.run r
            WHERE r.id >= ? AND r.id >= ? AND r.id < ?
            ORDER BY r.id
            LIMIT ?
            """;

    /** A task has the input of its DAG, which is stored once. */
    private static final String INPUT = """
            SELECT COALESCE(own.payload, dag.payload) AS input
            FROM ${schema}.run r
            LEFT JOIN ${schema}.journal own ON own.key = r.key AND own.position = 0
            LEFT JOIN ${schema}.journal dag ON dag.key = r.parent AND dag.position = 0 AND r.before IS NOT NULL
            WHERE r.key = ?
            """;

    /** The settings of a run. */
    private static final String SETTINGS = """
            SELECT r.definition, r.seed, r.queue, r.priority, r.version, r.queue_key, COALESCE(r.weight, 1) AS weight, r.placement,
                   ${attributes} AS attributes, r.memo, r.status, r.headers
            FROM ${schema}.run r
            WHERE r.id = ? AND r.removed_at IS NULL
            """;

    /** What a run begins with: the same as a worker gets with a claim. */
    private static final String BASIS = """
            SELECT r.version, r.seed, r.deadline, COALESCE(own.payload, dag.payload) AS input,
                   c.hold, c.object_type, c.object_key
            FROM ${schema}.run r
            LEFT JOIN ${schema}.journal own ON own.key = r.key AND own.position = 0
            LEFT JOIN ${schema}.journal dag ON dag.key = r.parent AND dag.position = 0 AND r.before IS NOT NULL
            LEFT JOIN ${schema}.object_call c ON c.key = r.key
            WHERE r.key = ?
            """;

    /** The tasks that a run comes after, in their order. */
    private static final String PREMISES = """
            SELECT p.key, p.id, p.state, COALESCE(p.reason, '') AS reason, o.payload AS outcome
            FROM ${schema}.run r
            CROSS JOIN LATERAL unnest(r.after) WITH ORDINALITY AS a (key, place)
            CROSS JOIN LATERAL (SELECT key, id, state, reason FROM ${schema}.run WHERE run.key = a.key OFFSET 0) p
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal j WHERE j.key = a.key AND j.position = ${OUTCOME} OFFSET 0
            ) o ON true
            WHERE r.key = ?
            ORDER BY a.place
            """;

    /** One query for all callers of a process that wait for results. */
    private static final String ENDED = """
            SELECT g.ordinal, r.id, r.state, r.reason, o.payload AS outcome
            FROM unnest(?::bigint[]) WITH ORDINALITY AS g (key, ordinal)
            -- A run that is not there any more has no state.
            LEFT JOIN LATERAL (
                SELECT key, id, state, reason FROM ${schema}.run WHERE run.key = g.key OFFSET 0
            ) r ON true
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = ${OUTCOME} OFFSET 0
            ) o ON true
            WHERE COALESCE(r.state >= ${COMPLETED}, true)
            """;

    /**
     * The runs that the current life of each of these has started, and of each cancelled run among those. The given runs
     * have no id here and count as cancelled.
     */
    private static final String LIVE_CHILDREN = """
            WITH RECURSIVE below AS (
                SELECT NULL::text COLLATE "C" AS id, g.key, ${CANCELLED}::smallint AS state FROM unnest(?::bigint[]) AS g (key)
                UNION
                SELECT c.id, c.key, c.state
                FROM below b
                CROSS JOIN LATERAL (SELECT restarts FROM ${schema}.run WHERE run.key = b.key OFFSET 0) p
                CROSS JOIN LATERAL (
                    SELECT id, key, state, parent_restarts, parent_position FROM ${schema}.run WHERE run.parent = b.key OFFSET 0
                ) c
                WHERE b.state = ${CANCELLED} AND (c.state < ${COMPLETED} OR c.state = ${CANCELLED})
                      AND c.parent_restarts = p.restarts AND c.parent_position IS DISTINCT FROM ${REPORTING}
            )
            SELECT id, key FROM below WHERE state < ${COMPLETED}
            """;

    /** Selects the tasks of a run: runs that were started together with their parent. */
    static final String TASKS = "r.before IS NOT NULL";

    private static final String HERE = "r.parent = ? AND ";

    /** Selects the children that the current life of a run has started. */
    static final String CHILDREN =
            "r.before IS NULL AND r.parent_position IS DISTINCT FROM ${REPORTING} AND r.parent_restarts = (SELECT p.restarts FROM ${schema}.run p WHERE p.key = ?)";

    /** The tasks or the children of a run, in the order of their start. */
    private static final String STARTED = """
            SELECT ${info}, CASE WHEN r.before IS NULL THEN '{}'::bigint[] ELSE r.after END AS after, o.payload AS outcome
            FROM (SELECT * FROM ${schema}.run r WHERE ${member} OFFSET 0) AS r
            LEFT JOIN LATERAL (SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = ${OUTCOME} OFFSET 0) o ON true
            ORDER BY ${order}
            """;

    /** The first state of a run that has left that state, where no row of {@code event} has it. */
    private static final String FIRST_STATE = """
            CASE WHEN ${run}.after <> '{}' THEN ${PENDING}
                            WHEN ${run}.changes = 1 AND ${run}.state = ${RUNNING}
                                 OR ${run}.changes = 2 AND ${run}.ran_at IS NOT NULL
                                 OR EXISTS (
                                     SELECT FROM ${schema}.event
                                     WHERE event.key = ${run}.key AND event.number = 1 AND event.state = ${RUNNING}
                                 ) THEN ${READY}
                            ELSE ${RUNNING} END""";

    /** The states that runs have left, and the states in which they are. */
    private static final String STARTED_CHANGES = """
            SELECT t.key, c.state, c.at, c.reason
            FROM (
                SELECT key, changes, state, created_at, changed_at, reason, ran_at, after FROM ${schema}.run r
                WHERE ${member} OFFSET 0
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

    /** The states that a run has left, including those without a row of their own, and its current state. */
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

    /** Some of these states. */
    private static final String CHANGES_PAGE = """
            WITH given AS MATERIALIZED (SELECT ?::bigint AS key, ?::integer AS after, ?::integer AS most)
            (SELECT number, state, at, reason FROM ${schema}.event
             WHERE key = (SELECT key FROM given) AND number > (SELECT after FROM given)
             ORDER BY number
             LIMIT (SELECT most FROM given))
            UNION ALL
            SELECT * FROM (
                SELECT 0 AS number, ${first_state}, created_at, NULL FROM ${schema}.run
                WHERE key = (SELECT key FROM given) AND changes > 0
                      AND NOT EXISTS (SELECT FROM ${schema}.event WHERE event.key = run.key AND event.number = 0)
                UNION ALL
                SELECT changes - 1, ${RUNNING}, ran_at, NULL FROM ${schema}.run
                WHERE key = (SELECT key FROM given) AND ran_at IS NOT NULL
                UNION ALL
                SELECT changes, state, changed_at, reason FROM ${schema}.run WHERE key = (SELECT key FROM given)
            ) AS on_run
            WHERE number > (SELECT after FROM given)
            ORDER BY number
            LIMIT (SELECT most FROM given)
            """;

    /** By the name of the subject, or all. */
    private static final String AUDITED = """
            SELECT id, at, position, action, subject, name, operator, origin, detail
            FROM ${schema}.audit
            WHERE ${name} (at, id) < (COALESCE(?::timestamptz, 'infinity'), ?::uuid)
            ORDER BY at DESC, id DESC
            LIMIT ?
            """;

    /** Every change of the server writes to its log, before the transaction is visible. Reads no table. */
    static final String MARK = "SELECT pg_current_wal_insert_lsn()::text AS mark";

    final Schema schema;
    final String find;
    final String latest;
    final String input;
    final String settings;
    final String basis;
    final String premises;
    final String ended;
    final String liveChildren;
    final String tasks;
    final String taskChanges;
    final String children;
    final String childrenChanges;
    final String changes;
    final String changesPage;
    final String audited;
    final String auditedOf;

    public QuerySql(Schema schema) {
        this.schema = schema;
        this.find = schema.sql(FIND.replace("${info}", INFO));
        this.latest = schema.sql(LATEST.replace("${info}", INFO));
        this.input = schema.sql(INPUT);
        this.settings = schema.sql(SETTINGS.replace("${attributes}", Descriptions.pairs("r.attributes")));
        this.basis = schema.sql(BASIS);
        this.premises = schema.sql(PREMISES);
        this.ended = schema.sql(ENDED);
        this.liveChildren = schema.sql(LIVE_CHILDREN);
        this.tasks = startedRuns(schema, STARTED.replace("${order}", "r.key"), HERE + TASKS);
        this.taskChanges = startedChanges(schema, HERE + TASKS);
        this.children = started(schema, HERE + CHILDREN);
        this.childrenChanges = startedChanges(schema, HERE + CHILDREN);
        this.audited = schema.sql(AUDITED.replace("${name}", ""));
        this.auditedOf = schema.sql(AUDITED.replace("${name}", "name = ?::text AND subject = ?::text AND"));
        this.changes = schema.sql(CHANGES.replace("${first_state}", firstState("run")));
        this.changesPage = schema.sql(FilterSql.SETTINGS + CHANGES_PAGE.replace("${first_state}", firstState("run")));
    }

    /** Runs that a run has started, oldest first. */
    static String started(Schema schema, String member) {
        return startedRuns(schema, STARTED.replace("${order}", "r.created_at, r.key"), member);
    }

    /** The states of these runs. */
    static String startedChanges(Schema schema, String member) {
        return startedRuns(schema, STARTED_CHANGES, member);
    }

    private static String startedRuns(Schema schema, String statement, String member) {
        return schema.sql(statement
                .replace("${info}", INFO)
                .replace("${member}", member)
                .replace("${first_state}", firstState("t")));
    }

    static String firstState(String run) {
        return FIRST_STATE.replace("${run}", run);
    }
}
