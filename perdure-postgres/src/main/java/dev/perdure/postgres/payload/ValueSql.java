package dev.perdure.postgres.payload;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.payload.StoredValues;
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

    /** The rows until one at which a page has enough bytes. They tell how many there are with those after it. */
    private static final String BOUNDED = """
            SELECT b.*
            FROM (
                SELECT p.*, count(*) OVER () AS looked,
                       sum(octet_length(p.payload)) OVER (ORDER BY ${names} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes
                FROM (
            ${find}
                ) p
            ) b
            WHERE COALESCE(b.bytes, 0) < ${PAGE_BYTES}
            ORDER BY ${names}
            """;

    /** The attributes of a run have few bytes, so a page has as many rows of runs as any other. */
    private static final String ATTRIBUTES = """
            SELECT ${keys}, w.id, w.name, w.looked, ${found}
            FROM (
                SELECT ${rows}, r.id, e.name, e.payload, count(*) OVER () AS looked
                FROM (SELECT ${names}, id, attributes FROM ${schema}.${table} WHERE ${after} ORDER BY ${names} LIMIT ?) r
                LEFT JOIN LATERAL (
                    SELECT v.name, decode(v.value, 'base64') AS payload
                    FROM ${schema}.attribute_values(r.attributes) AS v
                    WHERE v.kind = 'encrypted' AND v.value ~ '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
                ) e ON true
            ) w
            ORDER BY ${keys}, w.name
            """;

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

    /** The same for attributes, of which a row has several. */
    private static final String REPLACE_ATTRIBUTES = """
            WITH free AS MATERIALIZED (
                SELECT f.place, w.name, w.after
                FROM unnest(${arrays}, ?::text[], ?::bytea[], ?::bytea[]) AS w (${names}, name, before, after)
                CROSS JOIN LATERAL (
                    SELECT t.ctid AS place FROM ${schema}.${table} t
                    WHERE ${same} AND t.attributes -> w.name ->> 'encrypted' = translate(encode(w.before, 'base64'), chr(10), '')
                    FOR NO KEY UPDATE SKIP LOCKED
                ) f
            ), anew AS MATERIALIZED (
                SELECT place, count(*) AS values,
                       jsonb_object_agg(name, jsonb_build_object('encrypted', translate(encode(after, 'base64'), chr(10), ''))) AS attributes
                FROM free
                GROUP BY place
            ), done AS (
                UPDATE ${schema}.${table} t SET attributes = t.attributes || anew.attributes
                FROM anew
                WHERE t.ctid = ANY (ARRAY(SELECT place FROM anew)) AND t.ctid = anew.place
                RETURNING anew.values
            )
            SELECT COALESCE(sum(values), 0) AS replaced FROM done
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
                    .replace("${names}", table.names())
                    .replace("${keys}", table.names("w"))
                    .replace("${rows}", table.names("r"))
                    .replace("${table}", table.table())
                    .replace("${PAGE_BYTES}", Long.toString(StoredValues.PAGE_BYTES))
                    .replace("${payload}", table.hasAttributes() ? "w.payload" : table.payload()));
            String replace = schema.sql((table.hasAttributes() ? REPLACE_ATTRIBUTES : REPLACE)
                    .replace("${arrays}", table.arrays())
                    .replace("${names}", table.names())
                    .replace("${same}", table.same())
                    .replace("${table}", table.table())
                    .replace("${payload}", table.payload()));
            pairs.put(table, new Pair(settings + ";\n" + find, settings + ";\n" + replace));
        }
    }

    private static String find(ValueTable table) {
        return switch (table) {
            case INBOX -> bounded(INBOX);
            case STATE -> bounded(STATE);
            case REPORT -> bounded(REPORT);
            case PUBLICATION -> bounded(PUBLICATION);
            case MAIL -> bounded(MAIL);
            case JOURNAL -> bounded(JOURNAL);
            case INBOX_ATTRIBUTES, RUN_ATTRIBUTES -> ATTRIBUTES;
        };
    }

    private static String bounded(String find) {
        return BOUNDED.replace("${find}", find);
    }

    Pair of(ValueTable table) {
        return Objects.requireNonNull(pairs.get(table));
    }
}
