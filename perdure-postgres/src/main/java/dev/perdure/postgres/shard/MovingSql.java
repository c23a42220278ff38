package dev.perdure.postgres.shard;

/** The statements that move a partition. Those with a table are completed by {@link RunTables.Table#sql}. */
final class MovingSql {
    /** Both sides of a move write values in the same way, and find rows by indexes. */
    static final String SETTINGS = """
            SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1;
            SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_hashagg = off; SET LOCAL jit = off;
            SET LOCAL lock_timeout = '300ms'; SET LOCAL statement_timeout = 0; SET LOCAL perdure.moving = 'on'
            """;

    static final String SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";

    static final String STATE = """
            SELECT s.name, s.number, s.version, s.owners,
                   (SELECT count(*) FROM ${schema}.worker w WHERE NOT w.dead AND w.expires_at > clock_timestamp()) AS workers
            FROM ${schema}.shard s
            """;

    static final String CLOSED = """
            SELECT number, phase, other, since::text AS since,
                   (1000 * EXTRACT(epoch FROM clock_timestamp() - since))::bigint AS millis
            FROM ${schema}.closed_partition ORDER BY number
            """;

    static final String CLOSE = """
            INSERT INTO ${schema}.closed_partition (number, phase, other) VALUES (?, ?, ?)
            ON CONFLICT (number) DO UPDATE SET phase = excluded.phase, other = excluded.other, since = now()
            """;

    static final String OPEN = "DELETE FROM ${schema}.closed_partition WHERE number = ${partition}";

    /** The constraint goes on to name the partition. It asks for this row. */
    static final String ARRIVE = """
            WITH arrived AS (DELETE FROM ${schema}.closed_partition WHERE number = ${partition} RETURNING number, since)
            INSERT INTO ${schema}.arrived_partition (number, since) SELECT number, since FROM arrived
            ON CONFLICT (number) DO UPDATE SET since = excluded.since
            """;

    /** Those that the constraint names no more, or names as closed. */
    static final String FORGET_ARRIVED = "DELETE FROM ${schema}.arrived_partition WHERE number <> ALL (${arriving})";

    static final String HAS_ARRIVED = "SELECT EXISTS (SELECT FROM ${schema}.arrived_partition)";

    /** Not while a batch of ended runs is being stored. */
    static final String GIVE_UP =
            "UPDATE ${schema}.closed_partition SET phase = 'GONE', since = now() WHERE number = ${partition} AND phase = 'ARRIVING'";

    /** Until the end of the transaction, the move is not given up. */
    static final String LOCK_ARRIVING = """
            SELECT number FROM ${schema}.closed_partition
            WHERE number = ${partition} AND phase = 'ARRIVING' AND since = '${expected}'::timestamptz
            FOR SHARE
            """;

    /** Since when the partition is expected. Another move, also of the same partition, has another time. */
    static final String EXPECTED =
            "SELECT since::text AS since FROM ${schema}.closed_partition WHERE number = ${partition}";

    static final String LOCK_LEFT =
            "SELECT number FROM ${schema}.closed_partition WHERE number = ${partition} AND phase = 'LEFT' FOR UPDATE";

    static final String GONE =
            "UPDATE ${schema}.closed_partition SET phase = 'GONE', since = now() WHERE number = ${partition}";

    static final String REMEMBER_NUMBER = """
            UPDATE ${schema}.shard SET highest_number = GREATEST(highest_number, ?) + ? RETURNING highest_number
            """;

    static final String ADD = """
            INSERT INTO ${schema}.shard (name, version, owners, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
            """;

    /** Not if the move was given up meanwhile, even if another one has begun. The row is locked before, so that this sees it. */
    static final String MAP = """
            UPDATE ${schema}.shard SET version = ?, owners = ?
            WHERE version = ?
              AND EXISTS (
                  SELECT FROM ${schema}.closed_partition c
                  WHERE c.number = ${partition} AND c.phase = 'ARRIVING' AND c.since = '${expected}'::timestamptz)
            """;

    static final String NEWER_MAP = "UPDATE ${schema}.shard SET version = ?, owners = ? WHERE version < ?";

    /** Processes that listen hear it when the transaction commits. The others ask from time to time. */
    static final String TELL = "SELECT pg_notify(?, ?)";

    static final String LOCK_MAP = "SELECT owners[${partition} + 1] = name AS here FROM ${schema}.shard FOR UPDATE";

    /** The expression is null, and so would permit everything, without the COALESCE. */
    static final String GUARD = """
            ALTER TABLE ${schema}.${table} DROP CONSTRAINT IF EXISTS partition_is_here,
                ADD CONSTRAINT partition_is_here
                CHECK (partition <> ALL (${closed}) OR COALESCE(current_setting('perdure.moving', true), '') = 'on'${unless_arrived}) NOT VALID
            """;

    /** For a partition that is about to come. */
    static final String UNLESS_ARRIVED =
            " OR partition = ${partition} AND ${schema}.has_arrived(partition, '${since}'::timestamptz)";

    static final String UNGUARD = "ALTER TABLE ${schema}.${table} DROP CONSTRAINT IF EXISTS partition_is_here";

    // ---- what keeps a partition where it is

    static final String STRANGE_CALL = """
            SELECT r.id, c.object_type, c.object_key
            FROM ${schema}.object_call c
            JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key
            JOIN ${schema}.run r ON r.key = c.key
            WHERE (o.partition = ${partition}) <> (c.partition = ${partition})
            LIMIT 1
            """;

    /** Triggers note changes with the rights of the role that makes them. */
    static final String CANNOT_NOTE = """
            SELECT g.grantee::regrole::text AS role
            FROM pg_catalog.pg_class c CROSS JOIN LATERAL aclexplode(COALESCE(c.relacl, acldefault('r', c.relowner))) g
            WHERE c.oid = '${schema}.run'::regclass AND g.privilege_type IN ('INSERT', 'UPDATE', 'DELETE') AND g.grantee <> 0
              AND NOT has_table_privilege(g.grantee, '${schema}.partition_change', 'INSERT')
            LIMIT 1
            """;

    static final String START_KEYS = "SELECT definition, start_key, kind, run FROM ${schema}.start_key WHERE run <> 0";

    // ---- what has changed since it was copied

    private static final String CHANGED_RUNS = """
            SELECT DISTINCT key FROM ${schema}.partition_change WHERE of_partition = ${partition} AND key IS NOT NULL
            """;

    /**
     * As {@link #STRANGE_CALL}, of calls that have begun while the partition was copied. Their runs or their objects are noted: a
     * call that takes its object, or waits for it, changes the row of the object.
     */
    static final String STRANGE_NEW_CALL = """
            SELECT r.id, c.object_type, c.object_key
            FROM (
                SELECT c.key, c.object_type, c.object_key
                FROM (${changed}) g
                JOIN ${schema}.object_call c ON c.key = g.key
                JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key
                WHERE o.partition <> ${partition}
                UNION ALL
                SELECT c.key, n.object_type, n.object_key
                FROM (
                    SELECT DISTINCT object_type, object_key FROM ${schema}.partition_change
                    WHERE of_partition = ${partition} AND key IS NULL
                ) n
                JOIN ${schema}.object o ON o.type = n.object_type AND o.key = n.object_key
                CROSS JOIN LATERAL (
                    SELECT o.holder AS key
                    UNION ALL
                    SELECT w.key FROM ${schema}.object_call w
                    WHERE w.object_type = o.type AND w.object_key = o.key AND w.number IS NOT NULL
                ) c
                WHERE (c.key & 255) <> ${partition}
            ) c
            JOIN ${schema}.run r ON r.key = c.key
            LIMIT 1
            """.replace("${changed}", CHANGED_RUNS);

    static final String WATCH = """
            CREATE TRIGGER partition_change AFTER INSERT OR UPDATE ON ${schema}.${table}
            FOR EACH ROW WHEN (NEW.partition = ${partition}) EXECUTE FUNCTION ${schema}.${note}()
            """;

    static final String WATCH_UPDATES = WATCH.replace("INSERT OR UPDATE", "UPDATE");

    static final String WATCH_DELETES = """
            CREATE TRIGGER partition_change_deletes AFTER DELETE ON ${schema}.${table}
            FOR EACH ROW WHEN (OLD.partition = ${partition}) EXECUTE FUNCTION ${schema}.${note}()
            """;

    static final String NO_WATCH = "DROP TRIGGER IF EXISTS partition_change ON ${schema}.${table}";

    static final String NO_WATCH_DELETES = "DROP TRIGGER IF EXISTS partition_change_deletes ON ${schema}.${table}";

    static final String FORGET_CHANGES = "DELETE FROM ${schema}.partition_change WHERE of_partition = ${partition}";

    static final String ANALYZE_CHANGES = "ANALYZE ${schema}.partition_change";

    static final String NOTED_OBJECTS =
            "SELECT count(*) FROM ${schema}.partition_change WHERE of_partition = ${partition} AND key IS NULL";

    /** At first nothing is at the target. A state may be there without a row of its object. */
    static final String NOTE_ALL = """
            INSERT INTO ${schema}.partition_change (of_partition, key, object_type, object_key)
            SELECT partition, key, NULL, NULL FROM ${schema}.run WHERE partition = ${partition}
            UNION ALL
            SELECT ${partition}, NULL, o.* FROM (
                SELECT type, key FROM ${schema}.object WHERE partition = ${partition}
                UNION
                SELECT object_type, object_key FROM ${schema}.object_state WHERE partition = ${partition}
            ) o
            """;

    // ---- links between a run that goes and one that stays: from now on, their outcomes cross

    /** How many children are linked in one transaction while the partition is open: their rows are locked meanwhile. */
    private static final String SOME = "LIMIT 5000";

    private static final String ALL = "";

    /** One look at the runs of the partition. A parent may have been removed. */
    static final String LINK_ENDED_GOING = linked(SOME, """
            FROM ${schema}.run c
            LEFT JOIN ${schema}.run p ON p.key = c.parent
            WHERE c.partition = ${partition} AND c.state >= ${completed}
              AND c.parent IS NOT NULL AND (c.parent & 255) <> c.partition
            """);

    static final String LINK_ENDED_STAYING = linked(SOME, """
            FROM ${schema}.run p
            JOIN ${schema}.run c ON c.parent = p.key
            WHERE p.partition = ${partition} AND c.partition <> p.partition AND c.state >= ${completed}
            """);

    /** The children of these runs stay and have not ended. Their links are written when the partition is closed. */
    static final String NOTE_PARENTS = """
            INSERT INTO ${schema}.partition_change (of_partition, key)
            SELECT DISTINCT p.partition, p.key
            FROM ${schema}.run p
            JOIN ${schema}.run c ON c.parent = p.key
            WHERE p.partition = ${partition} AND c.partition <> p.partition
            """;

    /** Runs that are not noted have ended, and so have their children that stay. */
    static final String LINK_GOING = linked(ALL, """
            FROM ${schema}.run c
            LEFT JOIN ${schema}.run p ON p.key = c.parent
            WHERE c.partition = ${partition} AND c.key = ANY (ARRAY(${changed}))
              AND c.parent IS NOT NULL AND (c.parent & 255) <> c.partition
            """);

    static final String LINK_STAYING = linked(ALL, """
            FROM ${schema}.run p
            JOIN ${schema}.run c ON c.parent = p.key
            WHERE p.partition = ${partition} AND p.key = ANY (ARRAY(${changed})) AND c.partition <> p.partition
            """);

    private static String linked(String most, String children) {
        return """
            WITH linked AS MATERIALIZED (
                SELECT c.key, c.partition, c.created_at, c.parent_position, c.parent_restarts, p.key AS parent_key, p.id AS parent
                ${children}
                ORDER BY c.key ${most} FOR NO KEY UPDATE OF c
            ), kept AS (
                INSERT INTO ${schema}.parent_elsewhere (key, parent_key, position, life, partition, answers, parent, created_at)
                SELECT key, parent_key, COALESCE(parent_position, 1), COALESCE(parent_restarts, 0), partition,
                       parent_position IS NOT NULL, parent, created_at
                FROM linked WHERE parent_key IS NOT NULL
                ON CONFLICT DO NOTHING
            )
            UPDATE ${schema}.run SET parent = NULL, parent_position = NULL, parent_restarts = NULL
            WHERE key = ANY (ARRAY(SELECT key FROM linked))
            """.replace("${children}", children)
                .replace("${changed}", CHANGED_RUNS)
                .replace("${most}", most);
    }

    // ---- what must not be found meanwhile

    static final String SET_ASIDE = """
            WITH taken AS (DELETE FROM ${schema}.${table} t WHERE ${rows} RETURNING t.*)
            INSERT INTO ${schema}.set_aside (of_partition, of_table, content)
            SELECT ${partition}, '${table}', to_jsonb(taken) FROM taken
            """;

    static final String DELETE = "DELETE FROM ${schema}.${table} t WHERE ${rows}";

    static final String PUT_BACK = """
            INSERT INTO ${schema}.${table} (${columns})
            SELECT ${columns}
            FROM (
                SELECT (jsonb_populate_record(NULL::${schema}.${table}, content)).*
                FROM ${schema}.set_aside
                WHERE of_partition = ${partition} AND of_table = '${table}'
            ) AS kept
            ${known}
            """;

    static final String FORGET_SET_ASIDE = "DELETE FROM ${schema}.set_aside WHERE of_partition = ${partition}";

    // ---- the copy

    /** Noted runs that have ended, or are gone. */
    static final String GOING_ENDED = """
            CREATE TEMPORARY TABLE going ON COMMIT DROP AS
            SELECT c.key, r.id
            FROM (
                SELECT DISTINCT key FROM ${schema}.partition_change
                WHERE of_partition = ${partition} AND key > ${after}
                ORDER BY key
            ) c
            LEFT JOIN LATERAL (SELECT id, state FROM ${schema}.run WHERE run.key = c.key OFFSET 0) r ON true
            WHERE COALESCE(r.state >= ${completed}, true)
            ORDER BY c.key LIMIT ${most}
            """;

    /** Noted virtual objects, whatever they do. */
    static final String GOING_OBJECTS = """
            CREATE TEMPORARY TABLE going_object ON COMMIT DROP AS
            SELECT DISTINCT object_type AS type, object_key AS key
            FROM ${schema}.partition_change
            WHERE of_partition = ${partition} AND key IS NULL
            LIMIT ${most}
            """;

    /** All noted runs: those that have not ended, and those that have changed since they were copied. */
    static final String GOING_LAST = """
            CREATE TEMPORARY TABLE going ON COMMIT DROP AS
            SELECT DISTINCT key, NULL::text AS id FROM ${schema}.partition_change WHERE of_partition = ${partition} AND key IS NOT NULL
            """;

    static final String GOING = """
            SELECT (SELECT count(*) FROM going) AS runs, (SELECT COALESCE(max(key), 0) FROM going) AS last,
                   (SELECT count(*) FROM going_object) AS objects
            """;

    static final String NO_GOING = """
            CREATE TEMPORARY TABLE going (key bigint, id text) ON COMMIT DROP;
            CREATE TEMPORARY TABLE going_object (type text COLLATE "C", key text COLLATE "C") ON COMMIT DROP
            """;

    static final String GOING_OUT = "COPY (SELECT key, id FROM going) TO STDOUT";

    static final String GOING_IN = "COPY going (key, id) FROM STDIN";

    static final String GOING_OBJECTS_OUT = "COPY (SELECT type, key FROM going_object) TO STDOUT";

    static final String GOING_OBJECTS_IN = "COPY going_object (type, key) FROM STDIN";

    /** So that the planner goes from them to the rows. */
    static final String ANALYZE_GOING = "ANALYZE going; ANALYZE going_object";

    /** Runs that were removed at the source after they had been copied, and whose ids others have got since. */
    static final String GOING_REPLACED = """
            INSERT INTO going (key)
            SELECT key FROM ${schema}.run WHERE id = ANY (ARRAY(SELECT id FROM going WHERE id IS NOT NULL))
            """;

    /** Whether the target has one of these runs, or a virtual object goes again. */
    static final String HAS_GOING = """
            SELECT EXISTS (SELECT FROM ${schema}.run WHERE key = ANY (ARRAY(SELECT key FROM going)))
                OR EXISTS (SELECT FROM going_object)
            """;

    /** Not what was noted after the snapshot. */
    static final String FORGET_GOING = """
            DELETE FROM ${schema}.partition_change
            WHERE of_partition = ${partition} AND key = ANY (ARRAY(SELECT key FROM going));
            DELETE FROM ${schema}.partition_change
            WHERE ctid = ANY (ARRAY(
                SELECT c.ctid FROM going_object g
                CROSS JOIN LATERAL (
                    SELECT ctid FROM ${schema}.partition_change n
                    WHERE n.of_partition = ${partition} AND n.key IS NULL AND n.object_type = g.type AND n.object_key = g.key OFFSET 0
                ) c))
            """;

    /** Runs that were copied before and are as they were: all but those that are noted. */
    static final String ARRIVED = """
            SELECT a.rows - n.rows AS rows, (a.sum - n.sum)::text AS sum
            FROM (
                SELECT count(*) AS rows, COALESCE(sum(hashint8extended(key, 0)), 0) AS sum FROM ${schema}.run
                WHERE partition = ${partition}
            ) a
            CROSS JOIN (
                SELECT count(*) AS rows, COALESCE(sum(hashint8extended(key, 0)), 0) AS sum FROM ${schema}.run
                WHERE partition = ${partition} AND key = ANY (ARRAY(SELECT key FROM going))
            ) n
            """;

    static final String COPY_OUT =
            "COPY (SELECT ${columns} FROM ${schema}.${table} t WHERE ${rows} ${order}) TO STDOUT";

    static final String COPY_IN = "COPY ${schema}.${table} (${columns}) FROM STDIN";

    static final String ARRIVING = "CREATE TEMPORARY TABLE arriving (LIKE ${schema}.${table}) ON COMMIT DROP";

    static final String COPY_IN_ARRIVING = "COPY arriving (${columns}) FROM STDIN";

    static final String TAKE_ARRIVING = """
            INSERT INTO ${schema}.${table} (${columns}) SELECT ${columns} FROM arriving ON CONFLICT DO NOTHING
            """;

    static final String COPY_SET_ASIDE_OUT = """
            COPY (SELECT of_partition, of_table, content FROM ${schema}.set_aside WHERE of_partition = ${partition} ORDER BY number) TO STDOUT
            """;

    static final String COPY_SET_ASIDE_IN = "COPY ${schema}.set_aside (of_partition, of_table, content) FROM STDIN";

    static final String CHECKSUM = """
            SELECT count(*) AS rows, COALESCE(sum(hashtextextended(ROW(${columns})::text, 0)), 0)::text AS sum
            FROM ${schema}.${table} t
            WHERE ${rows}
            """;

    static final String CHECKSUM_ARRIVING = """
            SELECT count(*) AS rows, COALESCE(sum(hashtextextended(ROW(${columns})::text, 0)), 0)::text AS sum FROM arriving
            """;

    /** Gives runs that a worker of the other server held to a worker that never was: the sweep takes them from it. */
    static final String TAKE_OVER = """
            WITH stranger AS MATERIALIZED (
                SELECT nextval(pg_get_serial_sequence('${schema}.worker', 'number'))::int AS number
            ), taken AS (
                UPDATE ${schema}.set_aside SET content = content || jsonb_build_object('worker', stranger.number, 'woken', false)
                FROM stranger
                WHERE of_partition = ${partition} AND of_table = 'held'
                RETURNING (content ->> 'key')::bigint AS key, stranger.number
            )
            UPDATE ${schema}.run SET owner = taken.number FROM taken WHERE run.key = taken.key
            """;

    /**
     * The same where the partition was, for runs whose workers were forgotten while they were set aside. Those of other
     * workers stay theirs.
     */
    static final String TAKE_OVER_LOST = TAKE_OVER.replace("of_table = 'held'", """
            of_table = 'held'
                  AND NOT EXISTS (SELECT FROM ${schema}.worker w WHERE w.number = (content ->> 'worker')::int)""");

    /** That worker has not died, so the recoveries of its runs do not count. */
    static final String STRANGER = """
            INSERT INTO ${schema}.worker (number, id, expires_at, lease, dead, returned, definitions)
            OVERRIDING SYSTEM VALUE
            SELECT number, gen_random_uuid(), now(), interval '1 second', true, true, '{}'::text[]
            FROM (
                SELECT DISTINCT (content ->> 'worker')::int AS number FROM ${schema}.set_aside
                WHERE of_partition = ${partition} AND of_table = 'held'
            ) AS stranger
            WHERE NOT EXISTS (SELECT FROM ${schema}.worker w WHERE w.number = stranger.number)
            """;

    static final String INDEX =
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS moving_${table} ON ${schema}.${table} (${indexed})";

    /** One whose building was interrupted is not used. */
    static final String HAS_UNUSABLE_INDEX = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_index WHERE indexrelid = to_regclass('${schema}.moving_${table}') AND NOT indisvalid)
            """;

    static final String HAS_INDEX = "SELECT to_regclass('${schema}.moving_${table}') IS NOT NULL";

    static final String NO_INDEX = "DROP INDEX IF EXISTS ${schema}.moving_${table}";

    /** How long a process can go on without having seen the new map. One whose lease has ended does not. */
    static final String LONGEST_LEASE = """
            SELECT COALESCE(1000 * EXTRACT(epoch FROM max(lease)), 0)::bigint AS millis FROM ${schema}.worker
            WHERE NOT dead AND expires_at > clock_timestamp()
            """;

    private MovingSql() {}
}
