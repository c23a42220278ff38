package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.RunCommands;

/** The statement of a batch that carries out commands. The rules of {@link LedgerSql} apply. */
public final class CommandSql {
    /** Commands of callers, and of transitions to other runs. Several transitions may send the same command. */
    private static final String COMMANDS = """
            SELECT DISTINCT ON (id, CASE WHEN sender IS NULL THEN ordinal END) *, false AS with_dag
                FROM ${commands}
                WHERE (${client_or_lane_exists})
                  AND (g.epoch IS NULL OR (
                      SELECT s.state = ${RUNNING} AND s.epoch = g.epoch AND s.owner = ? FROM ${schema}.run s WHERE s.key = g.sender))
                ORDER BY id, CASE WHEN sender IS NULL THEN ordinal END, ordinal""";

    /**
     * Carries out commands: at once, or by a mark on the row of a run that a worker holds. Sent for commands of
     * callers, for commands of transitions to other runs, and for the tasks of runs that both have killed or cancelled.
     */
    private static final String COMMAND = """
            WITH ${clock}, given AS MATERIALIZED (
                ${given}
            ), found AS MATERIALIZED (
                SELECT r.*, CASE WHEN NOT b.carried_out THEN g.command END AS command, b.carried_out, g.why, g.audit, g.ordinal, clock.at AS moved_at,
                       r.state IN (${SUSPENDED}, ${BACKING_OFF}) AS waits,
                       r.after IS NOT NULL AND r.before IS NULL AS has_tasks,
                       -- A task ends after all tasks that it comes after, unless its DAG ends too.
                       r.before IS NOT NULL AND r.open > 0 AND NOT g.with_dag AS waits_for_turn,
                       NOT b.carried_out AND CASE g.command
                           WHEN ${CANCEL} THEN r.cancel IS NULL
                           WHEN ${KILL} THEN r.state = ${RUNNING} OR r.before IS NOT NULL AND r.open > 0 AND NOT g.with_dag
                           WHEN ${PAUSE} THEN r.state = ${RUNNING}
                           WHEN ${RESUME} THEN r.state <> ${PAUSED} AND r.pause IS NOT NULL
                           WHEN ${REFUSE} THEN false
                           WHEN ${EXPIRE} THEN false
                       END AND r.state < ${COMPLETED} AS asks,
                       -- The same command as before tells the worker once more, but is not recorded again.
                       CASE g.command WHEN ${KILL} THEN r.kill = g.why WHEN ${PAUSE} THEN r.pause = g.why END IS TRUE AS repeated
                FROM given g
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
                CROSS JOIN LATERAL (
                    -- A command whose entry is there was carried out before, and does nothing now.
                    SELECT CASE WHEN g.audit IS NOT NULL THEN EXISTS (
                        SELECT FROM ${schema}.audit a WHERE a.id = (g.audit::jsonb->>'id')::uuid AND a.partition = r.partition
                    ) ELSE false END AS carried_out
                    OFFSET 0
                ) b
                -- A run that is not the one that the sender saw is unknown.
                WHERE b.carried_out
                   OR (g.created IS NULL OR r.created_at = g.created::timestamptz)
                  AND (g.entered IS NULL OR r.changed_at = g.entered::timestamptz)
            ), decided AS MATERIALIZED (
                SELECT f.*,
                       CASE WHEN state >= ${COMPLETED} THEN state
                            WHEN command = ${CANCEL} AND NOT asks THEN state
                            -- The code of the DAG passes the cancel on to its tasks, and need not wait for them first.
                            WHEN command = ${CANCEL} AND has_tasks AND state = ${PENDING} THEN ${READY}::smallint
                            -- A task ends after all tasks that it comes after.
                            WHEN command = ${CANCEL} AND NOT has_tasks AND before IS NOT NULL AND open > 0 THEN state
                            -- Nothing of it has run, so no code could react to the cancel.
                            WHEN command = ${CANCEL} AND NOT has_tasks AND (epoch = 0 OR state = ${PENDING}) THEN ${CANCELLED}::smallint
                            WHEN command = ${CANCEL} AND waits THEN ${READY}::smallint
                            WHEN command = ${KILL} AND waits_for_turn AND state = ${PAUSED} THEN ${PENDING}::smallint
                            WHEN command = ${KILL} AND waits_for_turn THEN state
                            WHEN command = ${KILL} AND state <> ${RUNNING} THEN ${CANCELLED}::smallint
                            WHEN command = ${PAUSE} AND state <> ${RUNNING} AND kill IS NULL THEN ${PAUSED}::smallint
                            WHEN command = ${RESUME} AND state = ${PAUSED} AND open > 0 AND (cancel IS NULL OR NOT has_tasks)
                                THEN ${PENDING}::smallint
                            -- Not EXISTS, for which the server may read the whole table into a hash table.
                            WHEN command = ${RESUME} AND state = ${PAUSED} AND (
                                SELECT true FROM ${schema}.object_call c WHERE c.key = f.key AND c.number IS NOT NULL LIMIT 1
                            ) IS NOT NULL THEN ${PENDING}::smallint
                            WHEN command = ${RESUME} AND state = ${PAUSED} THEN ${READY}::smallint
                            WHEN command = ${REFUSE} AND state = ${PENDING} THEN ${FAILED}::smallint
                            WHEN command = ${EXPIRE} AND epoch = 0 AND NOT (has_tasks AND (
                                SELECT true FROM ${schema}.run t
                                WHERE t.parent = f.key AND t.before IS NOT NULL AND t.epoch > 0
                                LIMIT 1
                            ) IS NOT NULL) THEN ${CANCELLED}::smallint
                            ELSE state END AS state_now
                FROM found f
            ), logged AS (
                ${log FROM decided WHERE state_now <> state}
            ), unqueued AS (
                ${dequeue FROM decided d WHERE d.state = ${READY} AND d.state_now <> d.state}
            ), untimed AS (
                ${clear_timer FROM decided d WHERE d.waits AND d.state_now <> d.state}
            ), queued AS (
                ${enqueue(alone = command <> ${RESUME} AND recoveries >= ${ALONE_AFTER}, rank = CASE WHEN command = ${CANCEL} THEN ${first} ELSE ${rank} END) FROM decided WHERE state_now = ${READY} AND state <> ${READY}}
            ), urged AS (
                -- A run that continues after a wait is ready already, and no longer behind the others.
                UPDATE ${schema}.ready SET rank = ${first}
                WHERE ctid = ANY (ARRAY(
                    SELECT q.place
                    FROM decided d
                    CROSS JOIN LATERAL (SELECT ctid AS place FROM ${schema}.ready WHERE ready.key = d.key OFFSET 0) q
                    WHERE d.asks AND d.command = ${CANCEL} AND d.state = ${READY} AND d.state_now = d.state))
            ), audited AS (
                ${audit FROM decided WHERE audit IS NOT NULL AND (asks AND NOT repeated OR state_now <> state)}
            ), signalled AS (
                ${mark_woken FROM decided WHERE asks AND state = ${RUNNING}}
            ), forgiven AS (
                -- A resume resets the count of recoveries, so earlier recoveries can no longer be taken back.
                DELETE FROM ${schema}.takeover
                WHERE key = ANY (ARRAY(SELECT key FROM decided WHERE command = ${RESUME} AND state = ${PAUSED}))
            ), commanded AS (
                INSERT INTO ${schema}.run AS r (key, seed, epoch, created_at, changed_at, wake_at, wakes, changes, recoveries,
                    priority, partition, state, id, definition, queue, reason, cancel, kill, pause)
                SELECT key, seed, epoch, created_at,
                       CASE WHEN state_now <> state THEN moved_at ELSE changed_at END,
                       CASE WHEN state_now <> state THEN NULL ELSE wake_at END,
                       CASE WHEN asks THEN wakes + 1 ELSE wakes END,
                       CASE WHEN state_now <> state THEN changes + 1 ELSE changes END,
                       CASE WHEN command = ${RESUME} AND state = ${PAUSED} THEN 0 ELSE recoveries END,
                       priority, partition, state_now, id, definition, queue,
                       CASE WHEN state_now = state THEN reason
                            WHEN state_now IN (${PENDING}, ${READY}) THEN NULL
                            ELSE why END,
                       CASE WHEN asks AND command = ${CANCEL} THEN why ELSE cancel END,
                       CASE WHEN asks AND command = ${KILL} THEN why ELSE kill END,
                       CASE WHEN command = ${RESUME} THEN NULL WHEN asks AND command = ${PAUSE} THEN why ELSE pause END
                FROM decided WHERE asks OR state_now <> state
                ON CONFLICT (key, partition) DO UPDATE SET
                    changed_at = excluded.changed_at, wake_at = excluded.wake_at, wakes = excluded.wakes,
                    changes = excluded.changes, recoveries = excluded.recoveries, state = excluded.state,
                    reason = excluded.reason, cancel = excluded.cancel, kill = excluded.kill, pause = excluded.pause
            )
            SELECT ordinal, state_now, moved_at, state_now <> state AS changed,
                   asks AND NOT repeated OR state_now <> state OR carried_out AS accepted,
                   CASE WHEN asks AND state = ${RUNNING} THEN (
                       SELECT w.id FROM ${schema}.worker w WHERE w.number = decided.owner
                   ) END AS signalled
            FROM decided
            """;

    public final String command;
    public final String tasks;

    CommandSql(Schema schema) {
        this.command = Pieces.sql(
                schema,
                COMMAND.replace("${given}", COMMANDS).replace("${commands}", RunCommands.COLUMNS.numbered("g")));
        this.tasks = Pieces.sql(
                schema,
                COMMAND.replace("${given}", DagSql.TASKS_OF_COMMANDED)
                        .replace("${passed_on}", RunCommands.PASSED_ON.many("g")));
    }
}
