package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;
import dev.perdure.queue.Placement;

/** The statements for ready runs that require or prefer labels of workers. */
public final class PlacementSql {
    /** The texts under which such runs wait. Steps from one to the next, however many runs each of them has. */
    private static final String USED = """
            WITH RECURSIVE used AS (
                (SELECT version FROM ${schema}.ready WHERE strpos(version, E'\\n') > 0 ORDER BY version LIMIT 1)
                UNION ALL
                SELECT n.version
                FROM used u
                CROSS JOIN LATERAL (
                    SELECT version FROM ${schema}.ready
                    WHERE strpos(version, E'\\n') > 0 AND version > u.version
                    ORDER BY version
                    LIMIT 1
                ) n
            )""";

    /** Whether a text requires or prefers a worker that is gone. */
    private static final String GONE = """
            NOT EXISTS (
                SELECT FROM ${schema}.worker w
                WHERE NOT w.dead AND w.id::text = substring(u.version FROM '[\\n\\t,]worker=([^,\\t]+)')
            ) AND u.version ~ '[\\n\\t,]worker='""";

    /** Whether a text prefers what no live worker has. */
    private static final String UNMET = """
            strpos(u.version, E'\\t') > 0 AND NOT EXISTS (
                SELECT FROM ${schema}.worker w
                WHERE NOT w.dead AND ${schema}.meets(w.labels, split_part(u.version, E'\\t', 2))
                  AND ${schema}.meets(w.labels, split_part(split_part(u.version, E'\\t', 1), E'\\n', 2))
            )""";

    /**
     * Whether runs wait under texts that this process does not know, for workers that are gone, or for labels that they
     * prefer and no worker has.
     */
    static final String NEWS =
            "EXISTS (${used} SELECT FROM used u WHERE u.version <> ALL (?::text[]) OR ${gone} OR ${unmet})";

    /** When the next run no longer waits for a worker that it prefers. */
    static final String NEXT_PREFERENCE = """
            (SELECT since + ${preference} FROM ${schema}.ready WHERE strpos(version, E'\\t') > 0 ORDER BY since LIMIT 1)""";

    private static final String LOOK = "${used} SELECT u.version, ${gone} AS gone, ${unmet} AS unmet FROM used u";

    /**
     * Lets any worker take runs for which a preference is over, and runs that wait under these texts. Only their rows
     * in the queue change.
     */
    private static final String RELAX = """
            UPDATE ${schema}.ready
            SET version = CASE WHEN strpos(version, E'\\n\\t') > 0 THEN split_part(version, E'\\n', 1) ELSE split_part(version, E'\\t', 1) END
            WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM ${schema}.ready
                WHERE strpos(version, E'\\t') > 0 AND since <= ${now} - ${preference}
                ORDER BY since
                LIMIT 1000
                FOR UPDATE SKIP LOCKED
            ) || ARRAY(
                SELECT q.place
                FROM unnest(?::text[]) AS t (version)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place FROM ${schema}.ready
                    WHERE ready.version = t.version AND strpos(ready.version, E'\\n') > 0
                    LIMIT 1000
                    FOR UPDATE SKIP LOCKED
                ) q
            ))
            RETURNING key
            """;

    /** Runs that wait under these texts. */
    private static final String WAITING = """
            SELECT r.key, r.id, r.definition, r.placement
            FROM unnest(?::text[]) AS t (version)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.ready
                WHERE ready.version = t.version AND strpos(ready.version, E'\\n') > 0
                LIMIT 500
            ) q
            CROSS JOIN LATERAL (SELECT key, id, definition, placement FROM ${schema}.run WHERE run.key = q.key OFFSET 0) r
            WHERE r.placement IS NOT NULL
            """;

    /**
     * Gives ready runs another placement. A run that required a worker gets one only if it is to end: otherwise the
     * cancel comes first.
     */
    private static final String REPLACE = """
            WITH freed AS MATERIALIZED (
                SELECT r.key, r.partition, r.version, g.placement
                FROM unnest(?::bigint[], ?::text[], ?::boolean[]) AS g (key, placement, cancelled)
                CROSS JOIN LATERAL (
                    SELECT key, partition, version, cancel, kill FROM ${schema}.run
                    WHERE run.key = g.key AND run.state = ${READY}
                    FOR NO KEY UPDATE SKIP LOCKED
                ) r
                WHERE NOT g.cancelled OR COALESCE(r.cancel, r.kill) IS NOT NULL
            ), placed AS (
                UPDATE ${schema}.run SET placement = f.placement
                FROM freed f
                WHERE run.key = ANY (ARRAY(SELECT key FROM freed)) AND run.key = f.key
            )
            UPDATE ${schema}.ready SET version = COALESCE(f.version, '') || COALESCE(E'\\n' || f.placement, '')
            FROM freed f
            WHERE ready.key = ANY (ARRAY(SELECT key FROM freed)) AND ready.key = f.key
            RETURNING ready.key
            """;

    final String look;
    final String relax;
    final String waiting;
    final String replace;

    public PlacementSql(Schema schema, LedgerSql ledger) {
        this.look = composed(schema, ledger, LOOK);
        this.relax = composed(schema, ledger, RELAX);
        this.waiting = composed(schema, ledger, WAITING);
        this.replace = composed(schema, ledger, REPLACE);
    }

    private static String composed(Schema schema, LedgerSql ledger, String statement) {
        return String.join(";\n", ledger.settings, Pieces.sql(schema, pieces(statement)));
    }

    /** The statement with the pieces of this class. */
    static String pieces(String statement) {
        return statement
                .replace("${used}", USED)
                .replace("${gone}", GONE)
                .replace("${unmet}", UNMET)
                .replace("${preference}", "interval '%s seconds'".formatted(Placement.PREFERENCE.toSeconds()));
    }
}
