package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Moves;

/** The statements of a batch by which runs change their states. The rules of {@link LedgerSql} apply. */
public final class MoveSql {
    /**
     * Moves runs. Changes only runs that the worker holds as the batch believes; the answer has the found state of
     * each. The sweep uses it too, without a lane and under the number of the dead worker.
     */
    private static final String MOVE = """
            WITH ${clock}, given AS MATERIALIZED (
                SELECT * FROM ${moves}
                WHERE ${client_or_lane_exists}
            ), entry AS MATERIALIZED (
                SELECT * FROM ${entries}
            ), there_before AS MATERIALIZED (
                -- An earlier try of the same transition has left it, and the time of that try counts.
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
                       -- A run that wants to wait for other runs stays running if those have ended.
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
                       -- Progress resets the count; giving the run up adds to it.
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
                                'Recovered %s times without progress; the last time because: %s. Fix the cause, then resume it.',
                                recoveries_now, why)
                            ELSE why END AS reason_now,
                       CASE WHEN move = ${WAIT} THEN COALESCE(
                            timestamptz 'epoch' + due * interval '1 microsecond',
                            entered_at + delay * interval '1 microsecond') END AS wake_at_now
                FROM counted c
            ), appended AS (
                ${append(partition = d.partition, at = d.moved_at) FROM decided d
                JOIN entry e ON e.key = d.key
                WHERE d.holds}
                ON CONFLICT DO NOTHING
            ), logged AS (
                -- The row of a run that was started as running shows that itself.
                ${log FROM decided WHERE moves AND changes > 0}
            ), let_go AS (
                ${let_go FROM decided d WHERE d.moves}
            ), timed AS (
                ${set_timer(due_at = wake_at_now) FROM decided WHERE moves AND wake_at_now IS NOT NULL}
            ), queued AS (
                ${enqueue(alone = recoveries_now >= ${ALONE_AFTER}) FROM decided WHERE moves AND state_now = ${READY}}
            ), moved AS (
                UPDATE ${schema}.run SET
                    epoch = CASE WHEN d.move = ${RECOVER} THEN d.epoch + 1 ELSE d.epoch END,
                    changed_at = d.moved_at, wake_at = d.wake_at_now, owner = NULL, changes = d.changes + 1,
                    recoveries = d.recoveries_now,
                    entries_at_recovery = CASE WHEN d.move = ${RECOVER} THEN d.entries_now ELSE d.entries_at_recovery END,
                    state = d.state_now, reason = d.reason_now,
                    -- A pause is requested once, and has happened now.
                    pause = CASE WHEN d.state_now = ${PAUSED} THEN NULL ELSE d.pause END,
                    needed = d.needed_now, awaited = d.awaited_now::int4multirange, awaited_names = d.awaited_names_now::text[]
                FROM decided d
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM decided WHERE moves)) AND run.key = d.key AND d.moves
            )
            SELECT key, holds, woken, state, epoch, state_now, entered_at, moved_at, changed_at FROM decided
            """;

    /**
     * Ends runs: what {@link #move} does for them, without what it does for other moves. Most moves are ends, and for a
     * single one the server needs less time for the rows than for setting up the statement, so this is twice as fast.
     */
    private static final String END = """
            WITH ${clock}, decided AS MATERIALIZED (
                SELECT r.*, g.state AS state_now, g.reason AS reason_now, clock.at AS moved_at,
                       r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ? AS holds
                FROM ${ends}
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, partition, state, epoch, owner, changes, changed_at, reason
                    FROM ${schema}.run WHERE run.key = g.key AND run.partition = g.key & 255 OFFSET 0
                ) r
                WHERE ${client_or_lane_exists}
            ), appended AS (
                ${append(partition = d.partition, at = d.moved_at) FROM decided d
                JOIN ${entries} ON e.key = d.key
                WHERE d.holds}
                ${carefully}
            ), let_go AS (
                ${let_go FROM decided d WHERE d.holds}
            ), ended AS (
                UPDATE ${schema}.run SET
                    ${end_columns(at = d.moved_at, state = d.state_now, reason = d.reason_now)}
                FROM decided d
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM decided WHERE holds)) AND run.key = d.key AND d.holds
            )
            SELECT key, holds, false AS woken, state, epoch, state_now, moved_at AS entered_at, moved_at, changed_at FROM decided
            """;

    public final String move;
    public final String end;
    final String carefulEnd;

    MoveSql(Schema schema) {
        this.move = Pieces.sql(schema, MOVE.replace("${moves}", Moves.COLUMNS.many("g")));
        String end = END.replace("${ends}", Moves.ENDS.many("g"));
        this.end = Pieces.sql(schema, end.replace("${carefully}", ""));
        this.carefulEnd = Pieces.sql(schema, end.replace("${carefully}", LedgerSql.CAREFULLY));
    }
}
