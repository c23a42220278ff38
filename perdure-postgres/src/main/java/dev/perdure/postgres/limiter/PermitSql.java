package dev.perdure.postgres.limiter;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.AwaitedText;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;
import dev.perdure.spi.Permits;

/**
 * The statements that give permits.
 *
 * <p>How it works: one execute locks the row of the limiter. The statement after that has a new snapshot, so it sees
 * all permits that were given before it. It counts the permits from the rows of runs and their journals; {@code permit}
 * only lists the attempts to examine. It walks along the line from its head: an attempt whose turn it is gets a permit
 * if it asks, and otherwise its run is woken. It deletes the rows of attempts that are over, and examines no more of
 * the line than a window at its head. It leaves out attempts of runs whose partition is closed because it moves: the server
 * would refuse to change them, and with them everything else in the statement. Requests of such runs have to be repeated.
 *
 * <p>Lock order: lane, limiter, then runs, which are skipped if they are locked: such a run is woken the next time.
 */
public final class PermitSql {
    /** How many attempts at the head of a line are examined. */
    private static final int WINDOW = 200;

    /** Locks the lane of the worker first, if a worker asks, as every batch does. */
    private static final String LOCK = """
            WITH ${fence}
            SELECT count(*) FROM (
                SELECT FROM ${schema}.limiter WHERE name = ? AND (?::int IS NULL OR EXISTS (SELECT FROM fence))
                FOR NO KEY UPDATE${skip}
            ) AS locked
            """;

    private static final String TURN = """
            WITH ${clock_after_lock}, rule AS MATERIALIZED (
                SELECT l.name, l.line, l.paused IS NOT NULL AS paused,
                       NULLIF(l.limits->>'concurrency', 'none')::int AS concurrency,
                       l.limits->>'rate' AS rate, l.limits->>'burst' AS burst,
                       ${schema}.window_units(l.limits->>'rate', l.limits->>'burst') AS rate_units,
                       ${schema}.window_period(l.limits->>'rate', l.limits->>'burst') AS rate_period,
                       ${schema}.burst_units(l.limits->>'rate', l.limits->>'burst') AS burst_units,
                       ${schema}.burst_period(l.limits->>'rate', l.limits->>'burst') AS burst_period
                FROM (
                    SELECT *, declared || changed AS limits FROM ${schema}.limiter WHERE limiter.name = ? FOR NO KEY UPDATE${skip}
                ) l
                WHERE ${client_or_lane_exists}
            ), asked AS MATERIALIZED (
                -- Only for runs that this worker holds. An attempt that has asked before keeps its place in the line.
                SELECT g.ordinal, g.key, g.position, g.attempt, g.epoch, r.restarts, r.partition, p.number, p.asked_at,
                       COALESCE(p.state = 1, false) AS held, row_number() OVER (PARTITION BY p.number IS NULL ORDER BY g.ordinal) AS nth
                FROM rule
                CROSS JOIN unnest(?::bigint[], ?::int[], ?::int[], ?::bigint[]) WITH ORDINALITY
                    AS g (key, position, attempt, epoch, ordinal)
                CROSS JOIN LATERAL (
                    SELECT restarts, partition FROM ${schema}.run
                    WHERE run.key = g.key AND run.state = ${RUNNING} AND run.epoch = g.epoch AND run.owner = ?
                      AND NOT EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = run.partition)
                    OFFSET 0
                ) r
                LEFT JOIN LATERAL (
                    SELECT number, asked_at, state FROM ${schema}.permit
                    WHERE permit.limiter = rule.name AND permit.key = g.key AND permit.position = g.position
                      AND permit.attempt = g.attempt AND permit.restarts = r.restarts
                      AND (permit.state <> 1 OR permit.epoch = g.epoch) OFFSET 0
                ) p ON true
            ), holder AS MATERIALIZED (
                SELECT p.place, p.key, p.position,
                       COALESCE(r.state = ${RUNNING} AND r.epoch = p.epoch, false) AND NOT EXISTS (
                           SELECT FROM ${schema}.journal j
                           WHERE j.key = p.key AND j.position = p.position AND j.note IN (0, p.attempt)
                       ) AS holds
                FROM rule
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, position, attempt, epoch FROM ${schema}.permit
                    WHERE permit.limiter = rule.name AND permit.state = 1 OFFSET 0
                ) p
                LEFT JOIN LATERAL (SELECT state, epoch FROM ${schema}.run WHERE run.key = p.key OFFSET 0) r ON true
            ), head AS MATERIALIZED (
                SELECT p.*, r.state AS run_state,
                       r.state IS NULL OR r.state >= ${COMPLETED} OR r.restarts <> p.restarts OR EXISTS (
                           SELECT FROM ${schema}.journal j
                           WHERE j.key = p.key AND j.position = p.position AND j.note IN (0, p.attempt)
                       ) AS over,
                       -- The run is about to ask, or can be woken; and if it was woken, that is not long ago.
                       CASE r.state WHEN ${SUSPENDED} THEN COALESCE('${LIMITER}' || rule.name = ANY (r.awaited_names), false)
                                    WHEN ${RUNNING} THEN NOT p.late
                                    WHEN ${READY} THEN NOT p.late
                                    ELSE false END AS waits,
                       EXISTS (SELECT FROM asked a WHERE a.key = p.key AND a.position = p.position) AS asks
                FROM rule
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, number, key, position, attempt, restarts, called_at,
                           COALESCE(called_at <= clock.at - interval '${GRACE}', false) AS late
                    FROM ${schema}.permit
                    WHERE permit.limiter = rule.name AND permit.state = 0
                      AND NOT EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = permit.partition)
                    ORDER BY number
                    LIMIT ${WINDOW}
                ) p
                LEFT JOIN LATERAL (
                    SELECT state, restarts, awaited_names FROM ${schema}.run WHERE run.key = p.key OFFSET 0
                ) r ON true
            ), reach AS MATERIALIZED (
                SELECT count(*) = ${WINDOW} AS cut, max(number) AS last FROM head
            ), given AS MATERIALIZED (
                -- What was given lately leaves the window of the burst at one time, and that of the rate at another.
                SELECT r.units, e.ended_at + rule.burst_period AS leaves_burst, e.ended_at + rule.rate_period AS leaves_rate
                FROM rule
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.limiter_rate
                    WHERE limiter_rate.limiter = rule.name AND limiter_rate.expires_at > clock.at OFFSET 0
                ) r
                CROSS JOIN LATERAL (SELECT ${schema}.stretch_end(r.ended_at, r.since, r.expires_at) AS ended_at) e
            ), free AS MATERIALIZED (
                SELECT CASE WHEN rule.paused THEN 0 ELSE COALESCE(LEAST(
                           rule.concurrency - (SELECT count(*) FROM holder WHERE holds),
                           rule.rate_units - (SELECT COALESCE(sum(units), 0) FROM given WHERE leaves_rate > clock.at),
                           rule.burst_units - (SELECT COALESCE(sum(units), 0) FROM given WHERE leaves_burst > clock.at)
                       ), ${WINDOW} + (SELECT count(*) FROM asked)) END AS permits
                FROM rule CROSS JOIN clock
            ), line AS MATERIALIZED (
                SELECT number, key, place, run_state, called_at, late, NULL::bigint AS ordinal
                FROM head WHERE waits AND NOT over AND NOT asks
                UNION ALL
                SELECT a.number, a.key, NULL, NULL, NULL, false, a.ordinal
                FROM asked a CROSS JOIN reach
                WHERE NOT a.held AND (NOT reach.cut OR a.number <= reach.last)
            ), turn AS MATERIALIZED (
                SELECT numbered.* FROM (
                    SELECT line.*, row_number() OVER (ORDER BY number NULLS LAST, ordinal) AS nth FROM line
                ) numbered CROSS JOIN free
                WHERE numbered.nth <= free.permits
            ), called AS MATERIALIZED (
                SELECT key, place, run_state FROM turn WHERE ordinal IS NULL AND (called_at IS NULL OR late)
            ), woken AS MATERIALIZED (
                SELECT r.*, clock.at AS moved_at
                FROM (SELECT DISTINCT key FROM called WHERE run_state <> ${READY}) c
                CROSS JOIN clock
                CROSS JOIN rule
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.run
                    WHERE run.key = c.key AND (run.state = ${RUNNING}
                        OR run.state = ${SUSPENDED} AND '${LIMITER}' || rule.name = ANY (run.awaited_names))
                    FOR NO KEY UPDATE SKIP LOCKED
                ) r
            ), untimed AS (
                ${clear_timer FROM woken w WHERE w.state = ${SUSPENDED}}
            ), logged AS (
                ${log FROM woken WHERE state = ${SUSPENDED}}
            ), queued AS (
                ${enqueue FROM woken WHERE state = ${SUSPENDED}}
            ), signalled AS (
                ${mark_woken FROM woken WHERE state = ${RUNNING}}
            ), moved AS (
                UPDATE ${schema}.run SET
                    changed_at = CASE w.state WHEN ${SUSPENDED} THEN w.moved_at ELSE w.changed_at END,
                    wake_at = CASE w.state WHEN ${SUSPENDED} THEN NULL ELSE w.wake_at END,
                    changes = w.changes + CASE w.state WHEN ${SUSPENDED} THEN 1 ELSE 0 END,
                    wakes = w.wakes + CASE w.state WHEN ${RUNNING} THEN 1 ELSE 0 END,
                    state = CASE w.state WHEN ${SUSPENDED} THEN ${READY}::smallint ELSE w.state END
                FROM woken w
                WHERE run.key = ANY (ARRAY(SELECT key FROM woken)) AND run.key = w.key
            ), noted AS (
                UPDATE ${schema}.permit SET called_at = (SELECT at FROM clock)
                WHERE ctid = ANY (ARRAY(
                    SELECT place FROM called WHERE run_state = ${READY} OR key IN (SELECT key FROM woken)))
            ), passed AS (
                UPDATE ${schema}.permit SET state = 2, called_at = NULL
                WHERE ctid = ANY (ARRAY(SELECT place FROM head WHERE NOT waits AND NOT over AND NOT asks))
            ), gone AS (
                DELETE FROM ${schema}.permit
                WHERE ctid = ANY (ARRAY(
                    SELECT place FROM head WHERE over AND NOT asks
                    UNION ALL
                    SELECT place FROM holder h
                    WHERE NOT holds AND NOT EXISTS (SELECT FROM asked a WHERE a.key = h.key AND a.position = h.position)))
            ), kept AS (
                INSERT INTO ${schema}.permit
                    (limiter, number, key, epoch, asked_at, position, attempt, restarts, partition, state)
                SELECT rule.name, COALESCE(a.number, rule.line + a.nth), a.key, a.epoch, COALESCE(a.asked_at, clock.at), a.position,
                       a.attempt, a.restarts, a.partition, CASE WHEN a.ordinal IN (SELECT ordinal FROM turn) THEN 1 ELSE 0 END
                FROM asked a CROSS JOIN rule CROSS JOIN clock
                WHERE NOT a.held
                ON CONFLICT (limiter, key, position, partition) DO UPDATE SET
                    number = excluded.number, epoch = excluded.epoch, asked_at = excluded.asked_at, called_at = NULL,
                    attempt = excluded.attempt, restarts = excluded.restarts, state = excluded.state
            ), lined_up AS (
                UPDATE ${schema}.limiter SET line = limiter.line + n.added
                FROM (SELECT count(*) AS added FROM asked WHERE number IS NULL) n
                WHERE limiter.name = (SELECT name FROM rule) AND n.added > 0
            ), began AS MATERIALIZED (
                SELECT rule.name, s.since, s.since + l.stretch AS ended_at, rule.rate_period, rule.burst_period, rule.rate, rule.burst,
                       (SELECT count(*) FROM turn WHERE ordinal IS NOT NULL) AS units
                FROM rule
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT ${schema}.rate_stretch(rule.rate, rule.burst) AS stretch) l
                CROSS JOIN LATERAL (SELECT date_bin(l.stretch, clock.at, timestamptz 'epoch') AS since) s
                WHERE rule.rate_units IS NOT NULL
            ), charged AS (
                INSERT INTO ${schema}.limiter_rate AS q (limiter, since, ended_at, expires_at, units)
                SELECT name, since, ended_at, ${schema}.rate_expiry(units, ended_at, false, rate, burst), units FROM began WHERE units > 0
                ON CONFLICT (limiter, since) DO UPDATE SET
                    units = q.units + excluded.units,
                    ended_at = GREATEST(q.ended_at, excluded.ended_at), expires_at = GREATEST(q.expires_at, excluded.expires_at)
            )
            -- A worker without a lane sees no rule, although the limiter is known: it would declare the limiter again and again.
            SELECT EXISTS (SELECT FROM ${schema}.limiter WHERE limiter.name = ?) AS known,
                   EXISTS (SELECT FROM rule) AS looked,
                   EXISTS (SELECT FROM woken WHERE state = ${SUSPENDED}) AS readied,
                   ARRAY(SELECT ordinal FROM turn WHERE ordinal IS NOT NULL UNION ALL SELECT ordinal FROM asked WHERE held) AS held,
                   -- They have no place in the line: a run that waits for its turn now would wait for ever if it does not move.
                   ARRAY(
                       SELECT g.ordinal FROM unnest(?::bigint[]) WITH ORDINALITY AS g (key, ordinal)
                       WHERE EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = (g.key & 255))
                   ) AS moving,
                   ARRAY(
                       SELECT DISTINCT w.id::text FROM woken CROSS JOIN LATERAL (
                           SELECT id FROM ${schema}.worker WHERE worker.number = woken.owner OFFSET 0
                       ) w
                       WHERE woken.state = ${RUNNING}
                   ) AS signalled,
                   (
                       SELECT min(t.at) FROM (
                           SELECT ended_at + burst_period FROM began WHERE units > 0
                           UNION ALL
                           SELECT leaves_rate FROM given
                           UNION ALL
                           SELECT leaves_burst FROM given
                           UNION ALL
                           SELECT called_at + interval '${GRACE}' FROM turn WHERE NOT late AND called_at IS NOT NULL
                       ) t (at)
                       WHERE t.at > (SELECT at FROM clock)
                   ) AS free_at
            """;

    /** The limiters for which attempts wait. */
    private static final String WAITING = """
            SELECT l.name FROM ${schema}.limiter l
            WHERE (
                    SELECT true FROM ${schema}.permit p
                    WHERE p.limiter = l.name AND p.state = 0
                      AND NOT EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = p.partition)
                    LIMIT 1
                )
              AND (?::text[] IS NULL OR l.name = ANY (?::text[]))
            ORDER BY l.name
            """;

    /** Forgets attempts that were passed over and are over, and what no rate counts any more. Bounded. */
    private static final String TIDY = """
            WITH gone AS (
                DELETE FROM ${schema}.permit p
                WHERE p.ctid = ANY (ARRAY(
                    SELECT o.ctid FROM ${schema}.permit o LEFT JOIN ${schema}.run r ON r.key = o.key
                    WHERE o.state <> 0 AND (r.state IS NULL OR r.state >= ${COMPLETED} OR r.restarts <> o.restarts)
                    LIMIT 1000))
            ), counted AS (
                DELETE FROM ${schema}.limiter_rate WHERE expires_at <= ${now}
            )
            SELECT 1
            """;

    public final String take;
    public final String next;
    final String waiting;
    final String tidy;

    public PermitSql(Schema schema, LedgerSql ledger) {
        this.take = ledger.settings + ";\n" + sql(schema, LOCK, "") + ";\n" + sql(schema, TURN, "");
        this.next =
                ledger.settings + ";\n" + sql(schema, LOCK, " SKIP LOCKED") + ";\n" + sql(schema, TURN, " SKIP LOCKED");
        this.waiting = ledger.settings + ";\n" + Pieces.sql(schema, WAITING);
        this.tidy = Pieces.sql(schema, TIDY);
    }

    private static String sql(Schema schema, String statement, String skip) {
        return Pieces.sql(
                schema,
                statement
                        .replace("${skip}", skip)
                        .replace("${WINDOW}", String.valueOf(WINDOW))
                        .replace("${LIMITER}", AwaitedText.LIMITER)
                        .replace("${GRACE}", Permits.GRACE.toSeconds() + " s"));
    }
}
