package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.reaction.ReactionParts;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;

/**
 * The statements of a poll: one execute of all of them, after {@link LedgerSql#settings}. Only the last one has columns
 * of unbounded size (see {@link LedgerSql} and {@link Claims}). They reach a run from its timer or its place in the
 * queue, against the lock order of batches, so they never wait: they skip locked rows. A claim returns everything that
 * a worker needs for the runs that it takes, so that a poll is one round trip. Only the rest about signalled runs is
 * read afterwards.
 */
public final class DispatchSql {
    /**
     * Makes due runs ready. Locks the lane first, as every batch does, so that a sweep that expires this worker does
     * not deadlock with it. Limited, so that a million timers that are due at once are not one huge transaction.
     */
    private static final String WAKE = """
            WITH ${fence}, ${clock}, due AS MATERIALIZED (
                SELECT ctid AS place, key, due_at FROM ${schema}.timer
                WHERE EXISTS (SELECT FROM fence) AND due_at <= (SELECT at FROM clock)${among}
                ORDER BY due_at, key
                LIMIT 1000
                FOR UPDATE SKIP LOCKED
            ), sleeper AS MATERIALIZED (
                SELECT due.place, r.*, clock.at AS moved_at
                FROM due
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = due.key FOR NO KEY UPDATE SKIP LOCKED) r
                CROSS JOIN clock
                WHERE r.wake_at = due.due_at
            ), fired AS (
                DELETE FROM ${schema}.timer WHERE ctid = ANY (ARRAY(SELECT place FROM sleeper))
            ), logged AS (
                ${log FROM sleeper}
            ), queued AS (
                ${enqueue FROM sleeper}
            ), woken AS (
                UPDATE ${schema}.run SET
                    changed_at = s.moved_at, wake_at = NULL, changes = s.changes + 1, state = ${READY}, reason = NULL
                FROM sleeper s
                WHERE run.key = ANY (ARRAY(SELECT key FROM sleeper)) AND run.key = s.key
            )
            SELECT count(*) FROM sleeper
            """;

    /**
     * Claims suitable runs by priority and age. A run that has to run alone is taken if it comes first, and then no
     * other run is taken.
     *
     * <p>The floor is where the last claim stopped. Entries of claimed rows stay in the index until they are vacuumed,
     * and for as long as an old transaction might need them. Without a floor, every claim would read all of them. The
     * claim also looks for runs with a higher priority than the floor.
     */
    private static final String CLAIM = """
            WITH ${fence}, ${clock}, suiting AS MATERIALIZED (
                SELECT q.queue, s.definition, s.version
                FROM unnest(?::text[]) AS q (queue), unnest(?::text[], ?::text[]) AS s (definition, version)
                WHERE EXISTS (SELECT FROM fence)
            ), loner AS MATERIALIZED (
                SELECT r.* FROM suiting s
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, rank, since, alone FROM ${schema}.ready r
                    WHERE r.queue = s.queue AND r.definition = s.definition AND r.version = s.version AND r.alone${unkeyed}${among}
                    ORDER BY rank, since, key
                    LIMIT 1
                    FOR UPDATE SKIP LOCKED
                ) r
                WHERE ?
                ORDER BY rank, since, key
                LIMIT 1
            ), look AS MATERIALIZED (
                SELECT ?::int AS rank, ?::timestamptz AS since, ${LAST_RANK}::bigint AS last
                UNION ALL
                SELECT ${FIRST_RANK}, '-infinity', ?::bigint - 1 WHERE ?
            ), crowd AS MATERIALIZED (
                SELECT r.* FROM suiting s
                CROSS JOIN look
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, rank, since, alone FROM ${schema}.ready r
                    WHERE r.queue = s.queue AND r.definition = s.definition AND r.version = s.version AND NOT r.alone
                      AND (r.rank, r.since) >= (look.rank, look.since) AND r.rank <= look.last${unkeyed}${among}
                    ORDER BY rank, since, key
                    LIMIT ?
                    FOR UPDATE SKIP LOCKED
                ) r
                ORDER BY rank, since, key
                LIMIT ?
            ), foremost AS MATERIALIZED (
                SELECT alone FROM (SELECT * FROM loner UNION ALL SELECT * FROM crowd) AS both_of_them
                ORDER BY rank, since, key
                LIMIT 1
            ), picked AS MATERIALIZED (
                SELECT * FROM loner WHERE (SELECT alone FROM foremost)
                UNION ALL
                SELECT * FROM crowd WHERE NOT (SELECT alone FROM foremost)
            ), looked AS MATERIALIZED (
                SELECT p.place, p.rank, p.since, p.alone, r.*, clock.at AS moved_at
                FROM picked p
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = p.key FOR NO KEY UPDATE SKIP LOCKED) r
                CROSS JOIN clock
                WHERE ${in_time}
            ), taken AS NOT MATERIALIZED (
                SELECT * FROM looked WHERE state = ${READY}
            ), unqueued AS (
                -- Includes a row whose run is not ready: it would take the place of another run at every claim.
                DELETE FROM ${schema}.ready WHERE ctid = ANY (ARRAY(SELECT place FROM looked))
            ), logged AS (
                -- The row of a run that was started as ready shows that itself.
                ${log FROM taken WHERE changes > 0}
            ), kept AS (
                ${hold(worker = ?) FROM taken}
            ), claimed AS (
                UPDATE ${schema}.run SET
                    epoch = t.epoch + 1, changed_at = t.moved_at, owner = ?, wakes = 0, changes = t.changes + 1,
                    state = ${RUNNING}, reason = NULL, version = ${pinned}
                FROM taken t
                WHERE run.key = ANY (ARRAY(SELECT key FROM taken)) AND run.key = t.key
            )
            SELECT g.rank, g.since, g.alone, (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS took,
                   ${details}
            ORDER BY g.rank, g.since, g.key
            """;

    /** A worker pins a run that it takes if the definition asks for it and the run is not pinned. */
    static final String PINNED = "COALESCE(t.version, CASE WHEN t.definition = ANY (?::text[]) THEN ?::text END)";

    /** Runs of this worker that have mail or a command. */
    private static final String SIGNALLED = """
            SELECT r.key
            FROM ${schema}.held h
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = h.key OFFSET 0) r
            WHERE h.worker = ? AND h.woken AND r.owner = h.worker AND r.wakes > 0
              AND ${lane_exists}
            """;

    /**
     * What else an idle worker needs to know. A claim takes at most one run that has to run alone, so counting up to
     * two is enough.
     */
    private static final String OUTLOOK = """
            SELECT LEAST(
                       (SELECT due_at FROM ${schema}.timer ORDER BY due_at LIMIT 1),
                       (SELECT due_at FROM ${schema}.start_limit WHERE due_at > clock.at ORDER BY due_at LIMIT 1),
                       ${next_preference}
                   ) AS next_due,
                   EXISTS (SELECT FROM ${schema}.start_limit WHERE due_at <= clock.at) AS limits_due,
                   EXISTS (SELECT FROM ${schema}.lateness) AS lateness_counts,
                   EXISTS (
                       SELECT FROM ${schema}.start_key k
                       WHERE k.after IS NOT NULL
                         -- Not NOT EXISTS, for which the server reads the keys of all runs.
                         AND (SELECT true FROM ${schema}.run a WHERE a.key = k.after AND a.state < ${COMPLETED} LIMIT 1) IS NULL
                   ) AS keys_free,
                   EXISTS (SELECT FROM ${schema}.start_key WHERE look_at <= clock.at) AS keys_stale,
                   (SELECT true FROM ${schema}.permit WHERE state = 0 LIMIT 1) IS TRUE AS permits_wait,
                   (
                       SELECT count(*)
                       FROM unnest(?::text[]) AS q (queue), unnest(?::text[], ?::text[]) AS s (definition, version)
                       CROSS JOIN LATERAL (
                           SELECT FROM ${schema}.ready r
                           WHERE r.queue = q.queue AND r.definition = s.definition AND r.version = s.version AND r.alone
                             AND r.queue_key IS NULL
                           LIMIT 2
                       ) loner
                   ) AS loners,
                   ${lane_exists} AS alive,
                   EXISTS (
                       SELECT FROM ${schema}.inbox WHERE taken_until IS NULL OR taken_until < clock_timestamp()
                   ) AS inbox_waits,
                   EXISTS (SELECT FROM unnest(?::text[]) AS n (name) WHERE ${waits}) AS limited_waits,
                   (SELECT COALESCE(sum(revision), 0)::bigint FROM ${schema}.queue) AS queue_revision,
                   ${placement_news} AS placement_news,
                   COALESCE(${next_preference} <= clock.at, false) AS preference_over
            FROM (SELECT ${now} AS at OFFSET 0) clock
            """;

    /** {@link LimitedClaims} claims runs with keys, and runs of queues with limits. */
    private static final String UNKEYED = " AND r.queue_key IS NULL";

    /** Only some runs, to find the one because of which a poll fails. */
    private static final String AMONG = " AND key = ANY (?::bigint[])";

    /** Runs that a poll would make ready. */
    private static final String DUE = """
            SELECT key FROM ${schema}.timer WHERE due_at <= ${now} ORDER BY due_at, key LIMIT 1000
            """;

    /** Runs that a poll could claim. */
    private static final String QUEUED = """
            SELECT r.key
            FROM unnest(?::text[]) AS q (queue), unnest(?::text[], ?::text[]) AS s (definition, version),
                 unnest('{f,t}'::bool[]) AS a (alone)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.ready r
                WHERE r.queue = q.queue AND r.definition = s.definition AND r.version = s.version AND r.alone = a.alone
                  AND r.queue_key IS NULL
                ORDER BY rank, since, key
                LIMIT 1000
            ) r
            UNION ALL
            SELECT r.key
            FROM unnest(?::text[]) AS q (queue)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.ready r WHERE r.queue = q.queue AND r.queue_key IS NOT NULL
                ORDER BY queue_key, definition, version, alone, rank, since, key
                LIMIT 1000
            ) r
            """;

    /** Pauses a run that no poll can make ready or claim. It writes none of the rows because of which that fails. */
    private static final String SET_ASIDE = """
            WITH ${fence}, stuck AS MATERIALIZED (
                SELECT r.*, ${now} AS moved_at
                FROM (
                    SELECT ctid AS place, key, partition, state, changes, changed_at, wake_at, reason, id, definition
                    FROM ${schema}.run
                    WHERE run.key = ?::bigint AND run.state IN (${READY}, ${SUSPENDED}, ${BACKING_OFF})
                    FOR NO KEY UPDATE SKIP LOCKED
                ) r
                WHERE EXISTS (SELECT FROM fence)
            ), unqueued AS (
                ${dequeue FROM stuck s}
            ), untimed AS (
                ${clear_timer FROM stuck s}
            ), logged AS (
                ${log FROM stuck}
                ON CONFLICT DO NOTHING
            ), paused AS (
                UPDATE ${schema}.run SET
                    changed_at = s.moved_at, wake_at = NULL, changes = s.changes + 1, state = ${PAUSED}, reason = ?::text
                FROM stuck s
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM stuck)) AND run.key = s.key
            )
            SELECT id, definition FROM stuck
            """;

    final String wake;
    final String claim;
    final String signalled;
    final String outlook;
    public final String poll;
    final String due;
    final String queued;
    final String wakeAmong;
    final String claimAmong;
    final String setAside;

    public DispatchSql(Schema schema, LedgerSql ledger) {
        this.wake = Pieces.sql(schema, WAKE.replace("${among}", ""));
        String claiming = CLAIM.replace("${details}", Claims.TAKEN)
                .replace("${pinned}", PINNED)
                .replace("${in_time}", StartLimitSql.IN_TIME)
                .replace("${FIRST_RANK}", String.valueOf(Integer.MIN_VALUE))
                .replace("${LAST_RANK}", String.valueOf(Integer.MAX_VALUE));
        this.claim = Pieces.sql(schema, claiming.replace("${unkeyed}", UNKEYED).replace("${among}", ""));
        this.due = Pieces.sql(schema, DUE);
        this.queued = Pieces.sql(schema, QUEUED);
        this.wakeAmong = ledger.settings + ";\n" + Pieces.sql(schema, WAKE.replace("${among}", AMONG));
        this.claimAmong = ledger.settings + ";\n"
                + Pieces.sql(schema, claiming.replace("${unkeyed}", "").replace("${among}", AMONG));
        this.setAside = String.join(
                ";\n", ledger.settings, Pieces.sql(schema, SET_ASIDE), ReactionParts.text(ledger.reactions));
        this.signalled = Pieces.sql(schema, SIGNALLED);
        this.outlook = Pieces.sql(
                schema,
                PlacementSql.pieces(OUTLOOK.replace("${waits}", LimitedClaimSql.WAITS)
                        .replace("${placement_news}", PlacementSql.NEWS)
                        .replace("${next_preference}", PlacementSql.NEXT_PREFERENCE)));
        this.poll = String.join(";\n", ledger.settings, wake, signalled, outlook, claim);
    }
}
