package dev.perdure.postgres.lane;

import dev.perdure.postgres.jdbc.Schema;

/**
 * The statements of leases. Leases use the server's real clock, also in tests that control the time of workflows,
 * because a test must not decide whether a process is alive.
 */
public final class LeaseSql {
    private static final String JOIN = """
            WITH joined AS (
                INSERT INTO ${schema}.worker (id, definitions, version, queues, labels, lease, expires_at)
                SELECT ?, ?::text[], ?, NULLIF(?::text[], '{}'), COALESCE(?::jsonb, '{}'), lease, clock_timestamp() + lease
                FROM (SELECT ? * interval '1 microsecond' AS lease) given
                ON CONFLICT (id) WHERE NOT dead DO UPDATE SET expires_at = excluded.expires_at
                RETURNING number, xmax = 0 AS is_new
            ), lanes AS (
                -- Only the first of several copies creates lanes: a later one would restore lanes that were replaced.
                INSERT INTO ${schema}.lane (worker, number)
                SELECT joined.number, lane FROM joined CROSS JOIN generate_series(${POLL_LANE}, ? - 1) AS lane
                WHERE joined.is_new
            ), former AS (
                -- They have dropped all their runs, so no sweep has to wait for the end of their leases.
                UPDATE ${schema}.worker SET returned = true, expires_at = LEAST(expires_at, clock_timestamp())
                WHERE id = ANY (?::text[]::uuid[])
            )
            SELECT number, COALESCE(?::timestamptz, now()) AS at FROM joined
            """;

    private static final String NUMBER = "SELECT number FROM ${schema}.worker WHERE id = ? AND NOT dead";

    /**
     * The flag is on the row itself, so that a renewal that waited for the sweep sees it. A worker that renews its
     * lease lives, whatever a look at its backend says; and a backend that it knows to be lost says nothing any more.
     */
    private static final String RENEW = """
            UPDATE ${schema}.worker SET
                expires_at = clock_timestamp() + lease, missing_since = NULL,
                backend = CASE WHEN backend <> ALL (?::int[]) THEN backend END,
                heap_used = ?, heap_max = ?
            WHERE number = ? AND NOT dead
            RETURNING COALESCE(?::timestamptz, now()) AS at
            """;

    private static final String LEAVE = """
            WITH left_now AS (
                UPDATE ${schema}.worker SET dead = true WHERE number = ? AND NOT dead RETURNING number
            ), gone AS (
                DELETE FROM ${schema}.lane WHERE worker IN (SELECT number FROM left_now)
            )
            SELECT count(*) FROM left_now
            """;

    /**
     * Replaces a lane by another one. The delete waits for a request on it that the server is carrying out, and refuses
     * those that arrive later. Like a sweep, it locks the worker first, which must be alive. If it is sent again, it
     * finds the new lane there.
     */
    private static final String REPLACE_LANE = """
            SELECT length(set_config('lock_timeout', ?, true)) AS done;
            WITH alive AS MATERIALIZED (
                SELECT number FROM ${schema}.worker WHERE number = ? AND NOT dead FOR KEY SHARE
            ), gone AS (
                DELETE FROM ${schema}.lane WHERE worker IN (SELECT number FROM alive) AND number = ? RETURNING worker
            ), replaced AS (
                INSERT INTO ${schema}.lane (worker, number) SELECT worker, ? FROM gone RETURNING worker
            )
            SELECT count(*) FROM replaced
            """;

    /**
     * Deletes dead workers that hold no more runs. They have no lanes, so they cannot get new ones. Workers from which
     * runs were taken are kept for an hour, in case their processes join again.
     */
    private static final String FORGET = """
            WITH forgotten AS (
                DELETE FROM ${schema}.worker
                WHERE number IN (
                    SELECT w.number FROM ${schema}.worker w
                    WHERE w.dead AND NOT EXISTS (SELECT FROM ${schema}.held h WHERE h.worker = w.number)
                      AND (w.expires_at < clock_timestamp() - interval '1 hour'
                           OR NOT EXISTS (SELECT FROM ${schema}.takeover t WHERE t.worker = w.number))
                    FOR UPDATE OF w SKIP LOCKED
                )
                RETURNING 1
            )
            SELECT count(*) FROM forgotten
            """;

    /**
     * Expires workers whose lease has ended, except those with a batch in flight, which has locked a lane: the sweep of
     * the other workers does not wait for that batch. Without lanes, the later batches of a worker are refused: after
     * this commit, an expired worker writes nothing more.
     */
    private static final String EXPIRE = """
            WITH expired AS MATERIALIZED (
                SELECT number FROM ${schema}.worker
                WHERE NOT dead AND expires_at <= clock_timestamp()
                ORDER BY number
                FOR UPDATE SKIP LOCKED
            ), free AS MATERIALIZED (
                SELECT worker, number FROM ${schema}.lane
                WHERE worker IN (SELECT number FROM expired)
                ORDER BY worker, number
                FOR UPDATE SKIP LOCKED
            ), quiet AS MATERIALIZED (
                SELECT number FROM expired
                WHERE (SELECT count(*) FROM ${schema}.lane WHERE lane.worker = expired.number)
                    = (SELECT count(*) FROM free WHERE free.worker = expired.number)
            ), declared_dead AS (
                UPDATE ${schema}.worker SET dead = true WHERE number IN (SELECT number FROM quiet) RETURNING number
            ), gone AS (
                DELETE FROM ${schema}.lane WHERE worker IN (SELECT number FROM quiet)
            )
            SELECT count(*) FROM declared_dead
            """;

    /**
     * One of the workers with a batch in flight, chosen at random, so that a batch that hangs does not block the
     * others.
     */
    private static final String BUSY = """
            SELECT (
                SELECT number FROM ${schema}.worker
                WHERE NOT dead AND expires_at <= clock_timestamp()
                ORDER BY random()
                LIMIT 1
            ) AS number
            """;

    /** Expires one worker. Deleting its lanes waits for its batches in flight, up to the lock timeout. */
    private static final String EXPIRE_BUSY = """
            WITH expired AS MATERIALIZED (
                SELECT number FROM ${schema}.worker
                WHERE number = ? AND NOT dead AND expires_at <= clock_timestamp()
                FOR UPDATE SKIP LOCKED
            ), declared_dead AS (
                UPDATE ${schema}.worker SET dead = true WHERE number IN (SELECT number FROM expired) RETURNING number
            ), gone AS (
                DELETE FROM ${schema}.lane WHERE worker IN (SELECT number FROM expired)
            )
            SELECT count(*) FROM declared_dead
            """;

    /** Whether any dead worker still holds runs, or a recovery counts although its worker has not died. */
    private static final String LEFT_BEHIND = """
            SELECT EXISTS (
                SELECT FROM ${schema}.worker w
                WHERE (w.dead AND EXISTS (SELECT FROM ${schema}.held h WHERE h.worker = w.number))
                   OR (w.returned AND EXISTS (SELECT FROM ${schema}.takeover t WHERE t.worker = w.number))
            ) AS any
            """;

    /** Records the worker from which each run was taken. Runs that were killed end with it. */
    private static final String TAKEN_OVER = """
            WITH noted AS (
                INSERT INTO ${schema}.takeover (worker, key, entries, restarts, partition)
                SELECT g.worker, r.key, r.entries_at_recovery, r.restarts, r.partition
                FROM unnest(?::int[], ?::bigint[]) AS g (worker, key)
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE r.state < ${COMPLETED}
                ON CONFLICT DO NOTHING
                RETURNING key
            )
            SELECT count(*) FROM noted
            """;

    /**
     * Takes back recoveries that were counted when runs were taken from a worker whose process has joined again since.
     * If the run has made progress or begun a new life since, its count has been reset and stays as it is; a resume
     * deletes the rows here. Locked runs are left for the next sweep.
     */
    private static final String TAKE_BACK = """
            WITH taken AS MATERIALIZED (
                SELECT t.place, t.key, t.entries, t.restarts
                FROM ${schema}.worker w
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, entries, restarts FROM ${schema}.takeover
                    WHERE takeover.worker = w.number
                    LIMIT ?
                    FOR UPDATE SKIP LOCKED
                ) t
                WHERE w.returned
                LIMIT ?
            ), found AS MATERIALIZED (
                SELECT t.place, r.*, r.recoveries > 0 AND r.restarts = t.restarts AND r.entries_at_recovery = t.entries
                                   AND r.state < ${COMPLETED} AS counts
                FROM taken t
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = t.key FOR NO KEY UPDATE SKIP LOCKED) r
            ), settled AS (
                DELETE FROM ${schema}.takeover WHERE ctid = ANY (ARRAY(SELECT place FROM found))
            ), forgiven AS MATERIALIZED (
                -- Several workers may have lost one run before they all joined again.
                SELECT key, max(state) AS state, max(recoveries) AS recoveries,
                       GREATEST(max(recoveries) - count(*)::int, 0) AS recoveries_now
                FROM found WHERE counts GROUP BY key
            ), among_others AS (
                UPDATE ${schema}.ready SET alone = false
                WHERE ctid = ANY (ARRAY(
                    SELECT q.place
                    FROM forgiven f
                    CROSS JOIN LATERAL (
                        SELECT ctid AS place FROM ${schema}.ready q WHERE q.key = f.key OFFSET 0
                    ) q
                    WHERE f.state = ${READY} AND f.recoveries >= ${ALONE_AFTER} AND f.recoveries_now < ${ALONE_AFTER}))
            ), uncounted AS (
                UPDATE ${schema}.run SET recoveries = f.recoveries_now
                FROM forgiven f
                WHERE run.key = ANY (ARRAY(SELECT key FROM forgiven)) AND run.key = f.key
            )
            SELECT count(*) FROM found
            """;

    /**
     * Locks runs of dead workers. Several sweeps share the runs by skipping locked ones. A killed run ends here, so its
     * waiting parent, the runs that come after it, and its virtual object with the next call must be lockable too.
     * Otherwise the run is left for the next sweep: a sweep never waits for a lock out of order.
     */
    private static final String LOST_RUNS = """
            SELECT r.key, r.id, r.epoch, w.number, w.id AS worker, waiting.key IS NOT NULL AS awaited, r.precedes, r.frees
            FROM ${schema}.worker w
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.held h
                WHERE h.worker = w.number AND h.key <> ALL (?::bigint[])
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ) h
            CROSS JOIN LATERAL (
                SELECT key, id, epoch, kill IS NOT NULL AND parent_position IS NOT NULL AS tells, parent,
                       kill IS NOT NULL AND before IS NOT NULL AS precedes, before,
                       kill IS NOT NULL AND EXISTS (
                           SELECT FROM ${schema}.object_call c WHERE c.key = run.key AND c.hold = ${EXCLUSIVE}) AS frees
                FROM ${schema}.run
                WHERE run.key = h.key
                FOR NO KEY UPDATE SKIP LOCKED
            ) r
            LEFT JOIN LATERAL (
                SELECT key FROM ${schema}.run WHERE r.tells AND run.key = r.parent FOR NO KEY UPDATE SKIP LOCKED
            ) waiting ON true
            LEFT JOIN LATERAL (
                SELECT o.type, o.key
                FROM ${schema}.object_call c
                JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key
                WHERE r.frees AND c.key = r.key
                FOR NO KEY UPDATE OF o SKIP LOCKED
            ) freed ON true
            LEFT JOIN LATERAL (
                SELECT key FROM ${schema}.object_call c
                WHERE c.object_type = freed.type AND c.object_key = freed.key AND c.number IS NOT NULL
                ORDER BY c.number
                LIMIT 1
            ) next ON true
            LEFT JOIN LATERAL (
                SELECT key FROM ${schema}.run WHERE run.key = next.key FOR NO KEY UPDATE SKIP LOCKED
            ) heir ON true
            WHERE w.dead AND (NOT r.tells OR waiting.key IS NOT NULL) AND (NOT r.frees OR freed.key IS NOT NULL)
              AND (next.key IS NULL OR heir.key IS NOT NULL)
              AND (NOT r.precedes OR cardinality(r.before) = (
                  SELECT count(*) FROM (
                      SELECT locked.key
                      FROM unnest(r.before) AS later (key)
                      CROSS JOIN LATERAL (
                          SELECT key FROM ${schema}.run WHERE run.key = later.key FOR NO KEY UPDATE SKIP LOCKED
                      ) locked
                  ) AS had))
            ORDER BY r.key
            LIMIT ?
            """;

    /** The states that the recovered runs entered. */
    private static final String GIVEN = """
            SELECT r.id, r.definition, r.state, r.reason
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
            """;

    private static final String OWNED = """
            SELECT r.key, r.id, r.epoch
            FROM ${schema}.held h
            CROSS JOIN LATERAL (SELECT key, id, epoch, owner FROM ${schema}.run WHERE run.key = h.key OFFSET 0) r
            WHERE h.worker = ? AND r.owner = h.worker
            """;

    final String join;
    final String number;
    final String renew;
    final String leave;
    final String replaceLane;
    public final String forget;
    public final String expire;
    public final String busy;
    public final String expireBusy;
    public final String leftBehind;
    public final String takenOver;
    public final String takeBack;
    public final String lostRuns;
    public final String given;
    public final String owned;

    public LeaseSql(Schema schema) {
        this.join = schema.sql(JOIN.replace("${POLL_LANE}", String.valueOf(Lanes.POLL)));
        this.number = schema.sql(NUMBER);
        this.renew = schema.sql(RENEW);
        this.leave = schema.sql(LEAVE);
        this.replaceLane = schema.sql(REPLACE_LANE);
        this.forget = schema.sql(FORGET);
        this.expire = schema.sql(EXPIRE);
        this.busy = schema.sql(BUSY);
        this.expireBusy = schema.sql(EXPIRE_BUSY);
        this.leftBehind = schema.sql(LEFT_BEHIND);
        this.takenOver = schema.sql(TAKEN_OVER);
        this.takeBack = schema.sql(TAKE_BACK);
        this.lostRuns = schema.sql(LOST_RUNS);
        this.given = schema.sql(GIVEN);
        this.owned = schema.sql(OWNED);
    }
}
