package dev.perdure.postgres;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;

/**
 * The statements of a batch.
 *
 * <p>How it works: a batch is one execute of several of these and of those in {@link OwnSql}, {@link MailSql} and {@link GraphSql}, in the
 * order of {@link Part} and with those left out that it does not need. Sent as one autocommit execute they are one round trip, one
 * transaction and one commit. Under READ COMMITTED each of them sees what the ones before it waited for.
 *
 * <p>One execute stays one only if the driver lets it: before a statement that it knows to return a column of unbounded
 * size (a text, an array) it puts in a Sync, against deadlocks of full buffers, and a Sync commits. So all of these but
 * the last return columns of fixed size only, and texts are read back where they are wanted. A test watches over it.
 *
 * <p>Fence: whichever comes first locks the lane FOR KEY SHARE, and each of them does nothing without it. Until the
 * commit nobody can delete the lane, so nobody can have given the worker's runs away. Appending therefore needs no look
 * at the run; a move checks owner and epoch on the row as well, because its answer depends on what else is there.
 *
 * <p>Lock order: lane, then virtual objects, then runs by key, each in one pass; rows of held, ready, timer and event are touched only by whoever
 * has locked their run. Those who come from the other side (claims and due timers) skip what is locked and wait for
 * nothing.
 *
 * <p>Plans are made once, often while tables are empty, and kept. So nothing here leaves the planner a choice that is
 * right for ten rows and ruinous for a million: rows are looked up by LATERAL with OFFSET 0 (never flattened into a
 * join), changed by INSERT … ON CONFLICT DO UPDATE (always by the index, where UPDATE … FROM may scan) or, like those that
 * are deleted, by the places looked up before. {@link #settings} takes care of the rest.
 *
 * <p>Entries are new, nearly always: only a batch whose answer was lost brings them again. To provide for it costs an insert
 * two thirds more, so {@link #append} and {@link #end} do not, and fail as a whole when one of them is there;
 * then the batch is sent once more, carefully.
 */
final class LedgerSql {
    /**
     * For the transaction only. A batch that meets a locked run gives up soon and is sent again in pieces. Without
     * sequential scans a look-up that was planned on an emptied table still takes the index when the table has grown, and
     * without bitmaps it takes, and locks, rows in the order of their keys; without nested loops two lists of the same batch
     * are joined by hash. (LATERAL knows no other join than the loop, so it keeps it.) Such plans look expensive, which must not call the compiler in, and must not make the server
     * plan anew each time in the hope of a cheaper one: for a lone completion that took twenty times as long as
     * carrying it out.
     */
    private static final String SETTINGS = """
            SELECT length(set_config('lock_timeout', ?, true)) + length(set_config('enable_seqscan', 'off', true))
                 + length(set_config('enable_bitmapscan', 'off', true)) + length(set_config('enable_nestloop', 'off', true)) + length(set_config('jit', 'off', true))
                 + length(set_config('plan_cache_mode', 'force_generic_plan', true)) AS done
            """;

    /** Locks the lane and every run that the batch moves, in the order of their keys. */
    private static final String LOCK = """
            WITH fence AS MATERIALIZED (
                SELECT FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ), wanted AS (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key) ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (
                SELECT FROM ${schema}.run WHERE run.key = wanted.key AND run.partition = wanted.key & 255 FOR NO KEY UPDATE
            ) locked
            -- The dead lock nothing, or the sweep would pass over it.
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /**
     * The same for a batch that touches others as well: those that it commands or sends mail to, the parents that wait for
     * what it ends, given by key or by id, and those that come after that, and the tasks of what it kills or runs again; also
     * the calls that are next where it may free a virtual object.
     */
    private static final String LOCK_ALL = """
            WITH fence AS MATERIALIZED (
                SELECT FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ), wanted AS (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                UNION ALL
                SELECT r.key
                FROM unnest(?::text[]) AS addressed (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = addressed.id OFFSET 0) r
                UNION ALL
                SELECT unnest(r.others)
                FROM unnest(?::bigint[]) AS ending (key)
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN parent_position IS NULL THEN before ELSE array_append(before, parent) END AS others
                    FROM ${schema}.run WHERE run.key = ending.key OFFSET 0
                ) r
                UNION ALL
                SELECT unnest(r.others)
                FROM unnest(?::text[]) AS ending (id)
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN parent_position IS NULL THEN before ELSE array_append(before, parent) END AS others
                    FROM ${schema}.run WHERE run.id = ending.id OFFSET 0
                ) r
                UNION ALL
                SELECT t.key
                FROM unnest(?::text[]) AS family (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = family.id OFFSET 0) r
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.run WHERE run.parent = r.key AND run.before IS NOT NULL OFFSET 0
                ) t
                UNION ALL
                SELECT w.key
                FROM (
                    SELECT c.object_type, c.object_key, count(*) AS ends
                    FROM (
                        SELECT key FROM unnest(?::bigint[]) AS holder (key)
                        UNION ALL
                        SELECT r.key
                        FROM unnest(?::text[]) AS ending (id)
                        CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = ending.id OFFSET 0) r
                    ) holder
                    CROSS JOIN LATERAL (
                        SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = holder.key OFFSET 0
                    ) c
                    GROUP BY c.object_type, c.object_key
                ) freed
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.object_call
                    WHERE object_type = freed.object_type AND object_key = freed.object_key AND number IS NOT NULL
                    ORDER BY number
                    -- All that end may stand in the queue themselves.
                    LIMIT freed.ends + 1
                ) w
                ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (SELECT FROM ${schema}.run WHERE run.key = wanted.key FOR NO KEY UPDATE) locked
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /** The same for a batch that touches nothing but the runs that it moves and those that come after these. */
    private static final String LOCK_AFTER = """
            WITH fence AS MATERIALIZED (
                SELECT FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ), wanted AS (
                SELECT key FROM (
                    SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                    UNION
                    SELECT unnest(r.before)
                    FROM unnest(?::bigint[]) AS ending (key)
                    CROSS JOIN LATERAL (SELECT before FROM ${schema}.run WHERE run.key = ending.key OFFSET 0) r
                ) AS each_once
                ORDER BY key
            )
            SELECT (SELECT count(*) FROM fence) AS lanes, count(*) AS runs
            FROM wanted
            CROSS JOIN LATERAL (SELECT FROM ${schema}.run WHERE run.key = wanted.key FOR NO KEY UPDATE) locked
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /** Leaves what is there as it is. */
    private static final String CAREFULLY = "ON CONFLICT DO NOTHING";

    /**
     * Appends entries. Carefully, what is there already stays as it is, and the count tells that there was such; which it was
     * is read back by the number of this transaction. No row at all when the lane is gone.
     */
    private static final String APPEND = """
            WITH fence AS MATERIALIZED (
                SELECT COALESCE(?::timestamptz, now()) AS at FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ), appended AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT e.key, e.position, e.note, e.key & 255, fence.at, e.kind, e.status, e.name, e.payload
                FROM fence
                CROSS JOIN unnest(?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::smallint[], ?::text[], ?::bytea[])
                    AS e (key, position, note, kind, status, name, payload)
                ${carefully}
                RETURNING 1
            )
            SELECT at, (SELECT count(*) FROM appended) AS entries, pg_current_xact_id()::xid::text::bigint AS transaction FROM fence
            """;

    /**
     * Moves runs. Only those that are held as the batch believes are changed; the answer tells what each was found as.
     * The sweep uses it too, without a lane and in the name of the dead.
     */
    private static final String MOVE = """
            WITH clock AS MATERIALIZED (
                SELECT COALESCE(?::timestamptz, now()) AS at
            ), given AS MATERIALIZED (
                SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::int[], ?::text[],
                        ?::int[], ?::text[], ?::text[])
                    AS g (key, epoch, owner, move, state, delay, due, seen, reason, needed, awaited, awaited_names)
                WHERE ?::int IS NULL OR EXISTS (SELECT FROM ${schema}.lane WHERE worker = ? AND number = ?)
            ), entry AS MATERIALIZED (
                SELECT * FROM unnest(?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::smallint[], ?::text[], ?::bytea[])
                    AS e (key, position, note, kind, status, name, payload)
            ), there_before AS MATERIALIZED (
                -- Left by an earlier try of the same transition, whose time then counts.
                SELECT e.key, max(j.at) AS at, count(*) AS entries
                FROM entry e
                CROSS JOIN LATERAL (
                    SELECT at FROM ${schema}.journal j
                    WHERE j.key = e.key AND j.position = e.position AND j.note = e.note OFFSET 0
                ) j
                WHERE e.position < ${OUTCOME}
                GROUP BY e.key
            ), coming AS MATERIALIZED (
                SELECT key, count(*) AS entries FROM entry WHERE position < ${OUTCOME} GROUP BY key
            ), found AS MATERIALIZED (
                SELECT r.*, g.epoch AS held_epoch, g.move, g.state AS wanted, g.delay, g.due, g.reason AS why,
                       g.needed AS needed_now, g.awaited AS awaited_now, g.awaited_names AS awaited_names_now,
                       r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner IS NOT DISTINCT FROM g.owner AS holds,
                       -- Whoever waits for others stays as well if they have ended.
                       COALESCE(r.wakes > g.seen, false)
                           OR (g.move = ${WAIT} AND g.state = ${PENDING} AND COALESCE(r.open, 0) = 0) AS woken,
                       -- Counted only where it matters, which is rare.
                       CASE WHEN g.move = ${RECOVER} OR r.recoveries > 0 THEN (
                           SELECT count(*) FROM ${schema}.journal j
                           WHERE j.key = g.key AND j.position > 0 AND j.position < ${OUTCOME}
                       ) END AS entries
                FROM given g
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, run.* FROM ${schema}.run WHERE run.key = g.key AND run.partition = g.key & 255 OFFSET 0
                ) r
            ), counted AS MATERIALIZED (
                SELECT f.*,
                       COALESCE(b.at, clock.at) AS entered_at,
                       clock.at AS moved_at,
                       f.entries + COALESCE(c.entries, 0) - COALESCE(b.entries, 0) AS entries_now,
                       -- Progress forgives; giving up counts.
                       CASE WHEN f.entries + COALESCE(c.entries, 0) - COALESCE(b.entries, 0) > f.entries_at_recovery
                            THEN 0 ELSE f.recoveries END
                           + CASE WHEN f.move = ${RECOVER} THEN 1 ELSE 0 END AS recoveries_now
                FROM found f
                CROSS JOIN clock
                LEFT JOIN there_before b ON b.key = f.key
                LEFT JOIN coming c ON c.key = f.key
            ), decided AS MATERIALIZED (
                SELECT c.*,
                       holds AND NOT woken AS moves,
                       CASE WHEN woken THEN state
                            WHEN move <> ${RECOVER} THEN wanted
                            WHEN kill IS NOT NULL THEN ${CANCELLED}::smallint
                            WHEN pause IS NOT NULL OR recoveries_now >= ${PAUSED_AFTER} THEN ${PAUSED}::smallint
                            ELSE ${READY}::smallint END AS state_now,
                       CASE WHEN move <> ${RECOVER} THEN why
                            WHEN kill IS NOT NULL THEN kill
                            WHEN pause IS NOT NULL THEN pause
                            WHEN recoveries_now >= ${PAUSED_AFTER} THEN format(
                                'Recovered %s times without progress; the last time because: %s. Mend the cause, then resume it.',
                                recoveries_now, why)
                            ELSE why END AS reason_now,
                       CASE WHEN move = ${WAIT} THEN COALESCE(
                            timestamptz 'epoch' + due * interval '1 microsecond',
                            entered_at + delay * interval '1 microsecond') END AS wake_at_now
                FROM counted c
            ), appended AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT e.key, e.position, e.note, d.partition, d.moved_at, e.kind, e.status, e.name, e.payload
                FROM decided d
                JOIN entry e ON e.key = d.key
                WHERE d.holds
                ON CONFLICT DO NOTHING
            ), logged AS (
                INSERT INTO ${schema}.event (key, number, partition, state, at, reason)
                SELECT key, changes, partition, state, changed_at, reason FROM decided WHERE moves
            ), let_go AS (
                DELETE FROM ${schema}.held
                WHERE ctid = ANY (ARRAY(
                    SELECT h.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.held
                        WHERE held.worker = d.owner AND held.key = d.key AND held.partition = d.partition OFFSET 0
                    ) h
                    WHERE d.moves))
            ), timed AS (
                INSERT INTO ${schema}.timer (due_at, key, partition)
                SELECT wake_at_now, key, partition FROM decided WHERE moves AND wake_at_now IS NOT NULL
            ), queued AS (
                INSERT INTO ${schema}.ready (key, since, rank, partition, alone, queue, definition, version)
                SELECT key, moved_at, ~priority, partition,
                       recoveries_now >= ${ALONE_AFTER},
                       queue, definition, COALESCE(version, '')
                FROM decided WHERE moves AND state_now = ${READY}
            ), moved AS (
                UPDATE ${schema}.run SET
                    epoch = CASE WHEN d.move = ${RECOVER} THEN d.epoch + 1 ELSE d.epoch END,
                    changed_at = d.moved_at, wake_at = d.wake_at_now, owner = NULL, changes = d.changes + 1,
                    recoveries = d.recoveries_now,
                    entries_at_recovery = CASE WHEN d.move = ${RECOVER} THEN d.entries_now ELSE d.entries_at_recovery END,
                    state = d.state_now, reason = d.reason_now,
                    -- A pause is asked for once: it has happened now.
                    pause = CASE WHEN d.state_now = ${PAUSED} THEN NULL ELSE d.pause END,
                    needed = d.needed_now, awaited = d.awaited_now::int4multirange, awaited_names = d.awaited_names_now::text[]
                FROM decided d
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM decided WHERE moves)) AND run.key = d.key AND d.moves
            )
            SELECT key, holds, woken, state, epoch, state_now, entered_at, moved_at, changed_at FROM decided
            """;

    /**
     * Ends runs: what {@link #move} does to them, without all that it does for others. Most moves are ends, and a lone
     * one spends less time in the rows than in setting up the statement, so that this is twice as fast.
     */
    private static final String END = """
            WITH clock AS MATERIALIZED (
                SELECT COALESCE(?::timestamptz, now()) AS at
            ), decided AS MATERIALIZED (
                SELECT r.*, g.state AS state_now, g.reason AS reason_now, clock.at AS moved_at,
                       r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ? AS holds
                FROM unnest(?::bigint[], ?::bigint[], ?::smallint[], ?::text[]) AS g (key, epoch, state, reason)
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, partition, state, epoch, owner, changes, changed_at, reason
                    FROM ${schema}.run WHERE run.key = g.key AND run.partition = g.key & 255 OFFSET 0
                ) r
                WHERE ?::int IS NULL OR EXISTS (SELECT FROM ${schema}.lane WHERE worker = ? AND number = ?)
            ), appended AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT e.key, e.position, e.note, d.partition, d.moved_at, e.kind, e.status, e.name, e.payload
                FROM decided d
                JOIN unnest(?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::smallint[], ?::text[], ?::bytea[])
                    AS e (key, position, note, kind, status, name, payload) ON e.key = d.key
                WHERE d.holds
                ${carefully}
            ), let_go AS (
                DELETE FROM ${schema}.held
                WHERE ctid = ANY (ARRAY(
                    SELECT h.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.held
                        WHERE held.worker = d.owner AND held.key = d.key AND held.partition = d.partition OFFSET 0
                    ) h
                    WHERE d.holds))
            ), ended AS (
                UPDATE ${schema}.run SET
                    changed_at = d.moved_at, owner = NULL, changes = d.changes + 1, state = d.state_now, reason = d.reason_now,
                    -- Instead of a row in event. Of one that was born running it is when it was created.
                    ran_at = CASE WHEN d.changes > 0 THEN d.changed_at END
                FROM decided d
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM decided WHERE holds)) AND run.key = d.key AND d.holds
            )
            SELECT key, holds, false AS woken, state, epoch, state_now, moved_at AS entered_at, moved_at, changed_at FROM decided
            """;

    /**
     * Starts runs. An id that is there already is left out; the answer then lists the keys that were not used. One that a
     * transition starts needs that transition's right to do so, as in {@link MailSql}.
     */
    private static final String START = """
            WITH fence AS MATERIALIZED (
                SELECT FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ), clock AS MATERIALIZED (
                SELECT COALESCE(?::timestamptz, now()) AS at
            ), given AS MATERIALIZED (
                SELECT g.*, (SELECT restarts FROM ${schema}.run WHERE run.key = g.parent) AS parent_restarts
                FROM unnest(?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::int[], ?::text[], ?::bigint[], ?::int[], ?::bytea[],
                        ?::bigint[], ?::text[], ?::bigint[], ?::int[], ?::bigint[], ?::bigint[])
                    AS g (key, id, definition, seed, queue, priority, version, timeout, owner, input, delay, after, parent,
                        parent_position, starter, starter_epoch)
                WHERE (?::int IS NULL OR EXISTS (SELECT FROM fence))
                  AND (g.starter_epoch IS NULL OR (
                      SELECT s.state = ${RUNNING} AND s.epoch = g.starter_epoch AND s.owner = ?
                      FROM ${schema}.run s WHERE s.key = g.starter))
            ), started AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, wake_at, deadline, owner, priority,
                    partition, state, id, definition, queue, version, parent, parent_position, parent_restarts, open, after,
                    timeout)
                SELECT key, seed, CASE WHEN owner IS NULL THEN 0 ELSE 1 END, at, at,
                       CASE WHEN owner IS NULL THEN at + delay * interval '1 microsecond' END,
                       at + timeout * interval '1 microsecond', owner, priority, key & 255,
                       CASE WHEN after IS NOT NULL THEN ${PENDING}
                            WHEN owner IS NOT NULL THEN ${RUNNING}
                            WHEN delay IS NOT NULL THEN ${SUSPENDED}
                            ELSE ${READY} END,
                       id, definition, queue, version, parent, parent_position, parent_restarts,
                       cardinality(after::bigint[]), after::bigint[], CASE WHEN after IS NOT NULL THEN timeout END
                FROM given CROSS JOIN clock
                ON CONFLICT (id, partition) DO NOTHING
                RETURNING key, partition, state, wake_at, owner, created_at, priority, queue, definition, version
            ), inputs AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT s.key, 0, 0, s.partition, s.created_at, 0, 0, '', g.input
                FROM started s JOIN given g ON g.key = s.key
            ), taken AS (
                INSERT INTO ${schema}.held (key, worker, partition)
                SELECT key, owner, partition FROM started WHERE state = ${RUNNING}
            ), timed AS (
                INSERT INTO ${schema}.timer (due_at, key, partition)
                SELECT wake_at, key, partition FROM started WHERE state = ${SUSPENDED}
            ), queued AS (
                INSERT INTO ${schema}.ready (key, since, rank, partition, alone, queue, definition, version)
                SELECT key, created_at, ~priority, partition, false, queue, definition, COALESCE(version, '')
                FROM started WHERE state = ${READY}
            )
            SELECT EXISTS (SELECT FROM fence) AS lane, clock.at, there_before.key
            FROM clock
            LEFT JOIN LATERAL (
                SELECT key FROM given
                WHERE (SELECT count(*) FROM started) < ? AND key NOT IN (SELECT key FROM started)
            ) there_before ON true
            """;

    /** What people want of runs, or transitions of other runs, which may be several times the same. */
    private static final String WISHES = """
            SELECT DISTINCT ON (id, CASE WHEN sender IS NULL THEN ordinal END) *
                FROM unnest(?::text[], ?::smallint[], ?::text[], ?::bigint[], ?::bigint[])
                    WITH ORDINALITY AS g (id, wish, why, sender, epoch, ordinal)
                WHERE (?::int IS NULL OR EXISTS (SELECT FROM ${schema}.lane WHERE worker = ? AND number = ?))
                  AND (g.epoch IS NULL OR (
                      SELECT s.state = ${RUNNING} AND s.epoch = g.epoch AND s.owner = ? FROM ${schema}.run s WHERE s.key = g.sender))
                ORDER BY id, CASE WHEN sender IS NULL THEN ordinal END, ordinal""";

    /**
     * Carries out what is wanted of runs: at once, or left on the row of a run that a worker holds. Sent for commands, for
     * the tasks of what these have killed, and for what transitions want of other runs.
     */
    private static final String COMMAND = """
            WITH clock AS MATERIALIZED (
                SELECT COALESCE(?::timestamptz, now()) AS at
            ), given AS MATERIALIZED (
                ${given}
            ), found AS MATERIALIZED (
                SELECT r.*, g.wish, g.why, g.ordinal, clock.at AS moved_at,
                       r.state IN (${SUSPENDED}, ${BACKING_OFF}) AS waits,
                       r.after IS NOT NULL AND r.before IS NULL AS has_tasks,
                       CASE g.wish
                           WHEN ${CANCEL} THEN r.cancel IS NULL
                           WHEN ${KILL} THEN r.state = ${RUNNING}
                           WHEN ${PAUSE} THEN r.state = ${RUNNING}
                           WHEN ${RESUME} THEN r.state <> ${PAUSED} AND r.pause IS NOT NULL
                           WHEN ${REFUSE} THEN false
                       END AND r.state < ${COMPLETED} AS asks
                FROM given g
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
            ), decided AS MATERIALIZED (
                SELECT f.*,
                       CASE WHEN state >= ${COMPLETED} THEN state
                            WHEN wish = ${CANCEL} AND NOT asks THEN state
                            -- Its code passes the cancel on to its tasks, and need not wait for them first.
                            WHEN wish = ${CANCEL} AND has_tasks AND state = ${PENDING} THEN ${READY}::smallint
                            -- A task ends after all it comes after.
                            WHEN wish = ${CANCEL} AND NOT has_tasks AND open > 0 THEN state
                            -- Nothing of it has run, so there is nobody to deliver the cancel to.
                            WHEN wish = ${CANCEL} AND NOT has_tasks AND (epoch = 0 OR state = ${PENDING}) THEN ${CANCELLED}::smallint
                            WHEN wish = ${CANCEL} AND waits THEN ${READY}::smallint
                            WHEN wish = ${KILL} AND state <> ${RUNNING} THEN ${CANCELLED}::smallint
                            WHEN wish = ${PAUSE} AND state <> ${RUNNING} THEN ${PAUSED}::smallint
                            WHEN wish = ${RESUME} AND state = ${PAUSED} AND open > 0 AND (cancel IS NULL OR NOT has_tasks)
                                THEN ${PENDING}::smallint
                            WHEN wish = ${RESUME} AND state = ${PAUSED} AND EXISTS (
                                SELECT FROM ${schema}.object_call c WHERE c.key = f.key AND c.number IS NOT NULL
                            ) THEN ${PENDING}::smallint
                            WHEN wish = ${RESUME} AND state = ${PAUSED} THEN ${READY}::smallint
                            WHEN wish = ${REFUSE} AND state = ${PENDING} THEN ${FAILED}::smallint
                            ELSE state END AS state_now
                FROM found f
            ), logged AS (
                INSERT INTO ${schema}.event (key, number, partition, state, at, reason)
                SELECT key, changes, partition, state, changed_at, reason FROM decided WHERE state_now <> state
            ), unqueued AS (
                DELETE FROM ${schema}.ready
                WHERE ctid = ANY (ARRAY(
                    SELECT q.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.ready r
                        WHERE r.queue = d.queue AND r.definition = d.definition AND r.version = COALESCE(d.version, '')
                          AND r.alone = (d.recoveries >= ${ALONE_AFTER}) AND r.rank = ~d.priority
                          AND r.since = d.changed_at AND r.key = d.key
                        OFFSET 0
                    ) q
                    WHERE d.state = ${READY} AND d.state_now <> d.state))
            ), untimed AS (
                DELETE FROM ${schema}.timer
                WHERE ctid = ANY (ARRAY(
                    SELECT t.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.timer WHERE timer.due_at = d.wake_at AND timer.key = d.key OFFSET 0
                    ) t
                    WHERE d.waits AND d.state_now <> d.state))
            ), queued AS (
                INSERT INTO ${schema}.ready (key, since, rank, partition, alone, queue, definition, version)
                SELECT key, moved_at, ~priority, partition, wish <> ${RESUME} AND recoveries >= ${ALONE_AFTER},
                       queue, definition, COALESCE(version, '')
                FROM decided WHERE state_now = ${READY} AND state <> ${READY}
            ), signalled AS (
                INSERT INTO ${schema}.held AS h (key, worker, partition, woken)
                SELECT key, owner, partition, true FROM decided WHERE asks AND state = ${RUNNING}
                ON CONFLICT (worker, key, partition) DO UPDATE SET woken = true
            ), commanded AS (
                INSERT INTO ${schema}.run AS r (key, seed, epoch, created_at, changed_at, wake_at, wakes, changes, recoveries,
                    priority, partition, state, id, definition, queue, reason, cancel, kill, pause)
                SELECT key, seed, epoch, created_at,
                       CASE WHEN state_now <> state THEN moved_at ELSE changed_at END,
                       CASE WHEN state_now <> state THEN NULL ELSE wake_at END,
                       CASE WHEN asks THEN wakes + 1 ELSE wakes END,
                       CASE WHEN state_now <> state THEN changes + 1 ELSE changes END,
                       CASE WHEN wish = ${RESUME} AND state = ${PAUSED} THEN 0 ELSE recoveries END,
                       priority, partition, state_now, id, definition, queue,
                       CASE WHEN state_now = state THEN reason
                            WHEN state_now IN (${PENDING}, ${READY}) THEN NULL
                            ELSE why END,
                       CASE WHEN asks AND wish = ${CANCEL} THEN why ELSE cancel END,
                       CASE WHEN asks AND wish = ${KILL} THEN why ELSE kill END,
                       CASE WHEN wish = ${RESUME} THEN NULL WHEN asks AND wish = ${PAUSE} THEN why ELSE pause END
                FROM decided WHERE asks OR state_now <> state
                ON CONFLICT (key, partition) DO UPDATE SET
                    changed_at = excluded.changed_at, wake_at = excluded.wake_at, wakes = excluded.wakes,
                    changes = excluded.changes, recoveries = excluded.recoveries, state = excluded.state,
                    reason = excluded.reason, cancel = excluded.cancel, kill = excluded.kill, pause = excluded.pause
            )
            SELECT ordinal, state_now, moved_at,
                   CASE WHEN asks AND state = ${RUNNING} THEN (
                       SELECT w.id FROM ${schema}.worker w WHERE w.number = decided.owner
                   ) END AS signalled
            FROM decided
            """;

    /** Reads back runs that were there before a start. */
    private static final String EXISTING = """
            SELECT g.ordinal, r.key, r.definition, r.seed, r.created_at, r.owner, r.epoch, r.state,
                   -- A task without one has that of its run.
                   COALESCE(i.payload, (
                       SELECT j.payload FROM ${schema}.journal j WHERE j.key = r.parent AND j.position = 0
                   )) = g.input AS same_input
            FROM unnest(?::text[], ?::bytea[]) WITH ORDINALITY AS g (id, input, ordinal)
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
            LEFT JOIN LATERAL (SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = 0 OFFSET 0) i ON true
            """;

    /** What is asked of a run. */
    private static final String CONTROL = "SELECT wakes, mails, cancel, kill, pause FROM ${schema}.run WHERE key = ?";

    /** Reads back entries that were there before: their times, and whether they have the same bytes. */
    private static final String THERE = """
            SELECT g.ordinal, j.at, j.payload = g.payload AS same_payload, j.transaction
            FROM unnest(?::bigint[], ?::int[], ?::smallint[], ?::bytea[]) WITH ORDINALITY AS g (key, position, note, payload, ordinal)
            CROSS JOIN LATERAL (
                SELECT at, payload, xmin::text::bigint AS transaction FROM ${schema}.journal j
                WHERE j.key = g.key AND j.position = g.position AND j.note = g.note OFFSET 0
            ) j
            """;

    /** Longer than any batch takes, so that it tells of something stuck. */
    static final String LOCK_TIMEOUT = "500ms";

    /** What a batch may be made of, in the order in which it is sent. */
    enum Part {
        SETTINGS,
        MAKE_OBJECTS,
        LOCK_OBJECTS,
        FREE_CALLS,
        LOCK,
        LOCK_AFTER,
        LOCK_ALL,
        APPEND,
        START,
        START_OWN,
        TASK,
        ENTER,
        COMMAND,
        KILL_TASKS,
        CANCEL,
        FOLLOW,
        EFFECT,
        STATE,
        DELIVER,
        MOVE,
        END,
        END_OWN,
        RESTART,
        RERUN,
        WHOLE,
        WHOLE_STATE,
        ANSWER,
        RELEASE,
        OPEN,
        OPEN_ALL,
        HANDED,
        HANDED_TASKS,
        KNOWN_STATES
    }

    private record Shape(Set<Part> parts, boolean careful) {}

    private final ConcurrentMap<Shape, String> shapes = new ConcurrentHashMap<>();

    final String settings;
    final String lock;
    final String lockAfter;
    final String lockAll;
    final String append;
    final String carefulAppend;
    final String move;
    final String end;
    final String carefulEnd;
    final String start;
    final String command;
    final String killTasks;
    final String existing;
    final String there;
    final String control;
    final OwnSql own;
    final MailSql mail;
    final ObjectSql objects;
    final WholeSql whole;
    final FreeCallSql free;
    final GraphSql graph;

    LedgerSql(Schema schema) {
        this.settings = schema.sql(SETTINGS);
        this.lock = schema.sql(LOCK);
        this.lockAfter = schema.sql(LOCK_AFTER);
        this.lockAll = schema.sql(LOCK_ALL);
        this.append = schema.sql(APPEND.replace("${carefully}", ""));
        this.carefulAppend = schema.sql(APPEND.replace("${carefully}", CAREFULLY));
        this.move = schema.sql(MOVE);
        this.end = schema.sql(END.replace("${carefully}", ""));
        this.carefulEnd = schema.sql(END.replace("${carefully}", CAREFULLY));
        this.start = schema.sql(START);
        this.command = schema.sql(COMMAND.replace("${given}", WISHES));
        this.killTasks = schema.sql(COMMAND.replace("${given}", GraphSql.TASKS_OF_KILLED));
        this.existing = schema.sql(EXISTING);
        this.there = schema.sql(THERE);
        this.control = schema.sql(CONTROL);
        this.own = new OwnSql(schema);
        this.mail = new MailSql(schema);
        this.objects = new ObjectSql(schema);
        this.whole = new WholeSql(schema);
        this.free = new FreeCallSql(schema);
        this.graph = new GraphSql(schema);
    }

    /** The parts that a batch needs, as one. */
    String shape(Set<Part> parts, boolean careful) {
        return shapes.computeIfAbsent(
                new Shape(Set.copyOf(parts), careful),
                shape -> Arrays.stream(Part.values())
                        .filter(shape.parts::contains)
                        .map(part -> text(part, careful))
                        .collect(Collectors.joining(";\n")));
    }

    private String text(Part part, boolean careful) {
        return switch (part) {
            case SETTINGS -> settings;
            case MAKE_OBJECTS -> objects.make;
            case LOCK_OBJECTS -> objects.lock;
            case ENTER -> objects.enter;
            case STATE, WHOLE_STATE -> objects.state;
            case WHOLE -> whole.whole;
            case FREE_CALLS -> free.turn;
            case KNOWN_STATES -> objects.readAll;
            case FOLLOW -> objects.follow;
            case RELEASE -> objects.release;
            case LOCK -> lock;
            case LOCK_AFTER -> lockAfter;
            case LOCK_ALL -> lockAll;
            case APPEND -> careful ? carefulAppend : append;
            case START -> start;
            case START_OWN -> own.start;
            case TASK -> graph.task;
            case COMMAND, CANCEL -> command;
            case KILL_TASKS -> killTasks;
            case EFFECT -> mail.effect;
            case DELIVER -> mail.deliver;
            case MOVE -> move;
            case END -> careful ? carefulEnd : end;
            case END_OWN -> own.end;
            case RESTART -> mail.restart;
            case RERUN -> graph.rerun;
            case ANSWER -> mail.answer;
            case OPEN -> graph.open;
            case OPEN_ALL -> graph.openAll;
            case HANDED -> graph.handed;
            case HANDED_TASKS -> graph.handedTasks;
        };
    }
}
