package dev.perdure.postgres.lane;

import dev.perdure.postgres.jdbc.Schema;

/** The statements about the backends of workers. They are sent on the listening connection, each alone. */
public final class BackendSql {
    /**
     * Registers the backend that executes this. Behind a pooler it is not the one that the driver knows, and outlives
     * the client: then no backend is registered. Nor is it if there is one that the sender did not know: then this is a
     * copy that arrives late, from an earlier connection. (The times when the backends began would not tell: a pool may
     * give an older connection.) A worker that was seen without its backend is alive: its lease begins anew, unless its
     * process has dropped its runs and joined as another one.
     *
     * <p>It waits half a second for a row that another transaction has locked. The connection that sends it has to hear
     * notifications meanwhile, so it tries again later.
     */
    private static final String REGISTER = """
            WITH here AS MATERIALIZED (
                SELECT a.pid, a.backend_start, a.usesysid, set_config('lock_timeout', '500ms', true)
                FROM (SELECT ?::int AS pid) driver
                LEFT JOIN pg_stat_get_activity(pg_backend_pid()) a ON a.pid = driver.pid
            ), registered AS (
                UPDATE ${schema}.worker w SET
                    backend = CASE WHEN w.backend IS NULL OR w.backend = ANY (?::int[]) THEN here.pid END,
                    backend_start = here.backend_start, backend_role = here.usesysid,
                    server_start = pg_postmaster_start_time(), missing_since = NULL,
                    expires_at = CASE WHEN w.missing_since IS NULL THEN w.expires_at ELSE clock_timestamp() + w.lease END
                FROM here
                WHERE w.number = ANY (?::int[]) AND NOT w.dead AND NOT w.returned
                RETURNING w.number
            )
            SELECT here.pid, registered.number FROM here LEFT JOIN registered ON true
            """;

    /**
     * Looks for workers whose backend is gone. The first look notes the time. A later one ends the lease if the worker
     * has not registered another backend in the meantime: from then on the worker is one whose lease has ended, for
     * the sweep and for everything else. A renewal or a registration in between wins: both change the row.
     *
     * <p>It judges only by backends of which this role sees when they began, and not by pids from before a restart of
     * the server, or of another server. It writes only if something has changed, and skips rows that are locked.
     */
    private static final String LOOK = """
            WITH present AS MATERIALIZED (
                SELECT pid, backend_start FROM pg_stat_get_activity(NULL)
            ), watched AS MATERIALIZED (
                SELECT w.number, w.backend, w.backend_start, w.missing_since, w.expires_at,
                       p.pid IS NULL OR COALESCE(p.backend_start <> w.backend_start, false) AS gone
                FROM ${schema}.worker w
                LEFT JOIN present p ON p.pid = w.backend
                WHERE NOT w.dead AND w.backend IS NOT NULL AND w.server_start = pg_postmaster_start_time()
                  AND (pg_has_role(w.backend_role, 'USAGE') OR pg_has_role('pg_read_all_stats', 'USAGE'))
            ), news AS MATERIALIZED (
                SELECT w.number, v.gone
                FROM watched v
                JOIN ${schema}.worker w
                  ON w.number = v.number AND w.backend = v.backend AND w.backend_start = v.backend_start
                WHERE v.gone = (w.missing_since IS NULL)
                   OR (v.gone AND ? AND w.expires_at > clock_timestamp()
                       AND w.missing_since <= clock_timestamp() - ? * interval '1 millisecond')
                FOR NO KEY UPDATE OF w SKIP LOCKED
            ), changed AS (
                UPDATE ${schema}.worker w SET
                    missing_since = CASE WHEN n.gone THEN COALESCE(w.missing_since, clock_timestamp()) END,
                    expires_at = CASE WHEN n.gone AND w.missing_since IS NOT NULL
                                      THEN LEAST(w.expires_at, clock_timestamp()) ELSE w.expires_at END
                FROM news n
                WHERE w.number = n.number
                RETURNING w.expires_at <= clock_timestamp() AS ended
            )
            SELECT (SELECT count(DISTINCT backend) FROM watched WHERE NOT gone)::int AS processes,
                   (SELECT count(*) FROM changed WHERE ended)::int AS ended,
                   (SELECT EXTRACT(EPOCH FROM clock_timestamp() - min(COALESCE(missing_since, clock_timestamp()))) * 1000
                    FROM watched WHERE gone AND expires_at > clock_timestamp())::int AS missing_millis
            """;

    public final String register;
    public final String look;

    public BackendSql(Schema schema) {
        this.register = schema.sql(REGISTER);
        this.look = schema.sql(LOOK);
    }
}
