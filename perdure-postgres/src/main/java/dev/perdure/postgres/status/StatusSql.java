package dev.perdure.postgres.status;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.status.StoreHealth;

/**
 * The statements that look at the database itself. They need no rights that a worker does not have. Those that read the
 * catalogue and the statistics cost the same however many runs there are.
 */
public final class StatusSql {
    private static final String GENERAL = """
            SELECT COALESCE(?, clock_timestamp()) AS at,
                (SELECT count(*) FROM ${schema}.worker WHERE NOT dead AND expires_at > clock_timestamp()) AS workers,
                (SELECT max(version) FROM ${schema}.migration) AS version,
                current_setting('autovacuum')::boolean AS autovacuum
            """;

    private static final String HEALTH = """
            SELECT (SELECT count(*) FROM ${schema}.worker WHERE NOT dead AND expires_at > clock_timestamp()) AS workers,
                count(*) AS ready, min(seen.since) AS oldest_ready
            FROM (SELECT since FROM ${schema}.ready LIMIT ${MOST_READY}) seen
            """;

    /** Reads all runs that have not ended; how many others, depends on the indexes. */
    private static final String LIVE = """
            SELECT live.state, live.runs, live.created_at, (
                SELECT id FROM ${schema}.run r WHERE r.created_at = live.created_at AND r.state = live.state ORDER BY key LIMIT 1) AS oldest
            FROM (
                SELECT state, count(*) AS runs, min(created_at) AS created_at FROM ${schema}.run WHERE state < ${COMPLETED} GROUP BY state
            ) live
            ORDER BY live.state
            """;

    /** By definition and version, those of which most runs wait first. */
    private static final String UNREGISTERED = """
            SELECT waiting.definition, waiting.version, waiting.runs, waiting.created_at, (
                SELECT id FROM ${schema}.run r
                WHERE r.created_at = waiting.created_at AND r.state = ${READY} AND r.definition = waiting.definition
                  AND r.version IS NOT DISTINCT FROM waiting.version
                ORDER BY key LIMIT 1) AS oldest
            FROM (
                SELECT definition, version, count(*) AS runs, min(created_at) AS created_at FROM ${schema}.run
                WHERE state = ${READY} AND changed_at <= ?::timestamptz
                GROUP BY definition, version
            ) waiting
            WHERE ${schema}.without_worker(waiting.definition, waiting.version) IS NOT NULL
            ORDER BY waiting.runs DESC, waiting.definition
            LIMIT 10
            """;

    /** By definition, those of which most runs wait first. */
    private static final String ALL_DRAIN = """
            SELECT waiting.definition, NULL::text AS version, waiting.runs, waiting.created_at, (
                SELECT id FROM ${schema}.run r
                WHERE r.created_at = waiting.created_at AND r.state = ${READY} AND r.definition = waiting.definition AND r.version IS NULL
                ORDER BY key LIMIT 1) AS oldest
            FROM (
                SELECT definition, count(*) AS runs, min(created_at) AS created_at FROM ${schema}.run
                WHERE state = ${READY} AND version IS NULL AND changed_at <= ?::timestamptz
                  AND EXISTS (SELECT FROM ${schema}.worker w WHERE NOT w.dead AND w.drains <> '{}')
                GROUP BY definition
            ) waiting
            WHERE (
                SELECT bool_and(w.drains && ARRAY['', waiting.definition]) FROM ${schema}.worker w
                WHERE NOT w.dead AND waiting.definition = ANY (w.definitions)
            )
            ORDER BY waiting.runs DESC, waiting.definition
            LIMIT 10
            """;

    /** Those that were paused first. */
    private static final String PAUSED_CALLS = """
            SELECT h.id, o.type, o.key AS object_key, h.changed_at, COALESCE(h.reason, '') AS reason
            FROM ${schema}.run h
            JOIN ${schema}.object_call c ON c.key = h.key
            JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key AND o.holder = h.key
            WHERE h.state = ${PAUSED} AND h.changed_at <= ?::timestamptz AND EXISTS (
                SELECT FROM ${schema}.object_call w WHERE w.object_type = o.type AND w.object_key = o.key AND w.number IS NOT NULL
            )
            ORDER BY h.changed_at, h.key
            LIMIT 10
            """;

    /**
     * In the order in which a pass of retention goes. A run that its parent or a start key keeps is looked at, but is not due. The index has no
     * keys: by both columns, all old runs would be sorted.
     */
    private static final String DUE = """
            WITH old AS MATERIALIZED (
                SELECT id, key, created_at, parent, parent_position, parent_restarts, before FROM ${schema}.run
                WHERE created_at <= ?::timestamptz AND changed_at <= ?::timestamptz AND state >= ${COMPLETED} AND removed_at IS NULL
                ORDER BY created_at
                LIMIT ?
            ), due AS MATERIALIZED (
                SELECT r.id, r.created_at, r.key FROM old r
                WHERE NOT (r.parent IS NOT NULL AND r.parent_position IS DISTINCT FROM ${REPORTING} AND EXISTS (
                          SELECT FROM ${schema}.run p
                          WHERE p.key = r.parent AND (r.before IS NOT NULL OR p.restarts = r.parent_restarts)))
                  AND NOT EXISTS (SELECT FROM ${schema}.start_key k WHERE k.run = r.key)
                  AND NOT EXISTS (SELECT FROM ${schema}.start_key k WHERE k.after = r.key)
            )
            SELECT count(*) AS runs, (SELECT count(*) FROM old) AS looked,
                   (SELECT id FROM due ORDER BY created_at, key LIMIT 1) AS first
            FROM due
            """;

    /**
     * The free space is what the table has more than its rows would need: their average widths by the last ANALYZE, with
     * 28 bytes for the header and the place on the page, on pages that are as full as the fill factor allows. Columns
     * that are stored elsewhere (TOAST) count only there.
     */
    private static final String TABLES = """
            SELECT c.relname::text AS name, GREATEST(s.n_live_tup, 0) AS rows, GREATEST(s.n_dead_tup, 0) AS dead_rows,
                pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes, pg_relation_size(c.oid) AS main_bytes,
                GREATEST(s.last_vacuum, s.last_autovacuum) AS vacuumed_at,
                'autovacuum_enabled=false' = ANY (c.reloptions) OR 'autovacuum_enabled=off' = ANY (c.reloptions) AS unattended,
                CASE WHEN c.reltuples >= 0 AND w.width IS NOT NULL THEN GREATEST(0, pg_relation_size(c.oid) - ceil(
                    c.reltuples * (28 + w.width) / (8168 * COALESCE(f.factor, 100) / 100.0)) * 8192)::bigint END AS free_bytes
            FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
            LEFT JOIN LATERAL (
                SELECT sum((1 - null_frac) * avg_width) AS width FROM pg_stats WHERE schemaname = n.nspname AND tablename = c.relname
            ) w ON true
            LEFT JOIN LATERAL (
                SELECT option_value::int AS factor FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'
            ) f ON true
            WHERE n.nspname = '${schema}' AND c.relkind = 'r'
            ORDER BY pg_total_relation_size(c.oid) DESC, c.relname
            """;

    /** The server shows the transactions of other roles only to members of pg_read_all_stats. */
    private static final String TRANSACTION = """
            SELECT xact_start, pid, usename::text AS owner, application_name, COALESCE(state, '') AS state
            FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'
            ORDER BY xact_start, pid
            LIMIT 1
            """;

    private static final String HIDDEN = """
            SELECT count(*) AS sessions, current_user::text AS role
            FROM pg_stat_activity
            WHERE datname = current_database() AND query = '<insufficient privilege>'
            """;

    private static final String PREPARED = """
            SELECT gid, prepared, owner::text AS owner
            FROM pg_prepared_xacts
            WHERE database = current_database()
            ORDER BY prepared, gid
            LIMIT 1
            """;

    private static final String SLOTS = """
            SELECT slot_name::text AS name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint AS kept
            FROM pg_replication_slots
            WHERE NOT active AND restart_lsn IS NOT NULL
            ORDER BY kept DESC, name
            """;

    final String general;
    final String health;
    final String live;
    final String unregistered;
    final String allDrain;
    final String pausedCalls;
    final String due;
    final String tables;
    final String transaction;
    final String hidden;
    final String prepared;
    final String slots;

    public StatusSql(Schema schema) {
        this.general = schema.sql(GENERAL);
        this.health = schema.sql(HEALTH.replace("${MOST_READY}", String.valueOf(StoreHealth.MOST_READY)));
        this.live = schema.sql(LIVE);
        this.unregistered = schema.sql(UNREGISTERED);
        this.allDrain = schema.sql(ALL_DRAIN);
        this.pausedCalls = schema.sql(PAUSED_CALLS);
        this.due = schema.sql(DUE);
        this.tables = schema.sql(TABLES);
        this.transaction = schema.sql(TRANSACTION);
        this.hidden = schema.sql(HIDDEN);
        this.prepared = schema.sql(PREPARED);
        this.slots = schema.sql(SLOTS);
    }
}
