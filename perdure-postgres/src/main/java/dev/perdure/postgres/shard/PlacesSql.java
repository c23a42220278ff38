package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Kind;

/** The statements about the share that a shard has of the limits of all shards. Each of them is about queues, or about limiters. */
final class PlacesSql {
    /**
     * Ends the transaction if its process stands still, or is cut off, between two of its requests. Otherwise nothing would be
     * claimed from the queue until the server has found that the connection is dead.
     */
    private static final String NOT_IDLE = "set_config('idle_in_transaction_session_timeout', '5s', true)";

    /** Only of a queue or limiter that is new. */
    private static final String CREATE = """
            INSERT INTO ${schema}.${table} (name, declared) VALUES (?, COALESCE(?::jsonb, '{}')) ON CONFLICT DO NOTHING
            RETURNING ${not_idle}
            """;

    /** As a claim does first. The statements that follow see everything that earlier claims have taken. */
    private static final String LOCK = """
            SELECT NULLIF((declared || changed)->>'concurrency', 'none')::integer AS concurrency,
                   COALESCE((declared || changed)->>'counting', 'BEGUN') = 'BEGUN' AS begun,
                   paused IS NOT NULL AS paused, ${not_idle}
            FROM ${schema}.${table} WHERE name = ? FOR NO KEY UPDATE
            """;

    private static final String SHARES = """
            SELECT kind, name, division, whole, shards, joined, places, settled FROM ${schema}.share ORDER BY kind, name
            """;

    private static final String SHARE = """
            SELECT kind, name, division, whole, shards, joined, places, settled,
                   CASE WHEN aside_at > clock.at - interval '${ASIDE}' THEN aside ELSE 0 END AS aside,
                   COALESCE(came_at > clock.at - interval '${STAY}', false) AS fresh, aside AS noted_aside,
                   COALESCE((sent->>?)::bigint, 0) AS sent_there, COALESCE((received->>?)::bigint, 0) AS received_there
            FROM ${schema}.share CROSS JOIN (SELECT COALESCE(?::timestamptz, now()) AS at) clock
            WHERE kind = ? AND name = ?
            """;

    /** What is on its way in earlier divisions counts no more. */
    private static final String JOIN = """
            INSERT INTO ${schema}.share (kind, name, division, whole, shards, joined, places, settled)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, name) DO UPDATE SET
                division = excluded.division, whole = excluded.whole, shards = excluded.shards, joined = excluded.joined,
                places = excluded.places, settled = excluded.settled, aside = 0, aside_at = NULL, came_at = NULL, sent = '{}', received = '{}'
            """;

    private static final String SETTLE = """
            UPDATE ${schema}.share SET places = ?, settled = true WHERE kind = ? AND name = ?
            """;

    private static final String GIVE = """
            UPDATE ${schema}.share SET
                places = places - g.sent, aside = g.aside, aside_at = CASE WHEN g.aside > 0 THEN COALESCE(?::timestamptz, now()) END,
                sent = CASE g.sent WHEN 0 THEN share.sent
                                   ELSE share.sent || jsonb_build_object(g.other, COALESCE((share.sent->>g.other)::bigint, 0) + g.sent) END
            FROM (SELECT ?::integer AS sent, ?::integer AS aside, ?::text AS other) g
            WHERE kind = ? AND name = ?
            """;

    private static final String RECEIVE = """
            UPDATE ${schema}.share SET
                places = places + ?, came_at = COALESCE(?::timestamptz, now()), received = received || jsonb_build_object(?::text, ?::bigint)
            WHERE kind = ? AND name = ?
            """;

    private static final String REMOVE = "DELETE FROM ${schema}.share WHERE kind = ? AND name = ?";

    /** What claims read. Processes read the queues again if there is another division, not if places have moved. */
    private static final String TELL = """
            UPDATE ${schema}.${table} SET changed = changed || ?::jsonb${revision} WHERE name = ?
            """;

    private static final String FORGET = """
            UPDATE ${schema}.${table} SET changed = changed - 'concurrency' - 'division' - 'shards'${revision}
            WHERE name = ? AND jsonb_exists(changed, 'division')
            """;

    /** Also takes the places from runs that hold them no more, as a claim does: a run that is resumed needs a new one. */
    private static final String GIVEN_TO_RUNS = """
            WITH place AS MATERIALIZED (
                SELECT s.key, s.partition,
                       COALESCE(CASE WHEN r.state = ${RUNNING} THEN true
                                     ELSE g.begun AND r.state IN (${READY}, ${SUSPENDED}, ${BACKING_OFF}) END, false) AS holds
                FROM (SELECT ?::text AS queue, ?::boolean AS begun) g
                JOIN ${schema}.slot s ON s.queue = g.queue
                LEFT JOIN LATERAL (SELECT state FROM ${schema}.run WHERE run.key = s.key OFFSET 0) r ON true
            ), freed AS (
                DELETE FROM ${schema}.slot USING place
                WHERE slot.key = place.key AND slot.partition = place.partition AND NOT place.holds
            )
            SELECT count(*) FROM place WHERE holds
            """;

    private static final String GIVEN_TO_ATTEMPTS = "SELECT cardinality(${schema}.permit_holders(?))";

    /** Runs that were woken hold their places and wait for none; there are no more of them than places. Reads in the order of an index, as polls do. */
    private static final String WAITING_RUNS =
            """
            SELECT count(*) FROM (
                (SELECT FROM ${schema}.ready r WHERE r.queue = ? AND r.queue_key IS NULL AND ${placeless}
                 ORDER BY r.definition, r.version LIMIT ${MOST})
                UNION ALL
                (SELECT FROM ${schema}.ready r WHERE r.queue = ? AND r.queue_key IS NOT NULL AND ${placeless}
                 ORDER BY r.queue_key, r.definition LIMIT ${MOST})
            ) w
            """.replace("${placeless}", "(SELECT true FROM ${schema}.slot s WHERE s.key = r.key LIMIT 1) IS NULL");

    private static final String WAITING_ATTEMPTS = """
            SELECT count(*) FROM (SELECT FROM ${schema}.permit p WHERE p.limiter = ? AND p.state = 0 LIMIT ${MOST}) w
            """;

    private static final String SENT = """
            SELECT s.key, s.value::bigint AS total
            FROM ${schema}.share CROSS JOIN LATERAL jsonb_each_text(sent) AS s
            WHERE kind = ? AND name = ?
            """;

    static final int MOST_WANTED = 100;

    final String create;
    final String lock;
    final String shares;
    final String share;
    final String join;
    final String settle;
    final String give;
    final String receive;
    final String remove;
    final String tell;
    final String tellAll;
    final String forget;
    final String given;
    final String waiting;
    final String sent;

    PlacesSql(Schema schema, Kind kind) {
        boolean queue = kind == Kind.QUEUE;
        this.create = sql(schema, kind, CREATE);
        this.lock = sql(schema, kind, LOCK);
        this.shares = sql(schema, kind, SHARES);
        this.share = sql(schema, kind, SHARE);
        this.join = sql(schema, kind, JOIN);
        this.settle = sql(schema, kind, SETTLE);
        this.give = sql(schema, kind, GIVE);
        this.receive = sql(schema, kind, RECEIVE);
        this.remove = sql(schema, kind, REMOVE);
        String revision = queue ? ", revision = revision + 1" : "";
        this.tell = sql(schema, kind, TELL.replace("${revision}", ""));
        this.tellAll = sql(schema, kind, TELL.replace("${revision}", revision));
        this.forget = sql(schema, kind, FORGET.replace("${revision}", revision));
        this.given = sql(schema, kind, queue ? GIVEN_TO_RUNS : GIVEN_TO_ATTEMPTS);
        this.waiting = sql(schema, kind, queue ? WAITING_RUNS : WAITING_ATTEMPTS);
        this.sent = sql(schema, kind, SENT);
    }

    private static String sql(Schema schema, Kind kind, String statement) {
        return Pieces.sql(
                schema,
                statement
                        .replace("${not_idle}", NOT_IDLE)
                        .replace("${table}", kind == Kind.QUEUE ? "queue" : "limiter")
                        .replace("${ASIDE}", Places.ASIDE.toSeconds() + " s")
                        .replace("${STAY}", Places.STAY.toSeconds() + " s")
                        .replace("${MOST}", String.valueOf(MOST_WANTED)));
    }
}
