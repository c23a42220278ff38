package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.Schema;

/** The statements around the body of a transaction step in another database. See {@link TransactionSql}. */
public final class CompletionSql {
    /** The record of an earlier transaction of this step. */
    private static final String FIND = """
            SELECT name, status, payload FROM ${schema}.completion WHERE run = ? AND seed = ? AND position = ?
            """;

    /**
     * The first transaction that records a position commits. Another one waits here until the first has committed, and
     * then fails.
     */
    private static final String RECORD = """
            WITH recorded AS (
                INSERT INTO ${schema}.completion (run, seed, position, name, status, payload)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                RETURNING run
            )
            SELECT ln(count(*)::float8) AS first,
                   sqrt(CASE WHEN pg_current_xact_id()::text::bigint = ? THEN 0 ELSE -1 END::float8) AS whole
            FROM recorded
            """;

    private static final String GIVE_UP = """
            INSERT INTO ${schema}.completion (run, seed, position, name, status, payload)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            RETURNING position
            """;

    /** The oldest first, and not all at once: a transaction that deletes many rows holds back vacuum and replicas. */
    private static final String FORGET = """
            WITH forgotten AS (
                DELETE FROM ${schema}.completion WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM ${schema}.completion
                    WHERE at < now() - ? * interval '1 microsecond'
                    ORDER BY at
                    LIMIT ?
                    FOR UPDATE SKIP LOCKED))
                RETURNING 1
            )
            SELECT count(*) FROM forgotten
            """;

    public final String find;
    public final String record;
    public final String recordAndCommit;
    public final String giveUp;
    public final String forget;

    public CompletionSql(Schema schema) {
        this.find = schema.sql(FIND);
        this.record = schema.sql(RECORD);
        this.recordAndCommit = record + ";\nCOMMIT";
        this.giveUp = schema.sql(GIVE_UP);
        this.forget = schema.sql(FORGET);
    }
}
