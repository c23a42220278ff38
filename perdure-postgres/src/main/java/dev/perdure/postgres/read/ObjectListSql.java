package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Schema;

/** The statements that list virtual objects, what they have and which calls wait for them. */
public final class ObjectListSql {
    /** Steps from one type to the next, however many objects each has. */
    private static final String TYPES = """
            WITH RECURSIVE given AS MATERIALIZED (
                SELECT ?::text COLLATE "C" AS after, ?::int AS most
            ), listed AS (
                SELECT g.most, 1 AS number, (SELECT o.type FROM ${schema}.object o WHERE o.type > g.after ORDER BY o.type LIMIT 1) AS type
                FROM given g
                UNION ALL
                SELECT l.most, l.number + 1, (SELECT o.type FROM ${schema}.object o WHERE o.type > l.type ORDER BY o.type LIMIT 1)
                FROM listed l
                WHERE l.type IS NOT NULL AND l.number < l.most
            )
            SELECT type FROM listed WHERE type IS NOT NULL ORDER BY number
            """;

    private static final String LIST = """
            SELECT o.key, h.id AS holder, (
                SELECT count(*)::int FROM (
                    SELECT FROM ${schema}.object_call c
                    WHERE c.object_type = o.type AND c.object_key = o.key AND c.number IS NOT NULL
                    LIMIT ?
                ) AS counted) AS waiting
            FROM (
                SELECT type, key, holder FROM ${schema}.object
                WHERE type = ? AND key > ? AND key >= ? ${end}
                ORDER BY key
                LIMIT ?
            ) AS o
            LEFT JOIN LATERAL (SELECT id FROM ${schema}.run WHERE run.key = o.holder OFFSET 0) h ON true
            ORDER BY o.key
            """;

    /** At least one value, and as many as fit into the bytes. One more than wanted is looked at: it tells whether more follow. */
    private static final String STATE = """
            SELECT name, payload, looked_at
            FROM (
                SELECT *, sum(length(payload)) OVER (ORDER BY name) AS bytes, row_number() OVER (ORDER BY name) AS place,
                       count(*) OVER () AS looked_at
                FROM (
                    SELECT name, payload FROM ${schema}.object_state
                    WHERE object_type = ? AND object_key = ? AND name > ?
                    ORDER BY name
                    LIMIT ?
                ) AS next
            ) AS counted
            WHERE (bytes <= ? OR place = 1) AND place <= ?
            ORDER BY name
            """;

    private static final String HOLDER = """
            SELECT ${info}
            FROM ${schema}.object o
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = o.holder OFFSET 0) r
            WHERE o.type = ? AND o.key = ?
            """;

    private static final String WAITING = """
            SELECT c.number, ${info}
            FROM (
                SELECT key, number FROM ${schema}.object_call
                WHERE object_type = ? AND object_key = ? AND number > ?
                ORDER BY number
                LIMIT ?
            ) AS c
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = c.key OFFSET 0) r
            ORDER BY c.number
            """;

    final String types;
    final String list;
    final String listBefore;
    final String state;
    final String holder;
    final String waiting;

    public ObjectListSql(Schema schema) {
        this.types = schema.sql(FilterSql.SETTINGS + TYPES);
        this.list = schema.sql(FilterSql.SETTINGS + LIST.replace("${end}", ""));
        this.listBefore = schema.sql(FilterSql.SETTINGS + LIST.replace("${end}", "AND key < ?"));
        this.state = schema.sql(FilterSql.SETTINGS + STATE);
        this.holder = schema.sql(FilterSql.SETTINGS + HOLDER.replace("${info}", QuerySql.INFO));
        this.waiting = schema.sql(FilterSql.SETTINGS + WAITING.replace("${info}", QuerySql.INFO));
    }
}
