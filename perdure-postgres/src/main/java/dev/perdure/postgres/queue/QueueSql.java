package dev.perdure.postgres.queue;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Schema;

/** The statements about the queues themselves. */
public final class QueueSql {
    /** The rows that every process caches. */
    private static final String RULES = """
            SELECT name, paused, ${declared} AS declared, ${changed} AS changed, revision FROM ${schema}.queue ORDER BY name
            """;

    private static final String DECLARE = """
            WITH done AS (
                INSERT INTO ${schema}.queue AS q (name, declared)
                SELECT name, COALESCE(declared, '{}') FROM unnest(?::text[], ?::jsonb[]) AS g (name, declared) ORDER BY name
                ON CONFLICT (name) DO UPDATE SET declared = excluded.declared, revision = q.revision + 1
                    WHERE q.declared <> excluded.declared
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** An order that changes nothing is not recorded. The count says whether there is such a queue. */
    private static final String LIMIT = """
            WITH given AS MATERIALIZED (
                SELECT COALESCE(?::jsonb, '{}') AS changes, ?::text AS name
            ), done AS (
                UPDATE ${schema}.queue SET changed = queue.changed || g.changes, revision = revision + 1
                FROM given g
                WHERE queue.name = g.name AND queue.changed IS DISTINCT FROM queue.changed || g.changes
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.queue WHERE name = (SELECT name FROM given)
            """;

    private static final String PAUSE = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS reason, ?::text AS name
            ), done AS (
                UPDATE ${schema}.queue SET paused = g.reason, revision = revision + 1
                FROM given g
                WHERE queue.name = g.name AND queue.paused IS DISTINCT FROM g.reason
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.queue WHERE name = (SELECT name FROM given)
            """;

    /** The share of a shard is not what an operator has changed. */
    private static final String RESET = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS name
            ), done AS (
                UPDATE ${schema}.queue SET changed = CASE WHEN jsonb_exists(queue.changed, 'division') THEN jsonb_build_object(
                        'concurrency', queue.changed->'concurrency', 'division', queue.changed->'division', 'shards', queue.changed->'shards')
                    ELSE '{}' END, revision = revision + 1
                FROM given g
                WHERE queue.name = g.name AND queue.changed - CASE WHEN jsonb_exists(queue.changed, 'division') THEN '{concurrency,division,shards}'::text[] ELSE '{}' END <> '{}'
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.queue WHERE name = (SELECT name FROM given)
            """;

    /**
     * Makes runs count that began before their queue had limits. A run needs a row in {@code slot} before its place is
     * counted, so a process that finds new limits inserts these rows for all workers.
     */
    private static final String ADOPT = """
            WITH done AS (
                INSERT INTO ${schema}.slot (key, partition, queue, queue_key)
                SELECT r.key, r.partition, r.queue, COALESCE(r.queue_key, '')
                FROM ${schema}.held h
                CROSS JOIN LATERAL (SELECT key, partition, queue, queue_key FROM ${schema}.run WHERE run.key = h.key OFFSET 0) r
                WHERE r.queue = ANY (?::text[])
                ON CONFLICT (key, partition) DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /**
     * Deletes places that runs no longer hold, and turns of keys without waiting runs: those of keys that no claim
     * examines again, when the minutes that they count are over. Limited, and from a position that moves on, so that it ends soon, however many there are.
     */
    private static final String TIDY_SLOTS = """
            WITH seen AS MATERIALIZED (
                SELECT key, partition FROM ${schema}.slot WHERE key > ? ORDER BY key LIMIT 1000
            ), ended AS (
                DELETE FROM ${schema}.slot s USING seen
                WHERE s.key = seen.key AND s.partition = seen.partition AND EXISTS (
                    SELECT FROM ${schema}.run WHERE run.key = seen.key AND run.state >= ${COMPLETED})
            )
            SELECT CASE WHEN count(*) = 1000 THEN max(key) ELSE 0 END AS next FROM seen
            """;

    private static final String TIDY_TURNS = """
            WITH done AS (
                DELETE FROM ${schema}.queue_turn t
                WHERE (t.queue, t.queue_key) IN (
                    SELECT o.queue, o.queue_key FROM ${schema}.queue_turn o
                    WHERE o.served_at < COALESCE(?::timestamptz, now()) - interval '2 minutes' AND o.queue_key <> '' AND NOT EXISTS (
                        SELECT FROM ${schema}.ready r WHERE r.queue = o.queue AND r.queue_key = o.queue_key)
                    LIMIT 1000)
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String TIDY_RATES = """
            WITH done AS (
                DELETE FROM ${schema}.queue_rate WHERE expires_at <= COALESCE(?::timestamptz, now()) RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** All queues, those without a row in {@code queue} too. It reads what waits and runs once for all of them. */
    private static final String LIST = """
            SELECT COALESCE(q.name, k.queue) AS name, q.name IS NOT NULL AS known, q.paused, ${declared} AS declared, ${changed} AS changed,
                   COALESCE(${schema}.last_minute(q.minute, q.this_minute, q.minute_before, clock.at), 0) AS last_minute,
                   COALESCE(k.waiting, 0) AS waiting, k.oldest, COALESCE(k.begun, 0) AS begun, COALESCE(k.at_work, 0) AS at_work
            FROM (SELECT * FROM ${schema}.queue${here}) q
            FULL JOIN (
                SELECT queue, sum(waiting)::bigint AS waiting, min(oldest) AS oldest, sum(begun)::bigint AS begun,
                       sum(at_work)::bigint AS at_work
                FROM ${schema}.queue_keys${there}
                GROUP BY queue
            ) k ON k.queue = q.name
            CROSS JOIN (SELECT COALESCE(?::timestamptz, now()) AS at) clock
            ORDER BY 1
            """;

    private static final String KEYS = """
            SELECT k.queue_key, k.waiting, k.oldest, k.begun, k.at_work,
                   ${schema}.last_minute_of_key(k.queue, k.queue_key, COALESCE(?::timestamptz, now())) AS last_minute
            FROM (
                SELECT * FROM ${schema}.queue_keys WHERE queue = ? ORDER BY waiting DESC, queue_key LIMIT ?
            ) k
            ORDER BY k.waiting DESC, k.queue_key
            """;

    final String rules;
    final String declare;
    final String limit;
    final String pause;
    final String reset;
    final String adopt;
    final String tidySlots;
    final String tidyTurns;
    final String tidyRates;
    final String list;
    final String find;
    final String keys;

    public QueueSql(Schema schema) {
        this.rules = schema.sql(withSettings(RULES));
        this.declare = schema.sql(DECLARE);
        this.limit = audited(schema, LIMIT);
        this.pause = audited(schema, PAUSE);
        this.reset = audited(schema, RESET);
        this.adopt = schema.sql(ADOPT);
        this.tidySlots = schema.sql(TIDY_SLOTS);
        this.tidyTurns = schema.sql(TIDY_TURNS);
        this.tidyRates = schema.sql(TIDY_RATES);
        this.list = schema.sql(list("", ""));
        this.find = schema.sql(list(" WHERE name = ?", " WHERE queue = ?"));
        this.keys = schema.sql(KEYS);
    }

    private static String list(String here, String there) {
        return withSettings(LIST).replace("${here}", here).replace("${there}", there);
    }

    private static String withSettings(String statement) {
        return statement.replace("${declared}", Json.pairs("declared")).replace("${changed}", Json.pairs("changed"));
    }

    private static String audited(Schema schema, String statement) {
        return schema.sql(statement.replace("${audited}", AuditText.WHEN_DONE));
    }
}
