package dev.perdure.postgres;

/**
 * The statements for a change that is alone and plain, which is what a run does that has the engine to itself; the rules of
 * {@link LedgerSql} hold here too.
 *
 * <p>How it works: such a change costs the server less in its rows than in setting up a statement that could do more. So
 * these take scalars instead of arrays, touch what they must, and decide nothing: no row comes back, and nothing was done,
 * when the lane is gone or things are not as the sender believes. Then the statements of {@link LedgerSql} find out why.
 */
final class LoneSql {
    /** Appends one entry. */
    private static final String APPEND = """
            INSERT INTO ${schema}.journal (at, key, position, note, partition, kind, status, name, payload)
            SELECT fence.at, e.key, e.position, e.note, e.key & 255, e.kind, e.status, e.name, e.payload
            FROM (
                SELECT COALESCE(?::timestamptz, now()) AS at FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            ) fence
            CROSS JOIN (
                SELECT ?::bigint AS key, ?::int AS position, ?::smallint AS note, ?::smallint AS kind, ?::smallint AS status,
                       ?::text AS name, ?::bytea AS payload
            ) e
            ON CONFLICT DO NOTHING
            RETURNING at
            """;

    private static final String GIVEN_RUN = """
            SELECT ?::bigint AS key, ?::bigint AS seed, ?::bigint AS timeout, ?::int AS priority, ?::text AS id,
                           ?::text AS definition, ?::text AS queue, ?::text AS version""";

    /** Starts one run that is born running. It may have to wait for another of the same id, but not for long. */
    private static final String START = """
            WITH started AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, deadline, owner, priority, partition, state,
                    id, definition, queue, version)
                SELECT r.key, r.seed, 1, fence.at, fence.at, fence.at + r.timeout * interval '1 microsecond', fence.worker,
                       r.priority, r.key & 255, ${RUNNING}, r.id, r.definition, r.queue, r.version
                FROM (
                    SELECT COALESCE(?::timestamptz, now()) AS at, worker, set_config('lock_timeout', ?, true)
                    FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
                ) fence
                CROSS JOIN (${given}) r
                ON CONFLICT DO NOTHING
                RETURNING key, partition, created_at, owner
            ), input AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT key, 0, 0, partition, created_at, 0, 0, '', ?::bytea FROM started
            ), taken AS (
                INSERT INTO ${schema}.held (key, worker, partition) SELECT key, owner, partition FROM started
            )
            SELECT created_at AS at FROM started
            """;

    /** Starts one run that is ready for any worker, for a client. */
    private static final String ENQUEUE = """
            WITH started AS (
                INSERT INTO ${schema}.run (key, seed, epoch, created_at, changed_at, deadline, priority, partition, state,
                    id, definition, queue, version)
                SELECT r.key, r.seed, 0, clock.at, clock.at, clock.at + r.timeout * interval '1 microsecond',
                       r.priority, r.key & 255, ${READY}, r.id, r.definition, r.queue, r.version
                FROM (SELECT COALESCE(?::timestamptz, now()) AS at, set_config('lock_timeout', ?, true)) clock
                CROSS JOIN (${given}) r
                ON CONFLICT DO NOTHING
                RETURNING key, partition, created_at, priority, queue, definition, version
            ), input AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT key, 0, 0, partition, created_at, 0, 0, '', ?::bytea FROM started
            ), queued AS (
                INSERT INTO ${schema}.ready (key, since, rank, partition, alone, queue, definition, version)
                SELECT key, created_at, ~priority, partition, false, queue, definition, COALESCE(version, '') FROM started
            )
            SELECT created_at AS at FROM started
            """;

    /** For the transaction only; the plan that is kept must look runs up by their index, and not wait for long. */
    private static final String SETTINGS = """
            SELECT length(set_config('lock_timeout', ?, true)) + length(set_config('enable_seqscan', 'off', true)) AS done
            """;

    /** Ends one run, whose end concerns nobody else. */
    private static final String END = """
            WITH ended AS (
                UPDATE ${schema}.run SET
                    changed_at = fence.at, owner = NULL, changes = changes + 1, state = ?::smallint, reason = ?::text,
                    ran_at = CASE WHEN changes > 0 THEN changed_at END
                FROM (
                    SELECT COALESCE(?::timestamptz, now()) AS at, worker
                    FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
                ) fence
                WHERE run.key = ?::bigint AND run.partition = ?::smallint
                  AND run.state = ${RUNNING} AND run.epoch = ?::bigint AND run.owner = fence.worker
                RETURNING run.key, run.partition, fence.at
            ), outcome AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT key, ${OUTCOME}, 0, partition, at, 0, 0, '', ?::bytea FROM ended
            ), let_go AS (
                DELETE FROM ${schema}.held
                WHERE worker = ? AND key = ?::bigint AND partition = ?::smallint AND EXISTS (SELECT FROM ended)
            )
            SELECT at FROM ended
            """;

    final String append;
    final String start;
    final String enqueue;
    final String settingsAndEnd;

    LoneSql(Schema schema) {
        this.append = schema.sql(APPEND);
        this.start = schema.sql(START.replace("${given}", GIVEN_RUN));
        this.enqueue = schema.sql(ENQUEUE.replace("${given}", GIVEN_RUN));
        this.settingsAndEnd = String.join(";\n", schema.sql(SETTINGS), schema.sql(END));
    }
}
