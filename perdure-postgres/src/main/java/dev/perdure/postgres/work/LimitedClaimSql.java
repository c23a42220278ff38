package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;

/**
 * The statements that claim runs of queues with limits, and runs with keys.
 *
 * <p>How it works: a claim of such a queue is one execute. It locks the row of the queue. The next statement has a new
 * snapshot, so it sees everything that the claim before it has taken. It counts the places from the rows of runs;
 * {@code slot} only lists the runs to examine. It walks through {@code ready_by_key} from key to key, so its cost
 * depends on the number of waiting keys and not on the number of runs. It examines a limited number of keys; if there
 * are more, the next claim continues behind them.
 */
public final class LimitedClaimSql {
    /** How many keys (with definition and version) one claim examines. */
    private static final int WINDOW = 1_000;

    /** The length of one turn of a key, in the time of turns. */
    private static final long A_TURN = 1_000_000;

    /**
     * When rates of these queues next allow more: for each queue as a whole, and for waiting keys. A row leaves the
     * window of the burst earlier than that of the rate, which it leaves when it expires.
     */
    private static final String FREE_AT = """
            WITH ${clock}, rated AS MATERIALIZED (
                SELECT n.name, r.* FROM unnest(?::text[]) AS n (name)
                CROSS JOIN LATERAL (
                    SELECT declared || changed AS limits FROM ${schema}.queue WHERE queue.name = n.name OFFSET 0
                ) q
                CROSS JOIN LATERAL (VALUES
                    (false, limits->>'rate', limits->>'burst'),
                    (true, ${key_rate}, ${key_burst})) AS r (of_key, rate, burst)
                WHERE r.rate <> 'none'
            ), next AS (
                SELECT f.at
                FROM rated
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT interval '0' AS earlier
                    UNION
                    SELECT ${schema}.window_period(rated.rate, rated.burst) - ${schema}.burst_period(rated.rate, rated.burst)
                ) w
                CROSS JOIN LATERAL (
                    SELECT r.expires_at - w.earlier AS at FROM ${schema}.queue_rate r
                    WHERE r.queue = rated.name AND r.expires_at > clock.at + w.earlier AND NOT r.heavy
                      AND (r.queue_key <> '') = rated.of_key AND ${key_waits}
                    ORDER BY expires_at
                    LIMIT 1
                ) f
                UNION ALL
                SELECT ${schema}.rate_free_at(r.queue, r.queue_key, rated.rate, rated.burst, clock.at)
                FROM rated
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT DISTINCT r.queue, r.queue_key FROM ${schema}.queue_rate r
                    WHERE r.queue = rated.name AND r.heavy AND r.expires_at > clock.at
                      AND (r.queue_key <> '') = rated.of_key AND ${key_waits}
                ) r
            )
            SELECT min(at) AS free_at FROM next
            """;

    private static final String KEY_WAITS = """
            (r.queue_key = '' OR (
                          SELECT true FROM ${schema}.ready q WHERE q.queue = r.queue AND q.queue_key = r.queue_key LIMIT 1))""";

    /** The rate of each key, and its burst: a shard has the whole limits of the keys that it counts. */
    private static final String KEY_RATE = "COALESCE(limits->>'whole:rate_per_key', limits->>'rate_per_key')";

    private static final String KEY_BURST = "COALESCE(limits->>'whole:burst_per_key', limits->>'burst_per_key')";

    /**
     * The queues of a worker from which this claims: any run of queues with limits, and runs with keys of other queues.
     */
    private static final String WAITING = """
            SELECT n.name, (SELECT true FROM ${schema}.ready r WHERE r.queue = n.name AND r.alone LIMIT 1) IS TRUE AS alone,
                   (SELECT true FROM ${schema}.ready r WHERE r.queue = n.name AND r.queue_key IS NOT NULL ORDER BY r.queue_key, r.definition LIMIT 1) IS TRUE AS keyed
            FROM unnest(?::text[]) AS n (name)
            WHERE ${waits}
            ORDER BY n.name
            """;

    /**
     * Uses one row with LIMIT, and not EXISTS: the planner would turn EXISTS into a hash of all rows, and keep that
     * plan for a million rows.
     *
     * <p>Reads in the order of an index: where one queue has nearly all rows, a statement without
     * {@link LedgerSql#settings} would look for a row of another queue in the whole table. Of the runs without a key it
     * looks for the last in the order of claims: before the first one, there are the index entries of all runs that
     * were claimed and are not vacuumed yet.
     */
    static final String WAITS = """
            CASE WHEN (SELECT q.paused IS NOT NULL FROM ${schema}.queue q WHERE q.name = n.name LIMIT 1) THEN false
                 WHEN (SELECT true FROM ${schema}.ready r WHERE r.queue = n.name AND r.queue_key IS NOT NULL ORDER BY r.queue_key, r.definition LIMIT 1) THEN true
                 ELSE n.name = ANY (?::text[])
                     AND (SELECT true FROM ${schema}.ready r WHERE r.queue = n.name AND r.queue_key IS NULL
                          ORDER BY r.definition DESC, r.version DESC, r.alone DESC, r.rank DESC, r.since DESC, r.key DESC LIMIT 1) IS TRUE END""";

    /**
     * One worker at a time claims from a queue. A queue that was not declared gets its row here, when it first has runs
     * with keys. Returns whether runs with keys wait: then the shorter claim takes nothing.
     */
    private static final String LOCK = """
            WITH ${fence}, known AS (
                INSERT INTO ${schema}.queue (name)
                SELECT g.name FROM (SELECT ?::text AS name) g
                WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM ${schema}.queue q WHERE q.name = g.name)
                ON CONFLICT (name) DO NOTHING
            )
            SELECT count(*), (SELECT true FROM ${schema}.ready r WHERE r.queue = ? AND r.queue_key IS NOT NULL LIMIT 1) IS TRUE AS keyed
            FROM (
                SELECT FROM ${schema}.queue WHERE name = ? AND EXISTS (SELECT FROM fence) FOR NO KEY UPDATE
            ) AS locked
            """;

    /** The limits of the queue and the request of the worker. No row if the queue is paused or the worker is dead. */
    private static final String RULE = """
            rule AS MATERIALIZED (
                SELECT g.*, q.turn, q.look_from, q.virtual_time, q.limits,
                       NULLIF(limits->>'ageing', 'none')::interval AS ageing,
                       NULLIF(limits->>'concurrency', 'none')::int AS concurrency,
                       NULLIF(COALESCE(limits->>'whole:per_worker', limits->>'per_worker'), 'none')::int AS per_worker,
                       NULLIF(COALESCE(limits->>'whole:per_key', limits->>'per_key'), 'none')::int AS per_key,
                       COALESCE(NULLIF(limits->>'whole:per_key', 'none'), NULLIF(limits->>'whole:rate_per_key', 'none')) IS NOT NULL AS by_shard,
                       COALESCE(limits->>'counting', 'BEGUN') = 'BEGUN' AS begun,
                       ${schema}.window_units(limits->>'rate', limits->>'burst') AS rate_units,
                       ${schema}.window_period(limits->>'rate', limits->>'burst') AS rate_period,
                       ${schema}.burst_units(limits->>'rate', limits->>'burst') AS burst_units,
                       ${schema}.burst_period(limits->>'rate', limits->>'burst') AS burst_period,
                       ${schema}.window_units(${key_rate}, ${key_burst}) AS key_rate_units,
                       ${schema}.window_period(${key_rate}, ${key_burst}) AS key_rate_period,
                       ${schema}.burst_units(${key_rate}, ${key_burst}) AS key_burst_units,
                       ${schema}.burst_period(${key_rate}, ${key_burst}) AS key_burst_period
                FROM (SELECT ?::text AS queue, ?::int AS room, ?::boolean AS alone, ?::int AS worker) g
                CROSS JOIN LATERAL (
                    SELECT *, declared || changed AS limits FROM ${schema}.queue WHERE queue.name = g.queue OFFSET 0
                ) q
                WHERE q.paused IS NULL AND ${lane_exists}${unkeyed}
            ), suiting AS MATERIALIZED (
                SELECT s.definition, s.version FROM unnest(?::text[], ?::text[]) AS s (definition, version)
            ), of_queue AS MATERIALIZED (
                -- Only a limit for all runs makes it necessary to examine all of them: a run that continues does not wait for a rate.
                SELECT s.key, s.queue_key, r.state, COALESCE(${holds}, false) AS holds
                FROM rule
                CROSS JOIN LATERAL (
                    SELECT key, queue_key FROM ${schema}.slot
                    WHERE slot.queue = rule.queue AND COALESCE(rule.concurrency, rule.rate_units) IS NOT NULL OFFSET 0
                ) s
                LEFT JOIN LATERAL (SELECT state, ${only_waits} AS only_waits FROM ${schema}.run WHERE run.key = s.key OFFSET 0) r ON true
            ), cancelled AS MATERIALIZED (
                -- A run that was asked to cancel does not wait behind the work that it is to end: it needs no place, and has one
                -- only if one is free.
                SELECT q.place, q.key, q.queue_key, q.rank, q.since, q.alone
                FROM rule
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, * FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.rank = ${FIRST_RANK}
                    ORDER BY since
                    LIMIT 1000
                ) q
                JOIN suiting USING (definition, version)
                WHERE rule.alone = q.alone AND (NOT rule.by_shard OR q.queue_key IS NULL OR ${schema}.counts_key(q.queue_key))
                  -- Not a run with the highest of all priorities.
                  AND (SELECT run.cancel IS NOT NULL FROM ${schema}.run WHERE run.key = q.key)
                ORDER BY q.since, q.key
                LIMIT (SELECT room FROM rule)
            )""";

    /** No run with a key waits. */
    private static final String UNKEYED =
            " AND (SELECT true FROM ${schema}.ready r WHERE r.queue = g.queue AND r.queue_key IS NOT NULL LIMIT 1) IS NULL";

    /** The states in which a run holds a place: those in which it has begun, or those in which it is at work. */
    private static final String HOLDS = """
            CASE WHEN r.only_waits THEN false
                                     WHEN r.state = ${RUNNING} THEN true
                                     ELSE rule.begun AND r.state IN (${READY}, ${SUSPENDED}, ${BACKING_OFF}) END""";

    /** A run with tasks, or a task for each item: it takes no place and nothing of a rate, because the others may need them. */
    private static final String ONLY_WAITS = "(weight = 0 OR after IS NOT NULL AND before IS NULL) IS TRUE";

    /** How many more runs this worker may take, and how many more may have places. */
    private static final String ROOM = """
            GREATEST(0, LEAST(rule.room, rule.per_worker - (
                           SELECT count(*)::int
                           FROM ${schema}.held h
                           CROSS JOIN LATERAL (
                               SELECT FROM ${schema}.slot s WHERE s.key = h.key AND s.queue = rule.queue OFFSET 0
                           ) mine
                           WHERE h.worker = rule.worker AND rule.per_worker IS NOT NULL
                       ))) AS here,
                       rule.concurrency - (SELECT count(*)::int FROM of_queue WHERE holds)
                           - (SELECT count(*)::int FROM cancelled c WHERE c.key <> ALL (ARRAY(SELECT key FROM of_queue WHERE holds))) AS places""";

    /**
     * A run that was woken, given back or begun anew holds its place and needs no other, and one that was asked to cancel needs
     * none. Neither begins if another shard counts the runs of its key.
     */
    private static final String GOES_ON = """
goes_on AS MATERIALIZED (
                SELECT place, key, rank, since, alone FROM cancelled
                UNION ALL (
                    SELECT q.place, q.key, q.rank, q.since, q.alone
                    FROM place p
                    CROSS JOIN LATERAL (
                        SELECT ctid AS place, * FROM ${schema}.ready WHERE ready.key = p.key OFFSET 0
                    ) q
                    JOIN suiting USING (definition, version)
                    JOIN rule ON rule.alone = q.alone
                    WHERE p.holds AND p.state = ${READY} AND p.key <> ALL (ARRAY(SELECT key FROM cancelled))
                      AND (NOT rule.by_shard OR q.queue_key IS NULL OR ${schema}.counts_key(q.queue_key))
                    ORDER BY q.rank, q.since, q.key
                    LIMIT (SELECT GREATEST(0, here - (SELECT count(*) FROM cancelled)) FROM room)
                )
            )""";

    /** Takes the chosen runs. Removes places that runs no longer hold. */
    private static final String TAKE = """
            looked AS MATERIALIZED (
                SELECT p.place, p.rank, p.since, p.alone, p.pick, p.units, r.*, clock.at AS moved_at
                FROM picked p
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = p.key FOR NO KEY UPDATE SKIP LOCKED) r
                CROSS JOIN clock
                WHERE ${in_time}
            ), taken AS NOT MATERIALIZED (
                SELECT * FROM looked WHERE state = ${READY}
            ), unqueued AS (
                DELETE FROM ${schema}.ready WHERE ctid = ANY (ARRAY(SELECT place FROM looked))
            ), logged AS (
                ${log FROM taken WHERE changes > 0}
            ), kept AS (
                ${hold(worker = (SELECT worker FROM rule)) FROM taken}
            ), claimed AS (
                UPDATE ${schema}.run SET
                    epoch = t.epoch + 1, changed_at = t.moved_at, owner = (SELECT worker FROM rule), wakes = 0,
                    changes = t.changes + 1, state = ${RUNNING}, reason = NULL, version = ${pinned}
                FROM taken t
                WHERE run.key = ANY (ARRAY(SELECT key FROM taken)) AND run.key = t.key
            ), placed AS (
                INSERT INTO ${schema}.slot (key, partition, queue, queue_key)
                SELECT t.key, t.partition, t.queue, COALESCE(t.queue_key, '')
                FROM taken t CROSS JOIN rule
                WHERE COALESCE(rule.concurrency, rule.per_worker, rule.per_key, rule.rate_units, rule.key_rate_units) IS NOT NULL
                  AND NOT ${only_waits}
                ON CONFLICT (key, partition) DO NOTHING
            ), freed AS (
                DELETE FROM ${schema}.slot
                WHERE slot.key = ANY (ARRAY(SELECT key FROM place WHERE NOT holds AND key NOT IN (SELECT key FROM taken)))
            ), noted AS (
                UPDATE ${schema}.queue AS q SET
                    turn = q.turn + n.taken, look_from = n.look_from, virtual_time = GREATEST(q.virtual_time, n.virtual_time),
                    minute = n.minute,
                    this_minute = CASE WHEN q.minute = n.minute THEN q.this_minute ELSE 0 END + n.taken,
                    minute_before = CASE q.minute WHEN n.minute THEN q.minute_before
                                                  WHEN n.minute - interval '1 minute' THEN q.this_minute ELSE 0 END
                FROM (
                    SELECT rule.queue, (SELECT count(*) FROM taken) AS taken, next_look.look_from, next_look.virtual_time,
                           date_trunc('minute', clock.at) AS minute
                    FROM rule CROSS JOIN next_look CROSS JOIN clock
                ) n
                WHERE q.name = n.queue AND (n.taken > 0 OR q.look_from <> n.look_from)
            )""";

    private static final String CLAIM = """
            WITH RECURSIVE ${clock_after_lock}, ${rule}, head AS (
                -- If priorities rise with time, the runs of each priority are examined separately; the oldest of them is first.
                SELECT r.queue_key, r.definition, r.version, r.alone, CASE WHEN rule.ageing IS NULL THEN ${LAST_RANK} ELSE r.rank END AS rank
                FROM rule
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.queue_key IS NOT NULL AND ready.queue_key >= rule.look_from
                    ORDER BY ready.queue_key, ready.definition, ready.version, ready.alone, ready.rank
                    LIMIT 1
                ) r
                UNION ALL
                SELECT r.queue_key, r.definition, r.version, r.alone, CASE WHEN rule.ageing IS NULL THEN ${LAST_RANK} ELSE r.rank END
                FROM head h
                CROSS JOIN rule
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.queue_key IS NOT NULL
                      AND (ready.queue_key, ready.definition, ready.version, ready.alone, ready.rank)
                          > (h.queue_key, h.definition, h.version, h.alone, h.rank)
                    ORDER BY ready.queue_key, ready.definition, ready.version, ready.alone, ready.rank
                    LIMIT 1
                ) r
            ), seen AS MATERIALIZED (
                SELECT * FROM head LIMIT ${WINDOW}
            ), line AS MATERIALIZED (
                SELECT seen.* FROM seen JOIN suiting USING (definition, version) JOIN rule ON rule.alone = seen.alone
            ), waiting AS MATERIALIZED (
                SELECT DISTINCT queue_key FROM line
            ), of_key AS MATERIALIZED (
                SELECT s.key, w.queue_key, r.state, COALESCE(${holds}, false) AS holds
                FROM rule
                CROSS JOIN waiting w
                CROSS JOIN LATERAL (
                    SELECT key FROM ${schema}.slot
                    WHERE slot.queue = rule.queue AND slot.queue_key = w.queue_key
                      AND COALESCE(rule.per_key, rule.key_rate_units) IS NOT NULL OFFSET 0
                ) s
                LEFT JOIN LATERAL (SELECT state, ${only_waits} AS only_waits FROM ${schema}.run WHERE run.key = s.key OFFSET 0) r ON true
            ), place AS MATERIALIZED (
                SELECT * FROM of_queue UNION SELECT * FROM of_key
            ), room AS MATERIALIZED (
                SELECT ${room},
                       rule.rate_units - began.in_period AS units, rule.burst_units - began.in_burst AS burst
                FROM rule
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT ${in_windows(rule.)} FROM ${schema}.queue_rate r
                    WHERE r.queue = rule.queue AND r.queue_key = '' AND r.expires_at > clock.at AND rule.rate_units IS NOT NULL OFFSET 0
                ) began
            ), ${goes_on}, key_room AS MATERIALIZED (
                -- A key offers at most twice its share, so that many keys are not read to the end.
                SELECT w.queue_key, COALESCE(t.served, 0) AS served, GREATEST(t.next_turn, rule.virtual_time) AS next_turn,
                       ${A_TURN} / turns.of_key AS step,
                       (2 * rule.room / (SELECT count(*)::int FROM waiting) + 4) * turns.of_key AS share,
                       CASE WHEN rule.by_shard AND NOT ${schema}.counts_key(w.queue_key) THEN 0
                            ELSE rule.per_key - COALESCE(o.places, 0) - (
                                SELECT count(*)::int FROM cancelled c
                                WHERE c.queue_key = w.queue_key AND c.key <> ALL (ARRAY(SELECT key FROM of_key WHERE holds))) END AS room,
                       rule.key_rate_units - began.in_period AS units, rule.key_burst_units - began.in_burst AS burst
                FROM waiting w
                CROSS JOIN rule
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT COALESCE((rule.limits->>('turns:' || w.queue_key))::int, 1) AS of_key) turns
                CROSS JOIN LATERAL (
                    SELECT ${in_windows(rule.key_)} FROM ${schema}.queue_rate r
                    WHERE r.queue = rule.queue AND r.queue_key = w.queue_key AND r.expires_at > clock.at
                      AND rule.key_rate_units IS NOT NULL OFFSET 0
                ) began
                LEFT JOIN (
                    SELECT queue_key, count(*)::int AS places FROM of_key WHERE holds GROUP BY queue_key
                ) o ON o.queue_key = w.queue_key
                LEFT JOIN LATERAL (
                    SELECT served, next_turn FROM ${schema}.queue_turn t
                    WHERE t.queue = rule.queue AND t.queue_key = w.queue_key OFFSET 0
                ) t ON true
            ), found AS MATERIALIZED (
                SELECT k.served, k.next_turn, k.step, k.queue_key, k.room, k.share, k.units, k.burst, r.place, r.key, r.rank, r.since, r.alone
                FROM line l
                JOIN key_room k ON k.queue_key = l.queue_key
                CROSS JOIN rule
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, rank, since, alone FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.queue_key = l.queue_key AND ready.definition = l.definition
                      AND ready.version = l.version AND ready.alone = l.alone
                      AND ready.rank BETWEEN CASE WHEN rule.ageing IS NULL THEN ${FIRST_RANK} ELSE l.rank END AND l.rank
                      AND ready.key <> ALL (ARRAY(SELECT key FROM place WHERE holds AND state = ${READY} UNION ALL SELECT key FROM cancelled))
                    ORDER BY rank, since, key
                    LIMIT GREATEST(0, LEAST(k.share, k.room))
                ) r
                UNION ALL
                -- Runs without a key count as one more key, which has no limit of its own.
                SELECT COALESCE(t.served, 0), GREATEST(t.next_turn, rule.virtual_time), ${A_TURN},
                       '', NULL, rule.room, NULL, NULL, r.place, r.key, r.rank, r.since, r.alone
                FROM rule
                LEFT JOIN LATERAL (
                    SELECT * FROM ${schema}.queue_turn WHERE queue_turn.queue = rule.queue AND queue_turn.queue_key = '' OFFSET 0
                ) t ON true
                CROSS JOIN suiting s
                CROSS JOIN LATERAL (
                    WITH RECURSIVE level AS (
                        (SELECT rank FROM ${schema}.ready
                         WHERE ready.queue = rule.queue AND ready.definition = s.definition AND ready.version = s.version
                           AND ready.alone = rule.alone AND ready.queue_key IS NULL AND rule.ageing IS NOT NULL
                         ORDER BY rank
                         LIMIT 1)
                        UNION ALL
                        SELECT (
                            SELECT rank FROM ${schema}.ready
                            WHERE ready.queue = rule.queue AND ready.definition = s.definition AND ready.version = s.version
                              AND ready.alone = rule.alone AND ready.queue_key IS NULL AND ready.rank > level.rank
                            ORDER BY rank
                            LIMIT 1)
                        FROM level
                        WHERE level.rank IS NOT NULL
                    )
                    SELECT rank AS first, rank AS last FROM level WHERE rank IS NOT NULL
                    UNION ALL
                    SELECT ${FIRST_RANK}, ${LAST_RANK} WHERE rule.ageing IS NULL
                ) l
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, rank, since, alone FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.definition = s.definition AND ready.version = s.version
                      AND ready.alone = rule.alone AND ready.queue_key IS NULL AND ready.rank BETWEEN l.first AND l.last
                      AND ready.key <> ALL (ARRAY(SELECT key FROM place WHERE holds AND state = ${READY} UNION ALL SELECT key FROM cancelled))
                    ORDER BY rank, since, key
                    LIMIT rule.room
                ) r
            ), weighed AS MATERIALIZED (
                -- A run takes its weight from the rate when it first begins. A heavier one than a window has begins when the window
                -- is empty. A fork with a journal has the second epoch from the start.
                SELECT found.*, w.weight,
                       LEAST(w.weight, rule.rate_units) AS cost, LEAST(w.weight, rule.burst_units) AS burst_cost,
                       LEAST(w.weight, rule.key_rate_units) AS key_cost, LEAST(w.weight, rule.key_burst_units) AS key_burst_cost,
                       rank - COALESCE(GREATEST(0, floor(extract(epoch FROM clock.at - since) / extract(epoch FROM rule.ageing))), 0) AS urgency
                FROM found
                CROSS JOIN rule
                CROSS JOIN clock
                LEFT JOIN LATERAL (
                    SELECT CASE WHEN ${only_waits} THEN 0
                                WHEN epoch = 0 OR epoch = 1 AND changes = 0 THEN COALESCE(weight, 1) ELSE 0 END AS weight FROM ${schema}.run
                    WHERE run.key = found.key AND COALESCE(rule.rate_units, rule.key_rate_units) IS NOT NULL OFFSET 0
                ) w ON true
            ), candidate AS MATERIALIZED (
                SELECT weighed.*, row_number() OVER line AS nth,
                       sum(key_cost) OVER line AS key_spent, sum(key_burst_cost) OVER line AS key_burst_spent
                FROM weighed
                WINDOW line AS (PARTITION BY queue_key ORDER BY urgency, since, key)
            ), ordered AS MATERIALIZED (
                -- Lighter runs do not overtake a heavy one: otherwise it would never begin.
                SELECT c.*, row_number() OVER in_turns AS pick,
                       sum(cost) OVER in_turns AS spent, sum(burst_cost) OVER in_turns AS burst_spent
                FROM (SELECT *, next_turn + (nth - 1) * step AS turn FROM candidate) c
                WHERE nth <= LEAST(room, share) AND (units IS NULL OR weight = 0 OR key_spent <= units AND key_burst_spent <= burst)
                WINDOW in_turns AS (ORDER BY urgency, turn, nth, served, since, key)
            ), chosen AS MATERIALIZED (
                SELECT o.*
                FROM ordered o CROSS JOIN room
                WHERE room.units IS NULL OR o.weight = 0 OR o.spent <= room.units AND o.burst_spent <= room.burst
                ORDER BY o.pick
                LIMIT (SELECT GREATEST(0, LEAST(here - (SELECT count(*) FROM goes_on), places)) FROM room)
            ), picked AS MATERIALIZED (
                SELECT place, key, rank, since, alone, 0 AS pick, 0 AS units FROM goes_on
                UNION ALL
                SELECT place, key, rank, since, alone, pick, weight FROM chosen
            ), next_look AS MATERIALIZED (
                -- Behind a key that fills the window alone: with ageing, each priority of its runs is examined separately.
                SELECT CASE WHEN count(*) < ${WINDOW} THEN '' WHEN min(queue_key) = max(queue_key) THEN max(queue_key) || chr(1)
                            ELSE max(queue_key) END AS look_from,
                       CASE WHEN count(*) > 0 THEN (SELECT max(turn) FROM chosen) END AS virtual_time
                FROM seen
            ), ${take}, served AS (
                -- A run that goes on takes no turn, and counts in the minute.
                INSERT INTO ${schema}.queue_turn AS q (queue, queue_key, served, served_at, next_turn, minute, this_minute)
                SELECT rule.queue, COALESCE(t.queue_key, ''), COALESCE(rule.turn + max(c.pick), 0), max(t.moved_at),
                       COALESCE(max(c.turn + c.step), 0), date_trunc('minute', clock.at), count(*)
                FROM taken t LEFT JOIN chosen c USING (key) CROSS JOIN rule CROSS JOIN clock
                WHERE t.queue_key IS NOT NULL OR EXISTS (SELECT FROM seen)
                GROUP BY 1, 2, rule.turn, clock.at
                ON CONFLICT (queue, queue_key) DO UPDATE SET
                    served = GREATEST(q.served, excluded.served), served_at = excluded.served_at,
                    next_turn = GREATEST(q.next_turn, excluded.next_turn), minute = excluded.minute,
                    this_minute = CASE WHEN q.minute = excluded.minute THEN q.this_minute ELSE 0 END + excluded.this_minute,
                    minute_before = CASE q.minute WHEN excluded.minute THEN q.minute_before
                                                  WHEN excluded.minute - interval '1 minute' THEN q.this_minute ELSE 0 END
            ), began AS (
                INSERT INTO ${schema}.queue_rate AS q (queue, queue_key, since, ended_at, expires_at, units, heavy)
                SELECT b.queue, b.queue_key, s.since, s.since + l.stretch,
                       ${schema}.rate_expiry(b.units, s.since + l.stretch, b.heavy, b.rate, b.burst), b.units, b.heavy
                FROM (
                    SELECT rule.queue, '' AS queue_key, limits->>'rate' AS rate, limits->>'burst' AS burst, sum(t.units) AS units,
                           bool_or(t.units > rule.burst_units) AS heavy
                    FROM rule CROSS JOIN taken t
                    WHERE rule.rate_units IS NOT NULL
                    GROUP BY 1, 2, 3, 4
                    UNION ALL
                    SELECT rule.queue, t.queue_key, ${key_rate}, ${key_burst}, sum(t.units), bool_or(t.units > rule.key_burst_units)
                    FROM rule CROSS JOIN taken t
                    WHERE rule.key_rate_units IS NOT NULL AND t.queue_key IS NOT NULL
                    GROUP BY 1, 2, 3, 4
                ) b
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT ${schema}.rate_stretch(b.rate, b.burst) AS stretch) l
                CROSS JOIN LATERAL (SELECT date_bin(l.stretch, clock.at, timestamptz 'epoch') AS since) s
                WHERE b.units > 0
                ON CONFLICT (queue, queue_key, since) DO UPDATE SET
                    units = q.units + excluded.units, heavy = q.heavy OR excluded.heavy,
                    ended_at = GREATEST(q.ended_at, excluded.ended_at), expires_at = GREATEST(q.expires_at, excluded.expires_at)
            )
            SELECT EXISTS (SELECT FROM candidate WHERE nth = share) AS cut, ${details}
            ORDER BY g.pick, g.rank, g.since, g.key
            """;

    /** The first runs by priority and age. */
    private static final String FIRST_RUNS = """
            SELECT r.*
                FROM rule
                CROSS JOIN suiting s
                CROSS JOIN ${look} AS look
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, rank, since, alone FROM ${schema}.ready
                    WHERE ready.queue = rule.queue AND ready.definition = s.definition AND ready.version = s.version
                      AND ready.alone = rule.alone AND ready.queue_key IS NULL
                      AND (ready.rank, ready.since, ready.key) > (look.rank, look.since, look.key) AND ready.rank <= look.last
                      AND ready.key <> ALL (ARRAY(SELECT key FROM place WHERE holds AND state = ${READY} UNION ALL SELECT key FROM cancelled))
                    ORDER BY rank, since, key
                    LIMIT (SELECT runs FROM ${most})
                ) r
                ORDER BY r.rank, r.since, r.key
                LIMIT (SELECT runs FROM ${most})""";

    /**
     * The same if no runs with keys wait and there are no rates, which is so for most queues with limits, at a third of
     * the cost. It leaves out the choice among keys. {@code ClaimsAgreeIT} compares the results of both.
     *
     * <p>It begins to look at a floor, and looks again from the beginning if it finds fewer runs there than have places.
     */
    private static final String CLAIM_UNKEYED = """
            WITH ${clock}, ${rule}, place AS NOT MATERIALIZED (
                SELECT key, state, holds FROM of_queue
            ), room AS MATERIALIZED (
                SELECT ${room}
                FROM rule
            ), ${goes_on}, wanted AS MATERIALIZED (
                SELECT GREATEST(0, LEAST(here - (SELECT count(*) FROM goes_on), places)) AS runs FROM room
            ), look AS MATERIALIZED (
                -- From the floor on (see QueueFloors), and everything with a higher priority.
                SELECT ?::int AS rank, ?::timestamptz AS since, ?::bigint AS key, ${LAST_RANK}::bigint AS last
                UNION ALL
                SELECT ${FIRST_RANK}, '-infinity', 0, ?::bigint - 1 WHERE ?
            ), near AS MATERIALIZED (
                ${near}
            ), missing AS MATERIALIZED (
                SELECT CASE WHEN (SELECT count(*) FROM look) > 1 AND (SELECT count(*) FROM near) < runs THEN runs ELSE 0 END AS runs
                FROM wanted
            ), whole AS MATERIALIZED (
                SELECT ${FIRST_RANK} AS rank, timestamptz '-infinity' AS since, 0::bigint AS key, ${LAST_RANK}::bigint AS last
            ), chosen AS MATERIALIZED (
                SELECT * FROM near WHERE (SELECT runs FROM missing) = 0
                UNION ALL
                SELECT * FROM (
                    ${again}
                ) again
            ), picked AS MATERIALIZED (
                SELECT place, key, rank, since, alone, 0 AS pick, 0 AS units FROM goes_on
                UNION ALL
                SELECT place, key, rank, since, alone, 1, 0 FROM chosen
            ), next_look AS MATERIALIZED (
                SELECT '' AS look_from, NULL::bigint AS virtual_time
            ), ${take}
            SELECT false AS cut, (SELECT runs FROM wanted) AS wanted, g.pick, g.rank, g.since,
                   (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS took, ${details}
            ORDER BY g.pick, g.rank, g.since, g.key
            """;

    /** How many units count for both windows of a rate. */
    private static final String IN_WINDOWS = """
            COALESCE(sum(${schema}.units_in_window(r.units, ${ended_at}, r.heavy, ${rule}rate_units, ${rule}rate_period, clock.at)), 0) AS in_period,
                           COALESCE(sum(${schema}.units_in_window(r.units, ${ended_at}, r.heavy, ${rule}burst_units, ${rule}burst_period, clock.at)), 0) AS in_burst""";

    final String waiting;
    final String freeAt;
    public final String claim;
    /** For a queue without keys and rates. */
    public final String claimUnkeyed;

    public LimitedClaimSql(Schema schema, LedgerSql ledger) {
        this.waiting = String.join(";\n", ledger.settings, Pieces.sql(schema, WAITING.replace("${waits}", WAITS)));
        this.freeAt = Pieces.sql(schema, withKeyRates(FREE_AT.replace("${key_waits}", KEY_WAITS)));
        this.claim =
                String.join(";\n", ledger.settings, Pieces.sql(schema, LOCK), Pieces.sql(schema, composed(CLAIM, "")));
        this.claimUnkeyed = String.join(
                ";\n", ledger.settings, Pieces.sql(schema, LOCK), Pieces.sql(schema, composed(CLAIM_UNKEYED, UNKEYED)));
    }

    private static String composed(String claim, String condition) {
        return withKeyRates(claim.replace(
                        "${near}", FIRST_RUNS.replace("${look}", "look").replace("${most}", "wanted"))
                .replace("${again}", FIRST_RUNS.replace("${look}", "whole").replace("${most}", "missing"))
                .replace("${rule}", RULE)
                .replace("${in_windows(rule.)}", inWindows("rule."))
                .replace("${in_windows(rule.key_)}", inWindows("rule.key_"))
                .replace("${unkeyed}", condition)
                .replace("${room}", ROOM)
                .replace("${goes_on}", GOES_ON)
                .replace("${take}", TAKE)
                .replace("${pinned}", DispatchSql.PINNED)
                .replace("${in_time}", StartLimitSql.IN_TIME)
                .replace("${holds}", HOLDS)
                .replace("${only_waits}", ONLY_WAITS)
                .replace("${details}", Claims.TAKEN)
                .replace("${A_TURN}", String.valueOf(A_TURN))
                .replace("${FIRST_RANK}", "(" + Integer.MIN_VALUE + ")")
                .replace("${LAST_RANK}", String.valueOf(Integer.MAX_VALUE))
                .replace("${WINDOW}", String.valueOf(WINDOW)));
    }

    private static String withKeyRates(String sql) {
        return sql.replace("${key_rate}", KEY_RATE).replace("${key_burst}", KEY_BURST);
    }

    private static String inWindows(String rule) {
        return IN_WINDOWS
                .replace("${rule}", rule)
                .replace("${ended_at}", "${schema}.stretch_end(r.ended_at, r.since, r.expires_at)");
    }
}
