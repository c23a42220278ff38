package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.MailDeliveries;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.change.OwnEffects;
import dev.perdure.spi.change.EndReport;

/**
 * The statements of a batch for effects outside the moved runs. The rules of {@link LedgerSql} apply.
 *
 * <p>How it works: the effects of a transition outside its run come before its move, because the run's row has its
 * right to them: for a move, the worker must hold the run as the batch believes; a stay is fenced by the lane alone. So
 * mail meets a run as it was before the moves of the same batch, and a run that was about to wait finds itself woken.
 * Only {@link #answer} comes after all moves and commands: it delivers the outcomes of runs that have ended by them.
 *
 * <p>Mail is numbered, and checked for being new, under the lock of the receiving run, which {@link LockSql#lock} took.
 * A run that another transaction has started since is not locked yet. It is locked here if that needs no wait and the
 * run has not changed since this statement began; otherwise it counts as not existing yet.
 */
final class MailSql {
    /** The effects of a transition on its own run, except the journal. */
    private static final String EFFECT = """
            WITH acting AS MATERIALIZED (
                SELECT r.key, r.partition, r.restarts
                FROM ${acting}
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE ${lane_exists}
                  AND (g.epoch IS NULL OR r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ?)
            ), took AS (
                ${take_mail}
                WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM acting a
                    JOIN ${takes} ON g.key = a.key
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail WHERE mail.key = g.key AND mail.number = g.number AND NOT taken OFFSET 0
                    ) m))
            ), published AS (
                INSERT INTO ${schema}.publication (key, "offset", at, partition, name, payload)
                SELECT a.key, a.restarts::bigint << 32 | g.position, ${now}, a.partition, g.name, g.payload
                FROM acting a
                JOIN ${publishes} ON g.key = a.key
                ON CONFLICT DO NOTHING
            ), tokens AS (
                INSERT INTO ${schema}.awakeable (key, position, restarts, partition, hash)
                SELECT a.key, g.position, a.restarts, a.partition, g.hash
                FROM acting a
                JOIN ${awakeables} ON g.key = a.key
                ON CONFLICT DO NOTHING
            ), subscribed AS (
                INSERT INTO ${schema}.subscription (key, position, restarts, partition, event, event_key)
                SELECT a.key, g.position, a.restarts, a.partition, g.event, g.event_key
                FROM acting a
                JOIN ${subscribes} ON g.key = a.key
                ON CONFLICT DO NOTHING
            )
            SELECT count(*) FROM acting
            """;

    /**
     * Delivers mail to runs by id, or by key: the latter to runs that the same batch starts, which exist if they were
     * started. Mail with a rival tells a parent that the id of its child is taken: then the run with that id is not
     * this child.
     */
    private static final String DELIVER = """
            WITH ${clock}, delivery AS MATERIALIZED (
                SELECT g.ordinal, g.channel, g.position, g.name, g.token, g.status, g.text, g.payload, g.headers,
                       r.key, r.partition, r.state, r.mails,
                       CASE WHEN g.channel = ${ANSWER} THEN r.restarts ELSE 0 END AS restarts,
                       g.life <> ${ANY_LIFE} AND g.life <> r.restarts AS stale, g.audit
                FROM ${mails}
                CROSS JOIN LATERAL (
                    SELECT key, xmin AS edition FROM ${schema}.run WHERE run.id = g.id
                    UNION ALL
                    SELECT key, xmin FROM ${schema}.run WHERE run.key = g.key
                ) addressee
                CROSS JOIN LATERAL (
                    SELECT *, xmin AS edition FROM ${schema}.run
                    WHERE run.key = addressee.key
                    FOR NO KEY UPDATE SKIP LOCKED
                ) r
                WHERE r.edition = addressee.edition
                  AND (${client_or_lane_exists})
                  AND (g.epoch IS NULL OR (
                      SELECT s.state = ${RUNNING} AND s.epoch = g.epoch AND s.owner = ? FROM ${schema}.run s WHERE s.key = g.sender))
                  AND (g.rival IS NULL OR (
                      SELECT CASE WHEN g.channel = ${MESSAGE}
                          -- The token of a report begins with the seed of the run that it is about.
                          THEN lpad(to_hex(c.seed), 16, '0') <> left(replace(g.token::text, '-', ''), 16)
                          ELSE c.parent IS DISTINCT FROM r.key OR c.parent_position IS DISTINCT FROM g.position
                              OR c.parent_restarts IS DISTINCT FROM r.restarts END
                      FROM ${schema}.run c WHERE c.id = g.rival))
            ), ${arrival}
            SELECT l.ordinal, l.reception, COALESCE(d.state_now, l.state) AS state_now, clock.at,
                   COALESCE(d.goes_on, false) AS goes_on, d.signalled, d.owner, d.key, d.epoch, d.wakes_now, d.mails_now
            FROM looked_at l
            CROSS JOIN clock
            LEFT JOIN decided d ON d.key = l.key
            """;

    /** Delivers the outcomes of the runs among these that have ended to the parents that wait for them. */
    private static final String ANSWER = """
            WITH ${clock}, child AS MATERIALIZED (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                UNION
                SELECT r.key
                FROM unnest(?::text[]) AS commanded (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = commanded.id OFFSET 0) r
            ), delivery AS MATERIALIZED (
                SELECT row_number() OVER (ORDER BY c.key) AS ordinal,
                       CASE WHEN c.reports THEN ${MESSAGE} ELSE ${ANSWER} END::smallint AS channel,
                       c.parent_position AS position, CASE WHEN c.reports THEN ${report_topic} ELSE '' END AS name,
                       (lpad(to_hex(c.key), 16, '0') || lpad(to_hex(c.seed), 16, '0'))::uuid AS token,
                       CASE WHEN c.reports OR c.state = ${COMPLETED} THEN ${VALUE} ELSE ${FAILURE} END::smallint AS status,
                       CASE WHEN c.reports OR c.state = ${COMPLETED} THEN ''
                            ELSE ${schema}.state_name(c.state) || ': ' || COALESCE(c.reason, '') END AS text,
                       -- A report is for any life of the run that asked for it, and so is its text: see EndReport.
                       CASE WHEN c.reports
                            THEN convert_to(c.id || chr(10) || ${schema}.state_name(c.state) || chr(10) || COALESCE(c.reason, ''), 'UTF8')
                            ELSE COALESCE(o.payload, '') END AS payload, NULL::text AS headers,
                       p.key, p.partition, p.state, p.mails, CASE WHEN c.reports THEN 0 ELSE p.restarts END AS restarts,
                       false AS stale, NULL::text AS audit
                FROM child
                CROSS JOIN LATERAL (
                    SELECT *, parent_position = ${REPORTING} AS reports FROM ${schema}.run
                    WHERE run.key = child.key AND run.state >= ${COMPLETED} AND run.parent_position IS NOT NULL
                    OFFSET 0
                ) c
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = c.parent OFFSET 0) p
                LEFT JOIN LATERAL (
                    SELECT payload FROM ${schema}.journal j WHERE j.key = c.key AND j.position = ${OUTCOME} OFFSET 0
                ) o ON true
                WHERE (p.restarts = c.parent_restarts OR c.reports)
                  AND (${client_or_lane_exists})
            ), ${arrival}
            SELECT d.goes_on, d.signalled, d.owner, d.key, d.epoch, d.wakes_now, d.mails_now, a.position, a.token
            FROM decided d
            -- Joined by hash: to look the mail up for each run would read all mail of the batch each time.
            JOIN (SELECT DISTINCT ON (key) key, position, token FROM arrived) AS a ON a.key = d.key
            """;

    /**
     * Decides on deliveries, one row for each mail with its receiving run. Each run is touched once, however many
     * deliveries it gets, and only for new ones. What a run waits for is unpacked once for all its deliveries.
     */
    private static final String ARRIVAL = """
            looked_at AS MATERIALIZED (
                SELECT l.*,
                       CASE WHEN known THEN ${KNOWN}
                            WHEN state >= ${COMPLETED} THEN ${OVER}
                            WHEN row_number() OVER (PARTITION BY key, token ORDER BY ordinal) > 1 THEN ${KNOWN}
                            WHEN stale THEN ${STALE}
                            WHEN channel <> ${MESSAGE} AND (answered OR row_number() OVER (
                                PARTITION BY key, channel, position, name, stale ORDER BY ordinal) > 1) THEN ${TAKEN}
                            ELSE ${NEW} END AS reception
                FROM (
                    SELECT delivery.*,
                           COALESCE((
                               SELECT true FROM ${schema}.mail m WHERE m.key = delivery.key AND m.token = delivery.token
                           ), false) AS known,
                           COALESCE((
                               SELECT true FROM ${schema}.mail m
                               WHERE m.key = delivery.key AND m.position = delivery.position AND m.restarts = delivery.restarts
                                 AND m.name = delivery.name AND m.channel <> ${MESSAGE} AND delivery.channel <> ${MESSAGE}
                           ), false) AS answered
                    FROM delivery
                    OFFSET 0
                ) l
            ), arrived AS MATERIALIZED (
                SELECT *, mails + row_number() OVER (PARTITION BY key ORDER BY ordinal) AS number
                FROM looked_at WHERE reception = ${NEW}
            ), put AS (
                ${deliver FROM arrived CROSS JOIN clock}
            ), audited AS (
                -- What was known before came with the start of its run, or is sent again.
                ${audit(at = clock.at) FROM looked_at CROSS JOIN clock WHERE audit IS NOT NULL AND reception IN (${NEW}, ${KNOWN})}
            ), found AS MATERIALIZED (
                SELECT r.*, r.state IN (${SUSPENDED}, ${BACKING_OFF}) AS waits, r.awaited + '{}' AS positions
                FROM (SELECT DISTINCT key FROM arrived) AS target
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = target.key OFFSET 0) r
            ), counted AS MATERIALIZED (
                SELECT key, count(*) AS coming, count(*) FILTER (WHERE counts) AS counting,
                       COALESCE(bool_or(counts AND status = ${FAILURE}), false) AS failing
                FROM (
                    SELECT a.key, a.status,
                           CASE WHEN NOT f.waits THEN false
                                WHEN a.channel = ${ANSWER} THEN f.positions @> a.position
                                WHEN a.channel = ${PROMISE} THEN 'p:' || a.name = ANY (f.awaited_names)
                                ELSE 'm:' || a.name = ANY (f.awaited_names) END AS counts
                    FROM arrived a JOIN found f ON f.key = a.key
                ) AS each_one
                GROUP BY key
            ), judged AS MATERIALIZED (
                SELECT f.*, c.coming, c.counting, clock.at AS moved_at,
                       c.counting > 0 AND (c.failing OR f.needed <= c.counting) AS goes_on
                FROM found f CROSS JOIN clock JOIN counted c ON c.key = f.key
            ), decided AS MATERIALIZED (
                SELECT j.*,
                       CASE WHEN goes_on THEN ${READY}::smallint ELSE state END AS state_now,
                       CASE WHEN state = ${RUNNING} THEN wakes + 1 ELSE wakes END AS wakes_now,
                       mails + coming AS mails_now,
                       CASE WHEN state = ${RUNNING} THEN (
                           SELECT w.id FROM ${schema}.worker w WHERE w.number = j.owner
                       ) END AS signalled
                FROM judged j
            ), logged AS (
                ${log FROM decided WHERE goes_on}
            ), untimed AS (
                ${clear_timer FROM decided d WHERE d.goes_on}
            ), queued AS (
                ${enqueue FROM decided WHERE goes_on}
            ), woken AS (
                ${mark_woken FROM decided WHERE state = ${RUNNING}}
            ), told AS (
                INSERT INTO ${schema}.run AS r (key, seed, epoch, created_at, changed_at, wake_at, wakes, changes, priority,
                    partition, state, id, definition, queue, reason, mails, needed)
                SELECT key, seed, epoch, created_at,
                       CASE WHEN goes_on THEN moved_at ELSE changed_at END,
                       CASE WHEN goes_on THEN NULL ELSE wake_at END,
                       wakes_now,
                       CASE WHEN goes_on THEN changes + 1 ELSE changes END,
                       priority, partition, state_now, id, definition, queue,
                       CASE WHEN goes_on THEN NULL ELSE reason END,
                       mails_now, needed - counting
                FROM decided
                ON CONFLICT (key, partition) DO UPDATE SET
                    changed_at = excluded.changed_at, wake_at = excluded.wake_at, wakes = excluded.wakes,
                    changes = excluded.changes, state = excluded.state, reason = excluded.reason, mails = excluded.mails,
                    needed = excluded.needed
            )""";

    /** Begins runs anew. What belonged to the old life stays behind under its number. */
    private static final String RESTART = """
            WITH ${clock}, decided AS MATERIALIZED (
                SELECT r.*, g.seed AS seed_now, g.input, CASE WHEN NOT g.unpinned THEN r.version END AS version_now,
                       COALESCE(g.definition, r.definition) AS definition_now, clock.at AS moved_at,
                       r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ? AS holds
                FROM ${restarts}
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE ${lane_exists}
            ), emptied AS (
                ${empty_journal FROM decided d WHERE d.holds}
            ), forgotten AS (
                -- A long life of many lives must not grow for ever: what recognizes a second copy is kept for an hour.
                DELETE FROM ${schema}.mail WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail
                        WHERE mail.key = d.key AND mail.at < d.moved_at - interval '1 hour' AND (
                              mail.channel = ${MESSAGE} AND mail.taken OR mail.channel = ${ANSWER} AND mail.restarts <= d.restarts)
                        OFFSET 0
                    ) m
                    WHERE d.holds))
            ), unanswerable AS (
                DELETE FROM ${schema}.awakeable WHERE ctid = ANY (ARRAY(
                    SELECT a.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.awakeable WHERE awakeable.key = d.key AND awakeable.restarts < d.restarts OFFSET 0
                    ) a
                    WHERE d.holds))
            ), unheard AS (
                DELETE FROM ${schema}.subscription WHERE ctid = ANY (ARRAY(
                    SELECT s.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.subscription WHERE subscription.key = d.key AND subscription.restarts < d.restarts OFFSET 0
                    ) s
                    WHERE d.holds))
            ), unlogged AS (
                DELETE FROM ${schema}.event WHERE ctid = ANY (ARRAY(
                    SELECT e.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.event
                        WHERE event.key = d.key AND event.number > 0 AND event.number < d.changes - ${CHANGES_KEPT} OFFSET 0
                    ) e
                    WHERE d.holds))
            ), inputs AS (
                ${input(at = moved_at) FROM decided WHERE holds}
                ON CONFLICT (key, position, note, partition) DO UPDATE SET at = excluded.at, payload = excluded.payload
            ), logged AS (
                ${log FROM decided WHERE holds}
            ), let_go AS (
                ${let_go FROM decided d WHERE d.holds}
            ), queued AS (
                ${enqueue(alone = false, definition = definition_now, version = COALESCE(version_now, '') || COALESCE(E'\\n' || placement, '')) FROM decided WHERE holds}
            ), restarted AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, changes, priority, partition, state, id,
                    definition, queue, restarts, version)
                SELECT key, seed_now, epoch + 1, created_at, moved_at, changes + 1, priority, partition, ${READY}, id,
                       definition_now, queue, restarts + 1, version_now
                FROM decided WHERE holds
                ON CONFLICT (key, partition) DO UPDATE SET
                    seed = excluded.seed, epoch = excluded.epoch, changed_at = excluded.changed_at, owner = NULL,
                    changes = excluded.changes, recoveries = 0, entries_at_recovery = 0, state = excluded.state,
                    reason = NULL, restarts = excluded.restarts, version = excluded.version, definition = excluded.definition
            )
            SELECT key, holds, seed = seed_now AS there_before, state, moved_at, changed_at FROM decided
            """;

    final String effect;
    final String deliver;
    final String answer;
    final String restart;

    MailSql(Schema schema) {
        this.effect = Pieces.sql(schema, OwnEffects.put(EFFECT));
        this.deliver = Pieces.sql(
                schema,
                DELIVER.replace("${arrival}", ARRIVAL).replace("${mails}", MailDeliveries.COLUMNS.numbered("g")));
        this.answer = Pieces.sql(
                schema, ANSWER.replace("${arrival}", ARRIVAL).replace("${report_topic}", "'" + EndReport.TOPIC + "'"));
        this.restart = Pieces.sql(schema, RESTART.replace("${restarts}", Moves.RESTARTS.many("g")));
    }
}
