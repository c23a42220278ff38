package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.NewTasks;

/**
 * The statements of a batch for runs that come after other runs. The rules of {@link LedgerSql} apply.
 *
 * <p>How it works: the edges of a DAG are keys on the rows of its runs, written at the start and never changed. So
 * {@link LockSql#lockAll} can read without a lock which rows an end will touch, and lock all of them in its one pass.
 * After everything that may end a run, {@link #open} counts the runs that this transaction has ended. It recognises
 * them by the transaction's number on the row: if a batch is sent again after a lost answer, it finds the row as an
 * earlier transaction left it, and counts nothing.
 */
public final class DagSql {
    /**
     * Starts the tasks of the runs that {@link LedgerSql#start} has just started. If an id is taken, the batch fails,
     * so that nothing is left of the start that needed it. Then the batch is sent again in pieces.
     */
    private static final String TASK = """
            WITH ${clock}, given AS MATERIALIZED (
                SELECT *, cardinality(after) AS open
                FROM (
                    SELECT ${run_columns}, key, timeout, owner, input, parent, bound, delay,
                           after::bigint[] AS after, before::bigint[] AS before
                    FROM ${tasks}
                    -- A parent that existed before has another key.
                    WHERE (SELECT true FROM ${schema}.run WHERE run.key = g.parent)
                ) AS unborn
            ), born AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, wake_at, deadline, owner, partition,
                    state, parent, parent_restarts, open, after, before, timeout)
                SELECT ${run_columns}, key, CASE WHEN open > 0 OR owner IS NULL THEN 0 ELSE 1 END, at, at,
                       CASE WHEN open = 0 AND owner IS NULL THEN at + delay * interval '1 microsecond' END,
                       -- The earlier of the run's deadline and its own, which counts from when it may begin.
                       LEAST(at + bound * interval '1 microsecond',
                             CASE WHEN open = 0 THEN at + (timeout + COALESCE(delay, 0)) * interval '1 microsecond' END),
                       CASE WHEN open = 0 THEN owner END, key & 255,
                       CASE WHEN open > 0 THEN ${PENDING}
                            WHEN owner IS NOT NULL THEN ${RUNNING}
                            WHEN delay IS NOT NULL THEN ${SUSPENDED}
                            ELSE ${READY} END,
                       parent, 0, open, after, before, timeout
                FROM given CROSS JOIN clock
                RETURNING key, partition, state, wake_at, owner, created_at, priority, queue, definition, version, placement, queue_key
            ), inputs AS (
                ${input(partition = key & 255) FROM given CROSS JOIN clock WHERE input IS NOT NULL}
            ), taken AS (
                ${hold FROM born WHERE state = ${RUNNING}}
            ), timed AS (
                ${set_timer FROM born WHERE state = ${SUSPENDED}}
            ), queued AS (
                ${enqueue_new FROM born WHERE state = ${READY}}
            )
            SELECT count(*) FROM born
            """;

    /** The tasks of runs that were killed, cancelled or have expired, as rows for {@link CommandSql#command}. */
    static final String TASKS_OF_COMMANDED = """
            SELECT t.id, g.command, g.why, NULL::text AS audit, NULL::text AS created, NULL::text AS entered,
                   row_number() OVER (ORDER BY t.key) AS ordinal, g.command = ${KILL} AS with_dag
                FROM ${passed_on}
                CROSS JOIN LATERAL (
                    SELECT key, state, epoch, created_at, cancel FROM ${schema}.run
                    WHERE run.id = g.id AND run.after IS NOT NULL AND run.before IS NULL OFFSET 0
                ) r
                CROSS JOIN LATERAL (
                    SELECT key, id FROM ${schema}.run
                    WHERE run.parent = r.key AND run.before IS NOT NULL AND run.state < ${COMPLETED} OFFSET 0
                ) t
                WHERE (${client_or_lane_exists})
                  AND (g.created IS NULL OR r.created_at = g.created::timestamptz)
                  -- A task that has begun does not expire.
                  AND (NOT g.expires OR r.state = ${CANCELLED} AND r.epoch = 0)
                  -- The cancel may have been refused, or was carried out in an earlier life.
                  AND (g.command <> ${CANCEL} OR r.cancel IS NOT NULL)""";

    /** The runs that a batch of moves may have ended. */
    private static final String MOVED = "unnest(?::bigint[], ?::int[]) AS c (key, takes)";

    /**
     * The same for a batch that also carries out commands: the commanded runs, and the tasks of those that were killed or cancelled.
     */
    private static final String MOVED_OR_COMMANDED = """
            (
                    SELECT key, max(takes) AS takes
                    FROM (
                        SELECT moved.key, moved.takes FROM unnest(?::bigint[], ?::int[]) AS moved (key, takes)
                        UNION ALL
                        SELECT r.key, 0
                        FROM unnest(?::text[]) AS commanded (id)
                        CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = commanded.id OFFSET 0) r
                        UNION ALL
                        SELECT t.key, 0
                        FROM unnest(?::text[]) AS passed_on (id)
                        CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = passed_on.id OFFSET 0) r
                        CROSS JOIN LATERAL (
                            SELECT key FROM ${schema}.run WHERE run.parent = r.key AND run.before IS NOT NULL OFFSET 0
                        ) t
                    ) AS all_of_them
                    GROUP BY key
                ) AS c""";

    /**
     * Lets runs begin that come after runs which this transaction has ended. Each of them is touched once, however many
     * of its premises have ended. A run that begins goes to the worker of the batch, if the end asked for it and the
     * worker could have claimed it; otherwise it is ready. If several of its premises end at once, one of them
     * represents all.
     */
    private static final String OPEN = """
            WITH ${clock}, closed AS MATERIALIZED (
                SELECT d.key, count(*)::int AS premises, min(e.key) FILTER (WHERE d.place <= c.takes) AS premise,
                       min(e.queue) AS queue, max(e.queue) AS last_queue
                FROM ${ended}
                CROSS JOIN LATERAL (
                    SELECT key, queue, before FROM ${schema}.run
                    WHERE run.key = c.key AND run.before IS NOT NULL AND run.state >= ${COMPLETED}
                      AND run.xmin = pg_current_xact_id()::xid
                    OFFSET 0
                ) e
                CROSS JOIN LATERAL unnest(e.before) WITH ORDINALITY AS d (key, place)
                WHERE ${client_or_lane_exists}
                GROUP BY d.key
            ), found AS MATERIALIZED (
                SELECT r.*, r.open - c.premises AS open_now, clock.at AS moved_at,
                       r.state = ${PENDING} AND r.open = c.premises AS begins,
                       CASE WHEN r.state = ${PENDING} AND r.open = c.premises
                                 AND r.queue = c.queue AND r.queue = c.last_queue
                                 -- A run of a queue with limits, or with labels, begins only by a poll, which counts the places.
                                 AND r.queue <> ALL (?::text[]) AND r.placement IS NULL
                                 AND r.definition = ANY (w.definitions) AND (r.version IS NULL OR r.version = w.version)
                            THEN c.premise END AS premise
                FROM closed c
                CROSS JOIN clock
                LEFT JOIN (SELECT definitions, version FROM ${schema}.worker WHERE number = ? OFFSET 0) w ON true
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, epoch, changed_at, deadline, owner, wakes, changes, recoveries, priority, partition, state,
                           definition, queue, version, placement, queue_key, reason, open, timeout, cancel, before IS NOT NULL AS is_task
                    FROM ${schema}.run WHERE run.key = c.key AND run.state < ${COMPLETED} OFFSET 0
                ) r
            ), logged AS (
                ${log FROM found
                -- The run's own row shows that it was started as pending.
                WHERE begins AND changes > 0}
            ), queued AS (
                ${enqueue FROM found WHERE begins AND premise IS NULL}
            ), kept AS (
                ${hold(worker = ?) FROM found WHERE premise IS NOT NULL}
            ), opened AS (
                UPDATE ${schema}.run SET
                    epoch = CASE WHEN f.premise IS NULL THEN f.epoch ELSE f.epoch + 1 END,
                    changed_at = CASE WHEN f.begins THEN f.moved_at ELSE f.changed_at END,
                    -- It already has the deadline of the run that it belongs to.
                    deadline = CASE WHEN f.open_now = 0 AND f.is_task
                                    THEN LEAST(f.moved_at + f.timeout * interval '1 microsecond', f.deadline)
                                    ELSE f.deadline END,
                    owner = CASE WHEN f.premise IS NULL THEN f.owner ELSE ? END,
                    wakes = CASE WHEN f.premise IS NULL THEN f.wakes ELSE 0 END,
                    changes = CASE WHEN f.begins THEN f.changes + 1 ELSE f.changes END,
                    state = CASE WHEN NOT f.begins THEN f.state
                                 WHEN f.premise IS NULL THEN ${READY}::smallint
                                 ELSE ${RUNNING}::smallint END,
                    reason = CASE WHEN f.begins THEN NULL ELSE f.reason END,
                    open = f.open_now
                FROM found f
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM found)) AND run.key = f.key
            )
            -- Keys of the tasks of one run are in the order of their start.
            SELECT key, premise FROM found WHERE begins ORDER BY key
            """;

    /** How many entries of a life are kept for the history: the last. */
    private static final int KEPT = 10_000;

    /**
     * Gives runs, and some of their tasks, another life. Returns a verdict for each run that exists and, if a run is refused
     * because of a task, the index of that task.
     */
    private static final String RERUN = """
            WITH ${clock}, dag AS MATERIALIZED (
                SELECT r.*, g.seed AS seed_now, g.audit, g.ordinal
                FROM unnest(?::text[], ?::bigint[], ?::text[]) WITH ORDINALITY AS g (id, seed, audit, ordinal)
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
                WHERE ${client_or_lane_exists}
            ), wanted AS MATERIALIZED (
                SELECT g.ordinal, w.place, t.key, t.state, g.seed_now, g.restarts, g.timeout AS bound
                FROM unnest(?::int[], ?::text[]) WITH ORDINALITY AS w (ordinal, id, place)
                JOIN dag g ON g.ordinal = w.ordinal
                LEFT JOIN LATERAL (
                    SELECT key, state FROM ${schema}.run
                    WHERE run.id = w.id AND run.parent = g.key AND run.before IS NOT NULL OFFSET 0
                ) t ON true
            ), judged AS MATERIALIZED (
                SELECT g.*, c.culprit,
                       CASE WHEN g.seed = g.seed_now THEN ${DONE_BEFORE}
                            WHEN g.state < ${COMPLETED} THEN ${ACTIVE}
                            WHEN g.removed_at IS NOT NULL THEN ${REMOVED}
                            WHEN c.culprit IS NOT NULL THEN ${TASK_UNFIT}
                            ELSE ${FIT} END AS verdict
                FROM dag g
                LEFT JOIN (
                    SELECT ordinal, min(place) AS culprit FROM wanted WHERE key IS NULL OR state < ${COMPLETED} GROUP BY ordinal
                ) c ON c.ordinal = g.ordinal
            ), life AS MATERIALIZED (
                SELECT key, seed_now, NULL::int AS parent_restarts_now, ${timeout_of_run} AS bound FROM judged r WHERE verdict = ${FIT}
                UNION
                SELECT w.key, w.seed_now, w.restarts + 1, w.bound
                FROM wanted w JOIN judged j ON j.ordinal = w.ordinal
                WHERE j.verdict = ${FIT}
            ), decided AS MATERIALIZED (
                SELECT r.*, l.parent_restarts_now, l.bound, clock.at AS moved_at,
                       CASE WHEN r.before IS NULL THEN l.seed_now ELSE r.seed # l.seed_now END AS seed_of_life,
                       o.open AS open_now,
                       CASE WHEN o.open > 0 THEN ${PENDING}::smallint ELSE ${READY}::smallint END AS state_now
                FROM life l
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = l.key OFFSET 0) r
                CROSS JOIN LATERAL (
                    SELECT count(*)::int AS open
                    FROM unnest(r.after) AS premise (key)
                    WHERE premise.key IN (SELECT key FROM life)
                       OR (SELECT p.state < ${COMPLETED} FROM ${schema}.run p WHERE p.key = premise.key)
                ) o
            ), audited AS (
                ${audit(at = clock.at) FROM judged CROSS JOIN clock WHERE audit IS NOT NULL AND verdict = ${FIT}}
            ), kept AS (
                -- For the history, below the input: each under a number of its own, with its position and the failed attempts there.
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT d.key, f.base - f.rank, f.note, d.partition, f.at, f.kind, f.status, f.name,
                       int4send(f.position) || int4send(f.failed_attempts)
                FROM decided d
                CROSS JOIN LATERAL (
                    SELECT j.position, j.note, j.at, j.kind, j.status, j.name,
                           row_number() OVER (ORDER BY j.position, j.note)::int AS rank,
                           (count(*) FILTER (WHERE j.status = ${ATTEMPT}) OVER (PARTITION BY j.position, j.kind))::int AS failed_attempts,
                           COALESCE((SELECT min(b.position) FROM ${schema}.journal b WHERE b.key = d.key AND b.position < ${INPUT}), 0) AS base
                    FROM ${schema}.journal j
                    WHERE j.key = d.key AND j.position > ${INPUT} AND j.position < ${OUTCOME}
                    ORDER BY j.position DESC, j.note DESC
                    LIMIT ${KEPT}
                ) f
            ), emptied AS (
                ${empty_journal FROM decided d}
            ), untold AS (
                -- A run that called it and has ended without the outcome forgets it: it does not hold any more.
                DELETE FROM ${schema}.mail WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail
                        WHERE mail.key = d.parent AND mail.position = d.parent_position AND mail.restarts = d.parent_restarts
                          AND mail.name = '' AND mail.channel = ${ANSWER} AND NOT mail.taken
                        OFFSET 0
                    ) m
                    WHERE d.before IS NULL))
            ), voided AS (
                -- Its token stays known, like that of all mail. A promise is for any life (0), so it gets a number that no life has.
                UPDATE ${schema}.mail SET taken = true, payload = '', headers = NULL,
                    restarts = CASE WHEN channel = ${PROMISE} THEN (SELECT ~d.restarts FROM decided d WHERE d.key = mail.key)
                                    ELSE restarts END
                WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail
                        WHERE mail.key = d.key AND (NOT taken OR channel = ${PROMISE} AND restarts = 0) OFFSET 0
                    ) m))
            ), logged AS (
                ${log FROM decided}
                UNION ALL
                SELECT key, changes - 1, partition, ${RUNNING}, ran_at, NULL FROM decided WHERE ran_at IS NOT NULL
            ), queued AS (
                ${enqueue(alone = false, rank = ~priority) FROM decided WHERE state_now = ${READY}}
            ), renewed AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, deadline, changes, priority, partition, state,
                    id, definition, queue, restarts, parent_restarts, open, timeout)
                -- A run that has never begun stays so: it counts for the rate of its queue when it begins.
                SELECT key, seed_of_life, epoch + LEAST(epoch, 1), created_at, moved_at,
                       LEAST(moved_at + bound * interval '1 microsecond',
                             CASE WHEN open_now = 0 THEN moved_at + timeout * interval '1 microsecond' END),
                       changes + 1, priority, partition, state_now, id, definition, queue, restarts + 1,
                       COALESCE(parent_restarts_now, parent_restarts), open_now,
                       CASE WHEN before IS NULL THEN bound ELSE timeout END
                FROM decided
                ON CONFLICT (key, partition) DO UPDATE SET
                    seed = excluded.seed, epoch = excluded.epoch, changed_at = excluded.changed_at,
                    deadline = excluded.deadline, wakes = 0, changes = excluded.changes, recoveries = 0,
                    entries_at_recovery = 0, state = excluded.state, reason = NULL, ran_at = NULL, cancel = NULL, kill = NULL, pause = NULL,
                    restarts = excluded.restarts, parent_restarts = excluded.parent_restarts, wake_at = NULL,
                    open = CASE WHEN run.open IS NULL THEN NULL ELSE excluded.open END, timeout = excluded.timeout
            )
            SELECT j.ordinal, j.verdict, j.state, j.changed_at, clock.at, d.state_now, j.culprit, w.state AS culprit_state
            FROM judged j
            CROSS JOIN clock
            LEFT JOIN decided d ON d.key = j.key
            LEFT JOIN wanted w ON w.place = j.culprit
            """;

    public final String task;
    public final String open;
    public final String openAll;
    public final String rerun;
    final String handed;
    final String handedTasks;

    DagSql(Schema schema) {
        this.task = Pieces.sql(schema, TASK.replace("${tasks}", NewTasks.COLUMNS.many("g")));
        this.open = Pieces.sql(schema, OPEN.replace("${ended}", MOVED));
        this.openAll = Pieces.sql(schema, OPEN.replace("${ended}", MOVED_OR_COMMANDED));
        this.rerun = Pieces.sql(schema, RERUN.replace("${KEPT}", String.valueOf(KEPT)));
        this.handed = Claims.handed(schema);
        this.handedTasks = Claims.handedTasks(schema);
    }
}
