package dev.perdure.postgres.payload;

import dev.perdure.postgres.jdbc.Schema;

/** The statements of large payloads. */
public final class PayloadSql {
    private static final String WRITE = """
            WITH done AS (
                INSERT INTO ${schema}.payload_chunk (upload, number, written_at, bytes)
                VALUES (?::uuid, ?, COALESCE(?::timestamptz, now()), ?)
                ON CONFLICT DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /**
     * Names an upload, and returns the upload that has the name. It locks the first chunk, so that the chunks are not
     * removed meanwhile because they have no name.
     */
    private static final String FINISH = """
            WITH whole AS MATERIALIZED (
                SELECT 1 FROM ${schema}.payload_chunk
                WHERE upload = ?::uuid AND number = 0
                  AND (SELECT count(*) FROM ${schema}.payload_chunk c WHERE c.upload = ?::uuid) = ?
                FOR KEY SHARE
            )
            INSERT INTO ${schema}.payload (reference, upload, put_at)
            SELECT ?, ?::uuid, COALESCE(?::timestamptz, now()) FROM whole
            ON CONFLICT (reference) DO UPDATE SET released_at = NULL
            RETURNING upload
            """;

    private static final String DISCARD = """
            WITH done AS (
                DELETE FROM ${schema}.payload_chunk
                WHERE upload = ?::uuid AND NOT EXISTS (SELECT FROM ${schema}.payload p WHERE p.upload = ?::uuid)
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String KEEP =
            "UPDATE ${schema}.payload SET released_at = NULL WHERE reference = ? RETURNING upload";

    private static final String READ = """
            SELECT c.bytes
            FROM ${schema}.payload p
            CROSS JOIN LATERAL (
                SELECT bytes FROM ${schema}.payload_chunk WHERE upload = p.upload AND number = ? OFFSET 0
            ) c
            WHERE p.reference = ?
            """;

    private static final String LIST =
            "SELECT reference FROM ${schema}.payload WHERE reference > ? ORDER BY reference LIMIT ?";

    private static final String RETAIN = """
            WITH done AS (
                UPDATE ${schema}.payload SET released_at = NULL
                WHERE reference = ANY (?::bytea[]) AND released_at IS NOT NULL
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String RELEASE = """
            WITH done AS (
                UPDATE ${schema}.payload SET released_at = COALESCE(?::timestamptz, now())
                WHERE reference = ANY (?::bytea[]) AND released_at IS NULL
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** A payload that was kept since has no such time any more: the row is looked at again if it was locked. */
    private static final String REMOVE = """
            DELETE FROM ${schema}.payload
            WHERE reference = ANY (?::bytea[]) AND released_at <= COALESCE(?::timestamptz, now()) - ?::interval
            RETURNING upload
            """;

    private static final String REMOVE_CHUNKS = """
            WITH done AS (
                DELETE FROM ${schema}.payload_chunk WHERE upload = ANY (?::uuid[]) RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** Uploads that are not finished. One that is being finished is locked. */
    private static final String OLD_UPLOADS = """
            SELECT c.upload FROM ${schema}.payload_chunk c
            WHERE c.number = 0 AND c.written_at <= COALESCE(?::timestamptz, now()) - ?::interval
              AND NOT EXISTS (SELECT FROM ${schema}.payload p WHERE p.upload = c.upload)
            LIMIT 100
            FOR UPDATE SKIP LOCKED
            """;

    /** Asks again for the name: it may have been given between the look and the lock. */
    private static final String REMOVE_UPLOADS = """
            WITH gone AS (
                DELETE FROM ${schema}.payload_chunk
                WHERE upload = ANY (?::uuid[])
                  AND NOT EXISTS (SELECT FROM ${schema}.payload p WHERE p.upload = payload_chunk.upload)
                RETURNING number
            )
            SELECT count(*) FROM gone WHERE number = 0
            """;

    /** Whether a row of a table refers to {@code g.reference}. The conditions are those of its partial index. */
    private static final String REFERS = """
            (SELECT true FROM ${schema}.${table} t
                   WHERE t.payload = g.reference AND octet_length(t.payload) = 48
                     AND substring(t.payload FROM 1 FOR 8) = '\\x007061796c6f6164'::bytea LIMIT 1) IS NOT NULL""";

    /** One snapshot of all tables: a reference that a transaction moves from one to another is seen in one of them. */
    private static final String REFERRED = """
            SELECT g.reference
            FROM unnest(?::bytea[]) AS g (reference)
            WHERE ${journal}
               OR ${mail}
               OR ${publication}
               OR ${outgoing}
               OR (SELECT true FROM ${schema}.object_state t WHERE t.reference = g.reference LIMIT 1) IS NOT NULL
            """.replace("${journal}", refers("journal"))
            .replace("${mail}", refers("mail"))
            .replace("${publication}", refers("publication"))
            .replace("${outgoing}", refers("outgoing"));

    /** Retention keeps its row locked while it removes runs. The worker then asks again later. */
    private static final String TAKE_TURN = """
            WITH free AS MATERIALIZED (
                SELECT 1 FROM ${schema}.retention
                WHERE payloads_at <= COALESCE(?::timestamptz, now()) - ?::interval
                FOR UPDATE SKIP LOCKED
            ), taken AS (
                UPDATE ${schema}.retention SET payloads_at = COALESCE(?::timestamptz, now())
                WHERE EXISTS (SELECT FROM free)
                RETURNING 1
            )
            SELECT count(*) > 0 AS taken FROM taken
            """;

    private static String refers(String table) {
        return REFERS.replace("${table}", table);
    }

    final String write;
    final String finish;
    final String discard;
    final String keep;
    final String read;
    final String list;
    final String retain;
    final String release;
    final String remove;
    final String removeChunks;
    final String oldUploads;
    final String removeUploads;
    final String referred;
    final String takeTurn;

    /** The settings keep the plan of {@code referred} on its indexes. */
    public PayloadSql(Schema schema, String settings) {
        this.write = schema.sql(WRITE);
        this.finish = schema.sql(FINISH);
        this.discard = schema.sql(DISCARD);
        this.keep = schema.sql(KEEP);
        this.read = schema.sql(READ);
        this.list = schema.sql(LIST);
        this.retain = schema.sql(RETAIN);
        this.release = schema.sql(RELEASE);
        this.remove = schema.sql(REMOVE);
        this.removeChunks = schema.sql(REMOVE_CHUNKS);
        this.oldUploads = schema.sql(OLD_UPLOADS);
        this.removeUploads = schema.sql(REMOVE_UPLOADS);
        this.takeTurn = schema.sql(TAKE_TURN);
        this.referred = settings + ";\n" + schema.sql(REFERRED);
    }
}
