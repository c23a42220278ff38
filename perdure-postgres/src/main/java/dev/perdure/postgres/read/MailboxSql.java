package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Schema;

/** The statements that read mailboxes, the addresses of awakeables and events, and what runs have published. */
public final class MailboxSql {
    /**
     * The next page of a mailbox: at least one mail, and as many as fit into the bytes. Skips answers to calls of an
     * earlier life, and mail on a channel that only a newer version knows: no call here waits for it. The number of
     * examined rows is limited too, because otherwise every page would add up the bytes of all that follow.
     */
    private static final String PAGE = """
            SELECT number, at, channel, position, name, token, status, text, payload, headers
            FROM (
                SELECT *, sum(length(payload)) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS place
                FROM (
                    SELECT m.* FROM ${schema}.mail m
                    WHERE m.key = ${key} AND m.number > ${after} AND NOT m.taken
                      AND m.channel IN (${MESSAGE}, ${PROMISE}, ${ANSWER})
                      AND (m.channel <> ${ANSWER} OR m.restarts = (SELECT restarts FROM ${schema}.run WHERE run.key = ${key}))
                    ORDER BY m.number
                    LIMIT ?
                ) AS next
            ) AS counted
            WHERE bytes <= ? OR place = 1
            """;

    private static final String UNREAD = PAGE.replace("${key}", "?").replace("${after}", "?") + "ORDER BY number";

    /** The next pages of many mailboxes. */
    private static final String UNREAD_OF_MANY =
            """
            SELECT g.ordinal, page.*
            FROM unnest(?::bigint[], ?::bigint[]) WITH ORDINALITY AS g (key, after, ordinal)
            CROSS JOIN LATERAL (
            ${page}
            ) AS page
            ORDER BY g.ordinal, page.number
            """.replace("${page}", PAGE.replace("${key}", "g.key").replace("${after}", "g.after"));

    /** One query for all callers that wait for promises. */
    private static final String PROMISES = """
            SELECT g.ordinal, m.channel, m.position, m.name, m.token, m.status, m.text, m.payload, m.headers
            FROM unnest(?::bigint[], ?::text[]) WITH ORDINALITY AS g (key, name, ordinal)
            CROSS JOIN LATERAL (
                SELECT * FROM ${schema}.mail
                WHERE mail.key = g.key AND mail.position = 0 AND mail.restarts = 0 AND mail.name = g.name
                  AND mail.channel <> ${MESSAGE} AND mail.channel = ${PROMISE}
                OFFSET 0
            ) m
            """;

    private static final String AWAKEABLE = """
            SELECT r.id, a.position, a.restarts
            FROM ${schema}.awakeable a
            CROSS JOIN LATERAL (SELECT id, restarts FROM ${schema}.run WHERE run.key = a.key OFFSET 0) r
            WHERE a.hash = ? AND r.restarts = a.restarts
            """;

    /** In the current life. */
    private static final String AWAKEABLE_AT = """
            SELECT r.id, a.position, a.restarts
            FROM ${schema}.run r
            CROSS JOIN LATERAL (
                SELECT position, restarts FROM ${schema}.awakeable
                WHERE awakeable.key = r.key AND awakeable.restarts = r.restarts AND awakeable.position = ?
                OFFSET 0
            ) a
            WHERE r.key = ?
            """;

    private static final String SECRET = "SELECT value FROM ${schema}.secret";

    /** The subscribers of an event, with those that no longer wait. Those never will again. */
    private static final String SUBSCRIBERS = """
            SELECT s.key, s.position, s.restarts, r.id,
                   r.state < ${COMPLETED} AND r.restarts = s.restarts AND answered.channel IS NULL AS waits
            FROM unnest(?::text[]) AS wanted (event_key)
            CROSS JOIN LATERAL (
                SELECT key, position, restarts FROM ${schema}.subscription
                WHERE subscription.event = ? AND subscription.event_key = wanted.event_key
                OFFSET 0
            ) s
            CROSS JOIN LATERAL (SELECT id, state, restarts FROM ${schema}.run WHERE run.key = s.key OFFSET 0) r
            LEFT JOIN LATERAL (
                SELECT channel FROM ${schema}.mail m
                WHERE m.key = s.key AND m.position = s.position AND m.restarts = s.restarts AND m.name = ''
                  AND m.channel <> ${MESSAGE}
                OFFSET 0
            ) answered ON true
            """;

    private static final String UNSUBSCRIBE = """
            WITH gone AS (
                DELETE FROM ${schema}.subscription
                WHERE ctid = ANY (ARRAY(
                    SELECT s.ctid
                    FROM unnest(?::bigint[], ?::int[], ?::int[]) AS g (key, position, restarts)
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.subscription s
                        WHERE s.key = g.key AND s.restarts = g.restarts AND s.position = g.position
                        FOR UPDATE SKIP LOCKED
                    ) s))
                RETURNING 1
            )
            SELECT count(*) FROM gone
            """;

    /** One query for all callers that wait for values. Also returns a run that has ended and has no further values. */
    private static final String PUBLISHED = """
            SELECT g.ordinal, COALESCE(r.state >= ${COMPLETED}, true) AS ended, r.state IS NULL AS removed, p."offset", p.at, p.payload
            FROM unnest(?::bigint[], ?::text[], ?::bigint[]) WITH ORDINALITY AS g (key, name, after, ordinal)
            LEFT JOIN LATERAL (SELECT state FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r ON true
            LEFT JOIN LATERAL (
                SELECT "offset", at, payload
                FROM (
                    SELECT *, sum(length(payload)) OVER (ORDER BY "offset") AS bytes, row_number() OVER (ORDER BY "offset") AS place
                    FROM (
                        SELECT "offset", at, payload FROM ${schema}.publication
                        WHERE publication.key = g.key AND publication.name = g.name AND publication."offset" > g.after
                        ORDER BY "offset"
                        LIMIT ?
                    ) AS next
                ) AS counted
                WHERE bytes <= ? OR place = 1
            ) p ON true
            WHERE p."offset" IS NOT NULL OR COALESCE(r.state >= ${COMPLETED}, true)
            ORDER BY g.ordinal, p."offset"
            """;

    /** At least one value, and as many as fit into the bytes. One more than wanted is looked at: it tells whether more follow. */
    private static final String PUBLISHED_PAGE = """
            SELECT "offset", at, payload, looked_at
            FROM (
                SELECT *, sum(length(payload)) OVER (ORDER BY "offset") AS bytes,
                       row_number() OVER (ORDER BY "offset") AS place, count(*) OVER () AS looked_at
                FROM (
                    SELECT "offset", at, payload FROM ${schema}.publication
                    WHERE key = ? AND name = ? AND "offset" > ?
                    ORDER BY "offset"
                    LIMIT ?
                ) AS next
            ) AS counted
            WHERE (bytes <= ? OR place = 1) AND place <= ?
            ORDER BY "offset"
            """;

    /** Steps from one name to the next, however many values each has. */
    private static final String PUBLISHED_NAMES = """
            WITH RECURSIVE given AS MATERIALIZED (
                SELECT ?::bigint AS key, ?::text COLLATE "C" AS after, ?::int AS most
            ), named AS (
                SELECT g.key, g.most, 1 AS number, (
                    SELECT p.name FROM ${schema}.publication p WHERE p.key = g.key AND p.name > g.after ORDER BY p.name LIMIT 1) AS name
                FROM given g
                UNION ALL
                SELECT n.key, n.most, n.number + 1, (
                    SELECT p.name FROM ${schema}.publication p WHERE p.key = n.key AND p.name > n.name ORDER BY p.name LIMIT 1)
                FROM named n
                WHERE n.name IS NOT NULL AND n.number < n.most
            )
            SELECT n.name, l."offset", l.at, (
                       SELECT count(*)::int FROM (
                           SELECT FROM ${schema}.publication p WHERE p.key = n.key AND p.name = n.name LIMIT ?) AS counted) AS "values"
            FROM named n
            CROSS JOIN LATERAL (
                SELECT "offset", at FROM ${schema}.publication p
                WHERE p.key = n.key AND p.name = n.name
                ORDER BY "offset" DESC
                LIMIT 1
            ) l
            ORDER BY n.number
            """;

    private static final String LATEST = """
            SELECT "offset", at, payload FROM ${schema}.publication
            WHERE key = ? AND name = ?
            ORDER BY "offset" DESC
            LIMIT 1
            """;

    final String unread;
    final String unreadOfMany;
    final String promises;
    final String awakeable;
    final String awakeableAt;
    final String secret;
    final String subscribers;
    final String unsubscribe;
    final String published;
    final String publishedPage;
    final String publishedNames;
    final String latest;

    public MailboxSql(Schema schema) {
        this.unread = schema.sql(UNREAD);
        this.unreadOfMany = schema.sql(UNREAD_OF_MANY);
        this.promises = schema.sql(PROMISES);
        this.awakeable = schema.sql(AWAKEABLE);
        this.awakeableAt = schema.sql(AWAKEABLE_AT);
        this.secret = schema.sql(SECRET);
        this.subscribers = schema.sql(SUBSCRIBERS);
        this.unsubscribe = schema.sql(UNSUBSCRIBE);
        this.published = schema.sql(PUBLISHED);
        this.publishedPage = schema.sql(PUBLISHED_PAGE);
        this.publishedNames = schema.sql(PUBLISHED_NAMES);
        this.latest = schema.sql(LATEST);
    }
}
