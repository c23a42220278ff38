package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;

/**
 * The statements that read journals.
 *
 * <p>A page has about a given number of bytes, whatever the size of its entries. Adding up sizes row by row costs the
 * server more than reading the rows, so the statement samples the first few rows, and estimates from them how many rows
 * make a page. A payload that is much larger than those comes as its size only; a second statement reads the payloads
 * for which the page has room.
 *
 * <p>Each is one execute after {@link LedgerSql#settings}: with a plan for unknown tables, the server would otherwise
 * sort all later entries of a long journal for one page.
 */
public final class JournalSql {
    private static final String NEXT = """
            FROM ${schema}.journal
            WHERE journal.key = ${key} AND position > ${after} AND position < ${OUTCOME}
            ORDER BY position, note
            """;

    /** How many rows make a page, and the size up to which payloads are included. */
    private static final String SAMPLE = """
            SELECT GREATEST(2, ? / mean) AS page, mean * 4 AS largest
            FROM (
                SELECT COALESCE(GREATEST(64, sum(octet_length(payload)) / count(*)), 64) AS mean
                FROM (SELECT payload ${next} LIMIT 16) AS first
            ) AS measured
            """;

    /**
     * Every column of a long journal is sent very often, so small numbers share one column: {@code sort} contains note,
     * kind and status. Numbers that do not fit become a kind that nobody knows.
     */
    private static final String COLUMNS =
            "position, note * 65536 + CASE WHEN kind | status BETWEEN 0 AND 255 THEN kind * 256 + status ELSE 0 END AS sort, at, name";

    /**
     * {@code extent} is the number of rows that make a page and, if the payload is not included, its size in the upper
     * half.
     */
    private static final String PAYLOAD = """
            CASE WHEN octet_length(payload) <= ${largest} THEN payload END AS payload,
            CASE WHEN octet_length(payload) > ${largest} THEN octet_length(payload) * 4294967296 ELSE 0 END + ${page} AS extent""";

    /** The next page of one journal. */
    private static final String PAGE = """
            WITH given AS MATERIALIZED (SELECT ?::bigint AS key, ?::integer AS after),
            sample AS MATERIALIZED (${sample})
            SELECT ${columns}, ${payload}
            ${next}
            LIMIT (SELECT page FROM sample)
            """.replace("${sample}", SAMPLE)
            .replace(
                    "${payload}",
                    PAYLOAD.replace("${largest}", "(SELECT largest FROM sample)")
                            .replace("${page}", "(SELECT page FROM sample)"))
            .replace("${next}", NEXT)
            .replace("${key}", "(SELECT key FROM given)")
            .replace("${after}", "(SELECT after FROM given)");

    /** The first pages of many. */
    private static final String FIRST_PAGES = """
            SELECT position, sort, at, name, payload, extent, of_run
            FROM unnest(?::bigint[]) AS g (of_run)
            CROSS JOIN LATERAL (${sample}) AS sample
            CROSS JOIN LATERAL (
                SELECT ${columns}, ${payload}
                ${next}
                LIMIT sample.page
            ) AS next
            ORDER BY of_run, position, sort
            """.replace("${sample}", SAMPLE)
            .replace(
                    "${payload}",
                    PAYLOAD.replace("${largest}", "sample.largest").replace("${page}", "sample.page"))
            .replace("${next}", NEXT)
            .replace("${key}", "g.of_run")
            .replace("${after}", "${INPUT}");

    /** All entries of the next position of one journal, whatever their size. */
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

    /** Payloads that were not included in pages. */
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

    private static final String POSITION_OF = """
            CASE WHEN journal.position > ${INPUT} OR octet_length(payload) < 8 THEN journal.position
                 ELSE get_byte(payload, 0) << 24 | get_byte(payload, 1) << 16 | get_byte(payload, 2) << 8 | get_byte(payload, 3) END""";

    /**
     * A page in the order of time, with the payloads of failures and headers. There is no index for that order, because every entry
     * would have to write to it: the server looks at places and sizes of all entries of the run, and reads those of the
     * page. Entries of former lives are below the input, with their positions in the place of payloads. One more than wanted is looked at: it tells whether more follow.
     */
    private static final String BY_TIME = """
            WITH given AS MATERIALIZED (
                SELECT ?::bigint AS key, ?::timestamptz AS at, ?::integer AS position, ?::integer AS note, ?::integer AS most
            ),
            next AS MATERIALIZED (
                SELECT e.place, e.position, note, at,
                       CASE WHEN place > ${INPUT} AND status IN (${ATTEMPT}, ${FAILURE}, ${HEADERS}) THEN octet_length(payload) ELSE 0 END AS bytes
                FROM (
                    SELECT journal.position AS place, ${position_of} AS position, note, at, status, payload
                    FROM ${schema}.journal
                    WHERE journal.key = (SELECT key FROM given) AND journal.position <> ${INPUT} AND journal.position < ${OUTCOME}
                ) e
                WHERE (at, e.position, note, e.place) > (SELECT g.at, g.position, g.note, ${OUTCOME} FROM given g)
                ORDER BY at, e.position, note, e.place
                LIMIT (SELECT most FROM given)
            ),
            counted AS (
                SELECT place, position, note, sum(bytes) OVER w AS total, row_number() OVER w AS ordinal, count(*) OVER () AS looked_at
                FROM next
                WINDOW w AS (ORDER BY at, position, note, place)
            )
            SELECT c.position, j.sort, j.at, j.name, j.payload, j.failed_attempts, c.looked_at
            FROM counted c
            CROSS JOIN LATERAL (
                SELECT ${columns},
                       CASE WHEN position > ${INPUT} AND status IN (${ATTEMPT}, ${FAILURE}, ${HEADERS}) THEN payload ELSE ''::bytea END AS payload,
                       CASE WHEN position < ${INPUT} AND octet_length(payload) >= 8 THEN get_byte(payload, 4) << 24 | get_byte(payload, 5) << 16 | get_byte(payload, 6) << 8 | get_byte(payload, 7)
                       ELSE (
                           SELECT count(*)::integer FROM ${schema}.journal a
                           WHERE a.key = journal.key AND a.position = journal.position AND a.kind = journal.kind AND a.status = ${ATTEMPT}
                       ) END AS failed_attempts
                FROM ${schema}.journal
                WHERE journal.key = (SELECT key FROM given) AND journal.position = c.place AND journal.note = c.note
                OFFSET 0
            ) j
            WHERE (c.total <= ? OR c.ordinal = 1) AND c.ordinal < (SELECT most FROM given)
            ORDER BY c.ordinal
            """;

    final String page;
    final String byTime;
    final String firstPages;
    final String position;
    final String payloads;

    public JournalSql(Schema schema, String settings) {
        this.page = together(schema, settings, PAGE);
        this.byTime = together(schema, settings, BY_TIME.replace("${position_of}", POSITION_OF));
        this.firstPages = together(schema, settings, FIRST_PAGES);
        this.position = together(schema, settings, POSITION);
        this.payloads = together(schema, settings, PAYLOADS);
    }

    private static String together(Schema schema, String settings, String statement) {
        return String.join(";\n", settings, schema.sql(statement.replace("${columns}", COLUMNS)));
    }
}
