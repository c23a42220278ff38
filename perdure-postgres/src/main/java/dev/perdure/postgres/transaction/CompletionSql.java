package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.Schema;

/** The statements around the body of a transaction step in another database. See {@link TransactionSql}. */
public final class CompletionSql {
    /**
     * Whether an earlier epoch gave up. That still holds for late workers, and not for a run that was retried since. Only the
     * row of a step that was given up has an epoch; a table of an earlier version has none.
     */
    private static final String OUTLIVED = """
            CASE WHEN c.status = 1 THEN COALESCE((to_jsonb(c) ->> 'epoch')::bigint < ?, false) ELSE false END""";

    /** The record of an earlier transaction of this step. */
    private static final String FIND = """
            SELECT name, status, payload FROM ${schema}.completion c
            WHERE run = ? AND seed = ? AND position = ? AND NOT ${outlived}
            """;

    /** Before the step is recorded anew: until the commit, the row still refuses all others. */
    private static final String DISCARD = """
            DELETE FROM ${schema}.completion c WHERE run = ? AND seed = ? AND position = ? AND ${outlived}""";

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

    /** As a record of the table, so that one of an earlier version leaves the epoch out. */
    private static final String GIVE_UP = """
            INSERT INTO ${schema}.completion
            SELECT (jsonb_populate_record(NULL::${schema}.completion, jsonb_build_object(
                'run', ?::text, 'seed', ?::bigint, 'position', ?::int, 'name', ?::text, 'status', ?::smallint,
                'payload', ?::bytea, 'epoch', ?::bigint, 'at', now()))).*
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
    public final String discard;
    public final String record;
    public final String recordAndCommit;
    public final String giveUp;
    public final String forget;

    public CompletionSql(Schema schema) {
        this.find = schema.sql(FIND.replace("${outlived}", OUTLIVED));
        this.discard = schema.sql(DISCARD.replace("${outlived}", OUTLIVED));
        this.record = discard + ";\n" + schema.sql(RECORD);
        this.recordAndCommit = record + ";\nCOMMIT";
        this.giveUp = schema.sql(GIVE_UP);
        this.forget = schema.sql(FORGET);
    }
}
