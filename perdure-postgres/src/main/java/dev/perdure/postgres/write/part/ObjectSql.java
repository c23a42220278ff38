package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.BatchObjects;
import dev.perdure.postgres.write.change.Endings;

/**
 * The statements of a batch for virtual objects. The rules of {@link LedgerSql} apply.
 *
 * <p>How it works: which call holds an object is decided under the lock of the object's row, which comes before the
 * locks of runs: {@link #make} and {@link #lock} take it for all objects of the batch, in order. After that, the batch
 * starts, moves and commands runs as if there were no objects; before that, {@link #follow} takes over calls that end
 * ahead of their turn. Only afterwards {@link #enter} gives new calls their places and makes those pending that have to
 * wait, and {@link #release} passes on the objects that were freed.
 *
 * <p>A call never changes its object, so the rows to lock can be read without a lock.
 */
public final class ObjectSql {
    /**
     * Makes sure that every called object has a row. Does not touch existing rows. The order is that of {@link #LOCK}, whatever
     * the language of the database.
     */
    private static final String MAKE = """
            WITH ${fence}, made AS (
                INSERT INTO ${schema}.object (type, key, partition)
                SELECT DISTINCT type COLLATE "C" AS type, key COLLATE "C" AS key, partition FROM ${made}
                WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
                ORDER BY type, key
                ON CONFLICT DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM made
            """;

    /** Locks the called objects, and the objects of runs that may arrive or end, given by key or by id. */
    private static final String LOCK = """
            WITH ${fence}, wanted AS (
                SELECT type, key FROM ${names}
                UNION
                SELECT c.object_type, c.object_key
                FROM unnest(?::bigint[]) AS moved (key)
                CROSS JOIN LATERAL (
                    SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = moved.key OFFSET 0
                ) c
                UNION
                SELECT c.object_type, c.object_key
                FROM unnest(?::text[]) AS commanded (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = commanded.id OFFSET 0) r
                CROSS JOIN LATERAL (
                    SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = r.key AND hold > 0 OFFSET 0
                ) c
                ORDER BY type, key
            )
            SELECT count(*)
            FROM wanted
            CROSS JOIN LATERAL (
                SELECT FROM ${schema}.object o WHERE o.type = wanted.type AND o.key = wanted.key FOR NO KEY UPDATE
            ) locked
            WHERE ?::int IS NULL OR EXISTS (SELECT FROM fence)
            """;

    /**
     * Gives calls that were just started, or that arrive now, their places in the given order. The first call at a free
     * object holds it; the others become pending. Each object is touched once.
     */
    private static final String ENTER = """
            WITH ${clock}, given AS MATERIALIZED (
                SELECT r.*, o.type, o.object, g.hold, g.epoch AS arrives, g.ordinal, clock.at AS moved_at,
                       o.holder, o.arrivals, o.object_place,
                       -- No other transaction knows the key of a run that was just started.
                       g.epoch IS NULL OR r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ? AS enters
                FROM ${entering}
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, key, partition, state, epoch, owner, changes, changed_at, priority, queue, definition,
                           version, reason, parent_position
                    FROM ${schema}.run WHERE run.key = g.key AND run.partition = g.key & 255 OFFSET 0
                ) r
                -- Only the row of a call that arrives has no object.
                LEFT JOIN LATERAL (
                    SELECT object_type, object_key FROM ${schema}.object_call c WHERE g.type IS NULL AND c.key = g.key OFFSET 0
                ) there ON true
                CROSS JOIN LATERAL (
                    SELECT named.type, named.object, held.holder, held.arrivals, held.ctid AS object_place
                    FROM (SELECT COALESCE(g.type, there.object_type), COALESCE(g.object, there.object_key)) AS named (type, object)
                    LEFT JOIN LATERAL (
                        SELECT ctid, holder, arrivals FROM ${schema}.object
                        WHERE object.type = named.type AND object.key = named.object OFFSET 0
                    ) held ON true
                ) o
                WHERE ${client_or_lane_exists}
            ), turn AS MATERIALIZED (
                SELECT given.*, row_number() OVER (PARTITION BY type, object ORDER BY ordinal) AS turn
                FROM given
                -- A call that is sent again may already hold the object.
                WHERE enters AND hold = ${EXCLUSIVE} AND holder IS DISTINCT FROM key
                  -- Retention may have removed a free object after this batch had found its row.
                  AND (object_place IS NOT NULL OR ${schema}.try_again('A virtual object was removed meanwhile.'))
            ), placed AS MATERIALIZED (
                SELECT turn.*, turn > 1 OR holder IS NOT NULL AS waits,
                       arrivals + turn - CASE WHEN holder IS NULL THEN 1 ELSE 0 END AS number
                FROM turn
            ), called AS (
                INSERT INTO ${schema}.object_call AS c (key, number, partition, hold, object_type, object_key)
                SELECT g.key, p.number, g.partition, g.hold, g.type, g.object
                FROM given g LEFT JOIN placed p ON p.key = g.key AND p.waits
                WHERE g.enters
                ON CONFLICT (key, partition) DO UPDATE SET hold = excluded.hold, number = excluded.number
            ), holding AS MATERIALIZED (
                SELECT type, object, object_place, COALESCE(min(holder), min(key) FILTER (WHERE NOT waits)) AS holder,
                       max(number) AS arrivals
                FROM placed
                GROUP BY type, object, object_place
            ), held_now AS (
                UPDATE ${schema}.object AS o SET holder = h.holder, arrivals = h.arrivals
                FROM holding h
                WHERE o.ctid = ANY (ARRAY(SELECT object_place FROM holding)) AND o.type = h.type AND o.key = h.object
            ), unheld AS (
                ${let_go FROM placed p WHERE p.waits AND p.state = ${RUNNING}}
            ), unqueued AS (
                ${dequeue FROM placed p WHERE p.waits AND p.state = ${READY}}
            ), logged AS (
                ${log FROM placed WHERE waits AND arrives IS NOT NULL}
            ), pending AS (
                UPDATE ${schema}.run SET
                    epoch = CASE WHEN p.arrives IS NULL THEN 0 ELSE p.epoch END, changed_at = p.moved_at, owner = NULL,
                    changes = CASE WHEN p.arrives IS NULL THEN p.changes ELSE p.changes + 1 END, state = ${PENDING}
                FROM placed p
                WHERE run.ctid = ANY (ARRAY(SELECT place FROM placed WHERE waits)) AND run.key = p.key AND p.waits
            )
            SELECT g.key, g.enters, COALESCE(p.waits, false) AS waits, g.moved_at, g.parent_position IS NOT NULL AS awaited,
                   g.state, g.epoch, g.changed_at
            FROM given g LEFT JOIN placed p ON p.key = g.key
            """;

    /**
     * Takes over calls that end in this batch ahead of their turns: the calls at the very front of the queue that
     * follow one another without a gap and each name the one before, if the run that holds their object ends in this
     * batch too. From here on the worker holds them like any other run; the object stays with its holder until
     * {@link #release}. Calls that are not taken over are then found not to be held.
     */
    private static final String FOLLOW = """
            WITH ${clock}, given AS MATERIALIZED (
                SELECT g.key, g.epoch, g.follows, c.object_type, c.object_key,
                       count(g.follows) OVER (PARTITION BY c.object_type, c.object_key) AS followers
                FROM ${following}
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.object_call WHERE object_call.key = g.key AND hold = ${EXCLUSIVE} OFFSET 0
                ) c
                WHERE ${lane_exists}
            ), freed AS MATERIALIZED (
                -- Objects whose holders end here, with the number of calls that end behind them.
                SELECT o.type, o.key, o.holder, g.followers
                FROM given g
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.object o
                    WHERE o.type = g.object_type AND o.key = g.object_key AND o.holder = g.key OFFSET 0
                ) o
                CROSS JOIN LATERAL (
                    SELECT FROM ${schema}.run r
                    WHERE r.key = g.key AND r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ? OFFSET 0
                ) held
            ), waiting AS MATERIALIZED (
                SELECT w.key, w.number, w.call_partition, f.type, f.key AS object, g.epoch, g.follows,
                       lag(w.key, 1, f.holder) OVER (PARTITION BY f.type, f.key ORDER BY w.number) AS before
                FROM freed f
                CROSS JOIN LATERAL (
                    SELECT c.key, c.number, c.partition AS call_partition FROM ${schema}.object_call c
                    WHERE c.object_type = f.type AND c.object_key = f.key AND c.number IS NOT NULL
                    ORDER BY c.number
                    LIMIT f.followers
                ) w
                LEFT JOIN given g ON g.key = w.key
            ), line AS MATERIALIZED (
                SELECT w.*, bool_and((w.follows = w.before AND r.state = ${PENDING} AND r.epoch + 2 = w.epoch
                           AND r.queue <> ALL (?::text[])) IS TRUE)
                           OVER (PARTITION BY w.type, w.object ORDER BY w.number) AS in_line
                FROM waiting w
                CROSS JOIN LATERAL (SELECT state, epoch, queue FROM ${schema}.run WHERE run.key = w.key OFFSET 0) r
            ), taken AS MATERIALIZED (
                SELECT r.*, l.type, l.object, l.call_partition, clock.at AS moved_at
                FROM line l
                CROSS JOIN clock
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = l.key OFFSET 0) r
                WHERE l.in_line
            ), left_queue AS (
                ${leave_line(partition = call_partition, object_type = type, object_key = object) FROM taken}
            ), logged AS (
                ${log FROM taken}
            ), begun AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, owner, changes, priority, partition, state,
                    id, definition, queue)
                SELECT key, seed, epoch + 2, created_at, moved_at, ?::int, changes + 1, priority, partition, ${RUNNING}, id,
                       definition, queue
                FROM taken
                ON CONFLICT (key, partition) DO UPDATE SET
                    epoch = excluded.epoch, changed_at = excluded.changed_at, owner = excluded.owner, wakes = 0,
                    changes = excluded.changes, state = excluded.state, reason = NULL
            )
            SELECT count(*) FROM taken
            """;

    /**
     * Passes on the objects of the runs among these that have ended, each to the next waiting call. That call goes to
     * the worker of the batch, if the end asked for it and the worker could have claimed it; otherwise it is ready. A
     * paused call holds the object from then on and stays paused. Behind a call that was handed over, it returns the
     * next waiting calls, as far as the worker could run them.
     */
    private static final String RELEASE = """
            WITH ${clock}, taker AS MATERIALIZED (
                SELECT definitions, version FROM ${schema}.worker WHERE number = ?
            ), candidate AS MATERIALIZED (
                SELECT moved.key, moved.takes FROM unnest(?::bigint[], ?::int[]) AS moved (key, takes)
                UNION ALL
                SELECT r.key, 0
                FROM unnest(?::text[]) AS commanded (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = commanded.id OFFSET 0) r
            ), ended AS MATERIALIZED (
                SELECT e.key, e.queue, l.object_type, l.object_key, l.number, l.partition,
                       max(c.takes) OVER (PARTITION BY l.object_type, l.object_key) AS takes
                FROM candidate c
                CROSS JOIN LATERAL (
                    SELECT key, queue FROM ${schema}.run WHERE run.key = c.key AND run.state >= ${COMPLETED} OFFSET 0
                ) e
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.object_call WHERE object_call.key = c.key AND hold = ${EXCLUSIVE} OFFSET 0
                ) l
                WHERE ${client_or_lane_exists}
            ), freed AS MATERIALIZED (
                SELECT o.*, e.key AS ended, e.queue, e.takes
                FROM ended e
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, type, key FROM ${schema}.object o
                    WHERE o.type = e.object_type AND o.key = e.object_key AND o.holder = e.key OFFSET 0
                ) o
            ), next AS MATERIALIZED (
                SELECT f.type, f.key AS object, f.place, f.ended, f.queue AS ended_queue, f.takes,
                       w.key, w.call_partition, w.number
                FROM freed f
                LEFT JOIN LATERAL (
                    SELECT c.key, c.partition AS call_partition, c.number FROM ${schema}.object_call c
                    WHERE c.object_type = f.type AND c.object_key = f.key AND c.number IS NOT NULL
                      AND c.key NOT IN (SELECT key FROM ended)
                    ORDER BY c.number
                    LIMIT 1
                ) w ON true
            ), passed_on AS (
                UPDATE ${schema}.object AS o SET holder = n.key
                FROM next n
                WHERE o.ctid = ANY (ARRAY(SELECT place FROM next)) AND o.type = n.type AND o.key = n.object
            ), left_queue AS (
                ${leave_line(partition = call_partition, object_type = type, object_key = object)
                FROM next WHERE key IS NOT NULL
                UNION ALL
                ${leave_line.select FROM ended WHERE number IS NOT NULL}}
            ), found AS MATERIALIZED (
                SELECT r.*, n.ended, n.takes, n.number, n.type, n.object, clock.at AS moved_at,
                       -- A run of a queue with limits, or with labels, begins only by a poll, which counts the places.
                       n.takes > 0 AND r.queue = n.ended_queue AND r.queue <> ALL (?::text[]) AND r.placement IS NULL AND (
                           SELECT r.definition = ANY (t.definitions) AND (r.version IS NULL OR r.version = t.version)
                           FROM taker t) IS TRUE AS handed
                FROM next n
                CROSS JOIN clock
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.run WHERE run.key = n.key AND run.state = ${PENDING} FOR NO KEY UPDATE
                ) r
            ), logged AS (
                ${log FROM found}
            ), kept AS (
                ${hold(worker = ?::int) FROM found WHERE handed}
            ), queued AS (
                ${enqueue FROM found WHERE NOT handed}
            ), opened AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, owner, changes, priority, partition, state,
                    id, definition, queue)
                SELECT key, seed, CASE WHEN handed THEN epoch + 1 ELSE epoch END, created_at, moved_at,
                       CASE WHEN handed THEN ?::int END, changes + 1, priority, partition,
                       CASE WHEN handed THEN ${RUNNING} ELSE ${READY} END, id, definition, queue
                FROM found
                ON CONFLICT (key, partition) DO UPDATE SET
                    epoch = excluded.epoch, changed_at = excluded.changed_at, owner = excluded.owner, wakes = 0,
                    changes = excluded.changes, state = excluded.state, reason = NULL
            ), behind AS (
                SELECT b.key, f.ended, row_number() OVER line AS place,
                       bool_and(b.state = ${PENDING} AND b.queue = f.queue AND b.placement IS NULL AND (
                           SELECT b.definition = ANY (t.definitions) AND (b.version IS NULL OR b.version = t.version)
                           FROM taker t) IS TRUE) OVER line AS suits
                FROM found f
                CROSS JOIN LATERAL (
                    SELECT c.number, r.*
                    FROM (
                        SELECT key, number FROM ${schema}.object_call c
                        WHERE c.object_type = f.type AND c.object_key = f.object AND c.number > f.number
                          AND c.key NOT IN (SELECT key FROM ended)
                        ORDER BY c.number
                        LIMIT f.takes - 1
                    ) c
                    CROSS JOIN LATERAL (
                        SELECT key, state, queue, definition, version, placement FROM ${schema}.run WHERE run.key = c.key OFFSET 0
                    ) r
                ) b
                WHERE f.handed AND f.takes > 1
                WINDOW line AS (PARTITION BY f.ended ORDER BY b.number)
            )
            SELECT key, ended, handed, 0 AS place FROM found
            UNION ALL
            SELECT key, ended, false, place FROM behind WHERE suits
            ORDER BY place
            """;

    /**
     * The changes of transitions to the states of the objects that their runs hold, in the given order. A transition
     * names no value twice; if several change one object, the last counts.
     */
    private static final String STATE = """
            WITH acting AS MATERIALIZED (
                SELECT r.key, g.clears_all, g.ordinal, o.type, o.key AS object, o.partition
                FROM ${acting}
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.object_call WHERE object_call.key = g.key AND hold = ${EXCLUSIVE} OFFSET 0
                ) c
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.object WHERE object.type = c.object_type AND object.key = c.object_key OFFSET 0
                ) o
                WHERE ${lane_exists}
                  AND (g.epoch IS NULL OR r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ?)
            ), changed AS MATERIALIZED (
                SELECT type, object, COALESCE(max(ordinal) FILTER (WHERE clears_all), 0) AS cleared
                FROM acting
                GROUP BY type, object
            ), value AS MATERIALIZED (
                SELECT DISTINCT ON (a.type, a.object, g.name) a.type, a.object, a.partition, c.cleared, g.name, g.payload
                FROM ${values}
                JOIN acting a ON a.key = g.key
                JOIN changed c ON c.type = a.type AND c.object = a.object AND a.ordinal >= c.cleared
                ORDER BY a.type, a.object, g.name, a.ordinal DESC
            ), cleared AS (
                DELETE FROM ${schema}.object_state
                WHERE ctid = ANY (ARRAY(
                    SELECT s.ctid
                    FROM value v
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.object_state s
                        WHERE s.object_type = v.type AND s.object_key = v.object AND s.name = v.name OFFSET 0
                    ) s
                    WHERE v.payload IS NULL AND v.cleared = 0
                    UNION ALL
                    SELECT s.ctid
                    FROM changed c
                    CROSS JOIN LATERAL (
                        SELECT ctid, name FROM ${schema}.object_state s
                        WHERE s.object_type = c.type AND s.object_key = c.object OFFSET 0
                    ) s
                    WHERE c.cleared > 0 AND NOT EXISTS (
                        SELECT FROM value v
                        WHERE v.type = c.type AND v.object = c.object AND v.name = s.name AND v.payload IS NOT NULL)))
            ), set AS (
                ${set_state FROM value WHERE payload IS NOT NULL}
            )
            SELECT count(*) FROM acting
            """;

    private static final String READ = """
            SELECT payload FROM ${schema}.object_state WHERE object_type = ? AND object_key = ? AND name = ?
            """;

    private static final String READ_ALL = """
            SELECT g.ordinal, s.name, s.payload
            FROM ${numbered_names}
            CROSS JOIN LATERAL (
                SELECT name, payload FROM ${schema}.object_state s
                WHERE s.object_type = g.type AND s.object_key = g.key OFFSET 0
            ) s
            """;

    /**
     * What runs wait for: a call waits for the run that holds its object; any other run waits for the runs that it has
     * called, but not for those that it has only sent.
     */
    private static final String WAITS_FOR = """
            SELECT g.key AS waits, r.key, r.id, r.definition, r.state, c.object_type, c.object_key
            FROM unnest(?::bigint[]) AS g (key)
            CROSS JOIN LATERAL (
                SELECT o.holder AS key
                FROM ${schema}.object_call w
                JOIN ${schema}.object o ON o.type = w.object_type AND o.key = w.object_key
                WHERE w.key = g.key AND w.number IS NOT NULL
                UNION ALL
                SELECT called.key FROM ${schema}.run called
                WHERE called.parent = g.key AND called.parent_position IS NOT NULL AND called.state < ${COMPLETED}
            ) n
            JOIN ${schema}.run r ON r.key = n.key
            LEFT JOIN ${schema}.object_call c ON c.key = r.key
            """;

    /** Calls for whose results other runs wait, and that have waited for their own turn for a while. */
    private static final String LONG_WAITING = """
            SELECT c.key
            FROM ${schema}.object_call c
            JOIN ${schema}.run r ON r.key = c.key
            WHERE c.number IS NOT NULL AND r.parent_position IS NOT NULL AND r.state = ${PENDING}
              AND r.changed_at < ${now} - interval '1 second'
            ORDER BY r.changed_at
            LIMIT 100
            """;

    /** Whether any call waits for its turn. */
    private static final String ANY_WAITING =
            "SELECT EXISTS (SELECT FROM ${schema}.object_call WHERE number IS NOT NULL) AS any";

    public final String make;
    public final String lock;
    public final String enter;
    public final String follow;
    public final String release;
    public final String state;
    public final String read;
    public final String readAll;
    public final String waitsFor;
    public final String longWaiting;
    public final String anyWaiting;

    public ObjectSql(Schema schema) {
        this.make = Pieces.sql(schema, MAKE.replace("${made}", BatchObjects.MADE.many("g")));
        this.lock = Pieces.sql(schema, LOCK.replace("${names}", BatchObjects.NAMES.many("g")));
        this.enter = Pieces.sql(schema, ENTER.replace("${entering}", BatchObjects.ENTERING.numbered("g")));
        this.follow = Pieces.sql(schema, FOLLOW.replace("${following}", Endings.FOLLOWING.many("g")));
        this.release = Pieces.sql(schema, RELEASE);
        this.state = Pieces.sql(
                schema,
                STATE.replace("${acting}", BatchObjects.ACTING.numbered("g"))
                        .replace("${values}", BatchObjects.VALUES.many("g")));
        this.read = Pieces.sql(schema, READ);
        this.readAll = Pieces.sql(schema, READ_ALL.replace("${numbered_names}", BatchObjects.NAMES.numbered("g")));
        this.waitsFor = Pieces.sql(schema, WAITS_FOR);
        this.longWaiting = Pieces.sql(schema, LONG_WAITING);
        this.anyWaiting = Pieces.sql(schema, ANY_WAITING);
    }
}
