package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;

/**
 * The statements of starts under keys. They are sent one after another in one transaction, because the run that has the
 * key decides what a start does.
 */
public final class StartKeySql {
    /**
     * Locks the key, which may be new. A start that meets another start under the same key waits here for its commit.
     */
    private static final String LOCK = """
            INSERT INTO ${schema}.start_key AS k (definition, start_key, kind, look_at)
            VALUES (?::text, ?::text, ?::smallint, ${now} + interval '1 hour')
            ON CONFLICT (definition, start_key, kind) DO UPDATE SET seed = k.seed
            RETURNING 1
            """;

    /** The run that has the key, read after the key was locked, with what this start needs to know about it. */
    private static final String NAMED = """
            SELECT clock.at, k.seed, k.until, k.until > clock.at AS lives, r.key, r.id, r.definition, r.state, r.epoch, r.queue, r.queue_key,
                   r.epoch > 0 OR (
                       -- Not EXISTS, for which the server may read the whole table into a hash table.
                       SELECT true FROM ${schema}.run t WHERE t.parent = r.key AND t.before IS NOT NULL AND t.epoch > 0 LIMIT 1
                   ) IS NOT NULL AS begun,
                   r.restarts > 0 OR COALESCE(i.payload = ?::bytea, false) AS same_input,
                   a.key AS after_key, a.id AS after_id
            FROM (SELECT ${now} AS at OFFSET 0) clock
            CROSS JOIN (
                SELECT * FROM ${schema}.start_key WHERE definition = ?::text AND start_key = ?::text AND kind = ?::smallint OFFSET 0
            ) k
            LEFT JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = k.run OFFSET 0) r ON true
            LEFT JOIN LATERAL (SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = 0 OFFSET 0) i ON true
            LEFT JOIN LATERAL (
                SELECT key, id FROM ${schema}.run WHERE run.key = k.after AND run.state < ${COMPLETED} OFFSET 0
            ) a ON true
            """;

    /** The deduplication key that a run has until it has ended. It never changes. */
    private static final String OWN =
            "SELECT definition, start_key FROM ${schema}.run WHERE id = ?::text AND start_key IS NOT NULL";

    /** A run that has not ended and has a deduplication key, or has to end before another one begins under it. */
    private static final String RIVAL = """
            SELECT r.id
            FROM (
                SELECT run, after FROM ${schema}.start_key WHERE definition = ?::text AND start_key = ?::text AND kind = 0 OFFSET 0
            ) k
            CROSS JOIN LATERAL unnest(ARRAY[k.run, k.after]) AS named (key)
            CROSS JOIN LATERAL (
                SELECT id FROM ${schema}.run WHERE run.key = named.key AND run.state < ${COMPLETED} OFFSET 0
            ) r
            WHERE r.id <> ?::text
            """;

    /** Gives a deduplication key back to a run that continues. */
    private static final String TAKE_BACK = """
            UPDATE ${schema}.start_key SET run = (SELECT key FROM ${schema}.run WHERE id = ?::text), after = NULL
            WHERE definition = ?::text AND start_key = ?::text AND kind = 0
            RETURNING 1
            """;

    /** Gives the key to another run, which remembers it if it has it until it has ended. */
    private static final String NAME = """
            WITH given AS MATERIALIZED (SELECT ?::text AS start_key, ?::bigint AS run), kept AS (
                UPDATE ${schema}.run SET start_key = (SELECT start_key FROM given)
                WHERE key = ANY (ARRAY(SELECT run FROM given WHERE start_key IS NOT NULL))
            )
            UPDATE ${schema}.start_key SET
                run = (SELECT run FROM given), after = ?::bigint, seed = ?::bigint, until = ?::timestamptz,
                look_at = COALESCE(?::timestamptz, look_at)
            WHERE definition = ?::text AND start_key = ?::text AND kind = ?::smallint
            RETURNING 1
            """;

    /**
     * Gives a debounced run another input and postpones it, unless it has become ready: then its quiet time is over. A
     * poll that makes it ready locks it too, so a claim sees either the old input with the old time, or both new.
     */
    private static final String POSTPONE = """
            WITH clock AS MATERIALIZED (SELECT ${now} AS at), found AS MATERIALIZED (
                SELECT r.*, LEAST(clock.at + ?::bigint * interval '1 microsecond', ?::timestamptz) AS due
                FROM (
                    SELECT key, partition, wake_at FROM ${schema}.run
                    WHERE key = ?::bigint AND state = ${SUSPENDED} AND epoch = 0 FOR NO KEY UPDATE
                ) r
                CROSS JOIN clock
            ), untimed AS (
                ${clear_timer FROM found f WHERE f.due <> f.wake_at}
            ), timed AS (
                ${set_timer(due_at = due) FROM found WHERE due <> wake_at}
            ), woken AS (
                UPDATE ${schema}.run SET wake_at = f.due FROM found f WHERE run.key = ANY (ARRAY(SELECT key FROM found)) AND run.key = f.key
            ), told AS (
                UPDATE ${schema}.journal SET payload = ?::bytea
                WHERE journal.key = ANY (ARRAY(SELECT key FROM found)) AND journal.position = 0
            ), answered AS (
                UPDATE ${schema}.start_key SET seed = ?::bigint
                WHERE definition = ?::text AND start_key = ?::text AND kind = ?::smallint AND EXISTS (SELECT FROM found)
            )
            SELECT key FROM found
            """;

    /** Makes a run that was just started wait until the run that it replaces has ended. */
    private static final String HOLD_BACK = """
            WITH found AS MATERIALIZED (
                SELECT key FROM ${schema}.run WHERE key = ?::bigint AND state = ${READY}
            ), unqueued AS (
                ${dequeue FROM found f}
            )
            UPDATE ${schema}.run SET state = ${PENDING}, open = 1, reason = ?::text
            WHERE key = ANY (ARRAY(SELECT key FROM found))
            RETURNING 1
            """;

    /** The key of a run, by its id. */
    private static final String FIND = "SELECT key FROM ${schema}.run WHERE id = ?::text";

    /** Lets runs begin whose predecessors have ended. It goes from the key to the run, so it skips locked rows. */
    private static final String RELEASE = """
            WITH clock AS MATERIALIZED (SELECT ${now} AS at), free AS MATERIALIZED (
                SELECT k.ctid AS place, k.run
                FROM ${schema}.start_key k
                WHERE k.after IS NOT NULL
                  AND (SELECT true FROM ${schema}.run a WHERE a.key = k.after AND a.state < ${COMPLETED} LIMIT 1) IS NULL
                LIMIT 500
                FOR UPDATE SKIP LOCKED
            ), found AS MATERIALIZED (
                SELECT f.place, r.*, clock.at AS moved_at
                FROM free f
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = f.run FOR NO KEY UPDATE SKIP LOCKED) r
                CROSS JOIN clock
            ), logged AS (
                ${log FROM found WHERE state = ${PENDING}}
            ), queued AS (
                ${enqueue FROM found WHERE state = ${PENDING}}
            ), free_now AS (
                UPDATE ${schema}.start_key SET after = NULL WHERE ctid = ANY (ARRAY(SELECT place FROM found))
            ), opened AS (
                UPDATE ${schema}.run SET
                    open = 0,
                    state = CASE WHEN f.state = ${PENDING} THEN ${READY} ELSE f.state END,
                    reason = CASE WHEN f.state = ${PENDING} THEN NULL ELSE f.reason END,
                    changed_at = CASE WHEN f.state = ${PENDING} THEN f.moved_at ELSE f.changed_at END,
                    changes = CASE WHEN f.state = ${PENDING} THEN f.changes + 1 ELSE f.changes END
                FROM found f
                WHERE run.key = ANY (ARRAY(SELECT key FROM found)) AND run.key = f.key
            )
            SELECT count(*) AS released FROM found
            """;

    /** Deletes keys that no longer count, and checks the others again an hour later. */
    private static final String FORGET = """
            WITH clock AS MATERIALIZED (SELECT ${now} AS at), looked AS MATERIALIZED (
                SELECT k.ctid AS place, k.after, k.until < clock.at AS over, k.kind, k.run
                FROM ${schema}.start_key k
                CROSS JOIN clock
                WHERE k.look_at <= clock.at
                ORDER BY k.look_at
                LIMIT 1000
                FOR UPDATE OF k SKIP LOCKED
            ), judged AS MATERIALIZED (
                SELECT l.place, l.after IS NULL AND CASE WHEN l.kind = 1 THEN COALESCE(l.over, true) ELSE (
                           SELECT true FROM ${schema}.run r WHERE r.key = l.run AND r.state < ${COMPLETED} LIMIT 1) IS NULL END AS stale
                FROM looked l
            ), kept AS (
                UPDATE ${schema}.start_key SET look_at = (SELECT at FROM clock) + interval '1 hour'
                WHERE ctid = ANY (ARRAY(SELECT place FROM judged WHERE NOT stale))
            ), forgotten AS (
                DELETE FROM ${schema}.start_key WHERE ctid = ANY (ARRAY(SELECT place FROM judged WHERE stale))
            )
            SELECT count(*) AS looked FROM judged
            """;

    /** Lets starts under one key of a queue come one after another, so that each counts the one before it. */
    private static final String LOCK_PLACES = """
            SELECT true FROM (SELECT pg_advisory_xact_lock(hashtextextended('perdure ${schema} ' || ?::text || ' ' || ?::text, 0))) AS locked
            """;

    /**
     * What the queue does when the key is full, and the runs that hold a place of it or wait for one, the first started
     * first. Not all of them, if there are many more than places: of those that wait, any if only their number counts,
     * and the oldest if the oldest give way. To find these, it reads the index entries of all runs of the key that wait.
     */
    private static final String PLACES = """
            WITH rule AS MATERIALIZED (
                SELECT NULLIF(COALESCE(limits->>'whole:per_key', limits->>'per_key'), 'none')::int AS places,
                       COALESCE(limits->>'counting', 'BEGUN') = 'BEGUN' AS begun,
                       CASE WHEN jsonb_exists(limits, 'whole:per_key') AND NOT ${schema}.counts_key(of_key) THEN 'WAIT'
                            ELSE COALESCE(limits->>'whole:when_key_full', limits->>'when_key_full', 'WAIT') END AS policy
                FROM (SELECT declared || changed AS limits, ?::text AS of_key FROM ${schema}.queue WHERE name = ?::text) q
            ), waiting AS NOT MATERIALIZED (
                SELECT key, since FROM ${schema}.ready WHERE queue = ?::text AND queue_key = ?::text
            ), member AS MATERIALIZED (
                SELECT key FROM ${schema}.slot WHERE queue = ?::text AND queue_key = ?::text
                UNION
                (SELECT key FROM waiting LIMIT (SELECT CASE WHEN policy = 'CANCEL_OLDEST' THEN 0 ELSE COALESCE(places + 100, 0) END FROM rule))
                UNION
                (SELECT key FROM waiting ORDER BY since, key
                 LIMIT (SELECT CASE WHEN policy = 'CANCEL_OLDEST' THEN COALESCE(places + 100, 0) ELSE 0 END FROM rule))
            )
            SELECT rule.policy, rule.places, m.id,
                   m.cancel IS NOT NULL OR m.kill IS NOT NULL AS ends,
                   m.before IS NULL AND (SELECT true FROM ${schema}.object_call o WHERE o.key = m.key LIMIT 1) IS NULL AS yields
            FROM rule
            LEFT JOIN LATERAL (
                SELECT r.*
                FROM member
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = member.key OFFSET 0) r
                WHERE r.state IN (${READY}, ${RUNNING}) OR rule.begun AND r.state IN (${SUSPENDED}, ${BACKING_OFF})
            ) m ON true
            ORDER BY m.created_at, m.key
            """;

    public final String lock;
    public final String named;
    public final String own;
    public final String rival;
    public final String takeBack;
    public final String name;
    public final String postpone;
    public final String holdBack;
    public final String find;
    public final String release;
    public final String forget;
    public final String lockPlaces;
    public final String places;

    public StartKeySql(Schema schema) {
        this.lock = Pieces.sql(schema, LOCK);
        this.named = Pieces.sql(schema, NAMED);
        this.own = Pieces.sql(schema, OWN);
        this.rival = Pieces.sql(schema, RIVAL);
        this.takeBack = Pieces.sql(schema, TAKE_BACK);
        this.name = Pieces.sql(schema, NAME);
        this.postpone = Pieces.sql(schema, POSTPONE);
        this.holdBack = Pieces.sql(schema, HOLD_BACK);
        this.find = Pieces.sql(schema, FIND);
        this.release = Pieces.sql(schema, RELEASE);
        this.forget = Pieces.sql(schema, FORGET);
        this.lockPlaces = Pieces.sql(schema, LOCK_PLACES);
        this.places = Pieces.sql(schema, PLACES);
    }
}
