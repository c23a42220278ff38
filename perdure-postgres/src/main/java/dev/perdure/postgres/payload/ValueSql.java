package dev.perdure.postgres.payload;

import dev.perdure.postgres.jdbc.Schema;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * The statements that walk over the encrypted values of a table and replace their bytes. A walk goes by the primary key,
 * which never changes, so it comes to every row that is there all the time. It looks at a bounded number of rows and
 * returns all of them, with the payloads of those that it is looking for.
 */
final class ValueSql {
    /** An encrypted payload of another key, or a reference to a large payload. */
    private static final String FOUND = """
            CASE WHEN substring(${payload} FROM 1 FOR 4) = '\\x01656e63'::bytea AND substring(${payload} FROM 1 FOR ?) <> ?
                      OR octet_length(${payload}) = 48 AND substring(${payload} FROM 1 FOR 8) = '\\x007061796c6f6164'::bytea
                 THEN ${payload} END AS payload""";

    private static final String RUN_ID =
            "LEFT JOIN LATERAL (SELECT id, restarts FROM ${schema}.run r WHERE r.key = w.key AND w.payload IS NOT NULL OFFSET 0) r ON true";

    private static final String INBOX = """
            SELECT number, wish, channel, position, id, name, ${found}
            FROM ${schema}.inbox
            WHERE ${after}
            ORDER BY number
            LIMIT ?
            """;

    private static final String STATE = """
            SELECT object_type, object_key, name, partition, ${found}
            FROM ${schema}.object_state
            WHERE ${after}
            ORDER BY object_type, object_key, name, partition
            LIMIT ?
            """;

    private static final String REPORT = """
            SELECT w.key, w.position, w.partition, w.payload, r.id
            FROM (
                SELECT key, position, partition, ${found}
                FROM ${schema}.report
                WHERE ${after}
                ORDER BY key, position, partition
                LIMIT ?
            ) w
            ${run}
            ORDER BY w.key, w.position, w.partition
            """;

    private static final String PUBLICATION = """
            SELECT w.key, w.name, w."offset", w.partition, w.payload, r.id
            FROM (
                SELECT key, name, "offset", partition, ${found}
                FROM ${schema}.publication
                WHERE ${after}
                ORDER BY key, name, "offset", partition
                LIMIT ?
            ) w
            ${run}
            ORDER BY w.key, w.name, w."offset", w.partition
            """;

    /** An answer to a call of an earlier life is not read any more. */
    private static final String MAIL = """
            SELECT w.key, w.token, w.partition, w.channel, w.position, w.name, r.id,
                   CASE WHEN w.channel <> ${ANSWER} OR w.restarts = r.restarts THEN w.payload END AS payload
            FROM (
                SELECT key, token, partition, channel, position, restarts, name, ${found}
                FROM ${schema}.mail
                WHERE ${after}
                ORDER BY key, token, partition
                LIMIT ?
            ) w
            ${run}
            ORDER BY w.key, w.token, w.partition
            """;

    private static final String JOURNAL = """
            SELECT w.key, w.position, w.note, w.partition, w.kind, w.name, w.payload, r.id, c.object_type, c.object_key
            FROM (
                SELECT key, position, note, partition, kind, name, ${found}
                FROM ${schema}.journal
                WHERE ${after}
                ORDER BY key, position, note, partition
                LIMIT ?
            ) w
            ${run}
            LEFT JOIN LATERAL (
                SELECT object_type, object_key FROM ${schema}.object_call c
                WHERE c.key = w.key AND w.payload IS NOT NULL OFFSET 0
            ) c ON true
            ORDER BY w.key, w.position, w.note, w.partition
            """;

    /**
     * Replaces the bytes of rows that still have those of before. A row that another transaction has locked is left
     * out, so the statement never waits and no deadlock is possible.
     */
    private static final String REPLACE = """
            WITH free AS MATERIALIZED (
                SELECT f.place, w.after
                FROM unnest(${arrays}, ?::bytea[], ?::bytea[]) AS w (${names}, before, after)
                CROSS JOIN LATERAL (
                    SELECT t.ctid AS place FROM ${schema}.${table} t
                    WHERE ${same} AND t.${payload} = w.before
                    FOR NO KEY UPDATE SKIP LOCKED
                ) f
            ), done AS (
                UPDATE ${schema}.${table} t SET ${payload} = free.after
                FROM free
                WHERE t.ctid = ANY (ARRAY(SELECT place FROM free)) AND t.ctid = free.place
                RETURNING 1
            )
            SELECT count(*) AS replaced FROM done
            """;

    /** What finds the values of a table, and what replaces them. */
    record Pair(String find, String replace) {}

    private final Map<ValueTable, Pair> pairs = new EnumMap<>(ValueTable.class);

    /** The settings keep the plans on their indexes. */
    ValueSql(Schema schema, String settings) {
        for (ValueTable table : ValueTable.values()) {
            String find = schema.sql(find(table)
                    .replace("${run}", RUN_ID)
                    .replace("${found}", FOUND)
                    .replace("${after}", table.after())
                    .replace("${payload}", table.payload()));
            String replace = schema.sql(REPLACE.replace("${arrays}", table.arrays())
                    .replace("${names}", table.names())
                    .replace("${same}", table.same())
                    .replace("${table}", table.table())
                    .replace("${payload}", table.payload()));
            pairs.put(table, new Pair(settings + ";\n" + find, settings + ";\n" + replace));
        }
    }

    private static String find(ValueTable table) {
        return switch (table) {
            case INBOX -> INBOX;
            case STATE -> STATE;
            case REPORT -> REPORT;
            case PUBLICATION -> PUBLICATION;
            case MAIL -> MAIL;
            case JOURNAL -> JOURNAL;
        };
    }

    Pair of(ValueTable table) {
        return Objects.requireNonNull(pairs.get(table));
    }
}
