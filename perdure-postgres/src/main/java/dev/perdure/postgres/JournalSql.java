package dev.perdure.postgres;

/**
 * The statements that read journals.
 *
 * <p>A page is to have about so many bytes, whatever the size of its entries. Adding their sizes up as they come costs the
 * server more than reading them, so the first few are looked at: they tell how many rows make a page. What is much larger than
 * they are comes with its size only; the payloads of those that the page has room for are read by a second statement.
 */
final class JournalSql {
    private static final String NEXT = """
            FROM ${schema}.journal
            WHERE journal.key = ${key} AND position > ${after} AND position < ${OUTCOME}
            ORDER BY position, note
            """;

    /** How many rows make a page, and the size up to which payloads come along. */
    private static final String SAMPLE = """
            SELECT GREATEST(2, ? / mean) AS page, mean * 4 AS largest
            FROM (
                SELECT COALESCE(GREATEST(64, sum(octet_length(payload)) / count(*)), 64) AS mean
                FROM (SELECT payload ${next} LIMIT 16) AS first
            ) AS measured
            """;

    private static final String COLUMNS = "key, position, note, at, kind, status, name";

    /** The next page of one journal. */
    private static final String PAGE = """
            WITH given AS MATERIALIZED (SELECT ?::bigint AS key, ?::integer AS after),
            sample AS MATERIALIZED (${sample})
            SELECT ${columns}, CASE WHEN octet_length(payload) <= (SELECT largest FROM sample) THEN payload END AS payload,
                   octet_length(payload) AS size, (SELECT page FROM sample) AS page
            ${next}
            LIMIT (SELECT page FROM sample)
            """.replace("${sample}", SAMPLE)
            .replace("${next}", NEXT)
            .replace("${key}", "(SELECT key FROM given)")
            .replace("${after}", "(SELECT after FROM given)");

    /** The first pages of many. */
    private static final String FIRST_PAGES = """
            SELECT ${columns}, payload, size, page
            FROM unnest(?::bigint[]) AS g (of_run)
            CROSS JOIN LATERAL (${sample}) AS sample
            CROSS JOIN LATERAL (
                SELECT ${columns}, CASE WHEN octet_length(payload) <= sample.largest THEN payload END AS payload,
                       octet_length(payload) AS size
                ${next}
                LIMIT sample.page
            ) AS next
            ORDER BY key, position, note
            """.replace("${sample}", SAMPLE)
            .replace("${next}", NEXT)
            .replace("${key}", "g.of_run")
            .replace("${after}", "${INPUT}");

    /** All that is recorded under the next position of one journal, however much it is. */
    private static final String POSITION = """
            SELECT ${columns}, payload
            FROM ${schema}.journal
            WHERE journal.key = ? AND position = (
                SELECT position FROM ${schema}.journal
                WHERE journal.key = ? AND position > ? AND position < ${OUTCOME}
                ORDER BY position LIMIT 1
            )
            ORDER BY note
            """;

    /** Payloads that pages have come without. */
    private static final String PAYLOADS = """
            SELECT j.payload
            FROM unnest(?::bigint[], ?::integer[], ?::integer[]) WITH ORDINALITY AS g (key, position, note, ordinal)
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal
                WHERE journal.key = g.key AND journal.position = g.position AND journal.note = g.note
                OFFSET 0
            ) AS j ON true
            ORDER BY g.ordinal
            """;

    final String page;
    final String firstPages;
    final String position;
    final String payloads;

    JournalSql(Schema schema) {
        this.page = schema.sql(PAGE.replace("${columns}", COLUMNS));
        this.firstPages = schema.sql(FIRST_PAGES.replace("${columns}", COLUMNS));
        this.position = schema.sql(POSITION.replace("${columns}", COLUMNS));
        this.payloads = schema.sql(PAYLOADS);
    }
}
