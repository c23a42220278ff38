package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;

/** The statements that let a run that has ended continue, and that fork runs. The rules of {@link LedgerSql} apply. */
public final class RetrySql {
    /**
     * Locks a run and, if it reports to one, its parent, in the order of their keys. The retry of the parent delivers
     * the outcome of this run, so of two retries at once the second has to see what the first has done. That is why
     * {@link #find} is a statement of its own: its snapshot is younger than the locks.
     */
    private static final String LOCK = """
            SELECT count(*)
            FROM (
                SELECT unnest(CASE WHEN parent IS NULL THEN ARRAY[key] ELSE ARRAY[key, parent] END) AS key
                FROM ${schema}.run WHERE id = ?
                ORDER BY key
            ) wanted
            CROSS JOIN LATERAL (
                SELECT FROM ${schema}.run WHERE run.key = wanted.key AND run.partition = wanted.key & 255 FOR NO KEY UPDATE
            ) locked
            """;

    /**
     * A run that is locked, with what speaks against a retry. {@code told} is the run that has got its outcome, or is about to: one
     * that called it, and lives or has recorded the answer.
     */
    private static final String FIND = """
            SELECT r.key, r.id, r.seed, r.definition, r.queue, r.priority, r.queue_key, r.weight, r.placement, ${attributes} AS attributes, r.memo, r.status, r.headers, r.state,
                   r.changed_at, r.restarts, r.removed_at IS NOT NULL OR COALESCE(goes.removed_at IS NOT NULL, false) AS removed,
                   ${timeout_of_run} AS timeout,
                   r.after IS NOT NULL AND r.before IS NULL AS has_tasks, r.before IS NOT NULL AS is_task,
                   (SELECT true FROM ${schema}.object_call c WHERE c.key = r.key LIMIT 1) IS NOT NULL AS calls, p.id AS told,
                   (SELECT i.payload FROM ${schema}.journal i WHERE i.key = r.key AND i.position = 0) AS input, ${now} AS at
            FROM (SELECT * FROM ${schema}.run WHERE id = ? OFFSET 0) r
            LEFT JOIN LATERAL (
                SELECT id FROM ${schema}.run
                WHERE run.key = r.parent AND r.parent_position <> ${REPORTING} AND run.restarts = r.parent_restarts AND (
                      run.state < ${COMPLETED} OR (
                          SELECT true FROM ${schema}.journal a
                          WHERE a.key = run.key AND a.position = r.parent_position AND a.note = 0
                          LIMIT 1
                      ) IS NOT NULL)
                OFFSET 0
            ) p ON true
            LEFT JOIN LATERAL (
                -- It goes with its parent, whose removal has begun.
                SELECT removed_at FROM ${schema}.run
                WHERE run.key = r.parent AND r.parent_position IS DISTINCT FROM ${REPORTING} AND run.restarts = r.parent_restarts
                OFFSET 0
            ) goes ON true
            """;

    /** The entries of a journal, without their payloads. */
    private static final String ENTRIES = """
            SELECT position, note, kind, status, at, name FROM ${schema}.journal
            WHERE key = ? AND position > 0 AND position < ${OUTCOME}
            ORDER BY position, note
            """;

    /** Removes entries of the run in {@code decided}. */
    static final String EMPTIED = """
            emptied AS (
                DELETE FROM ${schema}.journal WHERE ctid = ANY (ARRAY(
                    SELECT j.ctid
                    FROM decided d
                    CROSS JOIN unnest(?::int[], ?::int[]) AS g (position, note)
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.journal
                        WHERE journal.key = d.key AND journal.position = g.position AND journal.note = g.note OFFSET 0
                    ) j))
            )""";

    /**
     * Removes entries, and makes the run ready in the same life. The epoch rises if a worker has ever held it; otherwise it
     * has not begun, and counts for the rate of its queue when it does. Its timeout counts from now, and is
     * kept, because the two times do not tell it after this. Answers given by hand since its end get the time of that end, so
     * that they are not taken for new ones at its next end. A parent that has ended without taking the outcome forgets it: it
     * would otherwise get it when it is retried.
     */
    private static final String RETRY = """
            WITH decided AS MATERIALIZED (
                SELECT r.*, g.at AS moved_at, ${timeout_of_run} AS timeout_now
                FROM (SELECT ?::timestamptz AS at, ?::bigint AS key) g
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
            ), ${emptied}, untold AS (
                DELETE FROM ${schema}.mail WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM decided d
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail
                        WHERE mail.key = d.parent AND mail.position = d.parent_position AND mail.restarts = d.parent_restarts
                          AND mail.name = '' AND mail.channel = ${ANSWER} AND NOT mail.taken
                        OFFSET 0
                    ) m))
            ), dated AS (
                UPDATE ${schema}.journal SET at = d.changed_at
                FROM decided d
                WHERE journal.key = ANY (ARRAY(SELECT key FROM decided)) AND journal.key = d.key
                  AND journal.position > 0 AND journal.position < ${OUTCOME} AND journal.at > d.changed_at
            ), logged AS (
                ${log FROM decided}
                UNION ALL
                SELECT key, changes - 1, partition, ${RUNNING}, ran_at, NULL FROM decided WHERE ran_at IS NOT NULL
            ), queued AS (
                ${enqueue(alone = false, rank = ~priority) FROM decided}
            ), revived AS (
                UPDATE ${schema}.run SET
                    state = ${READY}, changed_at = d.moved_at, epoch = run.epoch + LEAST(run.epoch, 1), changes = run.changes + 1, wakes = 0,
                    recoveries = 0, entries_at_recovery = 0, reason = NULL, ran_at = NULL, wake_at = NULL,
                    cancel = NULL, kill = NULL, pause = NULL, timeout = d.timeout_now,
                    deadline = d.moved_at + d.timeout_now * interval '1 microsecond'
                FROM decided d
                WHERE run.key = ANY (ARRAY(SELECT key FROM decided)) AND run.key = d.key
                RETURNING 1
            )
            SELECT count(*) FROM revived
            """;

    /** Children whose outcomes the run has missed, because it had ended before them. */
    private static final String MISSED = """
            SELECT c.key FROM ${schema}.run c
            WHERE c.parent = ? AND c.parent_restarts = ? AND c.parent_position <> ${REPORTING} AND c.state >= ${COMPLETED}
              AND (
                  SELECT true FROM ${schema}.journal a
                  WHERE a.key = c.parent AND a.position = c.parent_position AND a.note = 0
                  LIMIT 1
              ) IS NULL
            """;

    /**
     * Copies entries into the journal of a run that was just started, with times before its creation: that shows which are
     * copies. The epoch rises, because under the first one a run has no journal. A fork that is sent again copies nothing: its run may have begun since.
     */
    private static final String COPY = """
            WITH begun AS (
                UPDATE ${schema}.run SET epoch = 1 WHERE key = ? AND epoch = 0
                RETURNING created_at - interval '1 microsecond' AS latest
            ), copied AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT g.key, j.position, j.note, g.key & 255, LEAST(j.at, begun.latest), j.kind, j.status, j.name,
                       COALESCE(e.anew, j.payload)
                FROM (SELECT ?::bigint AS key, ?::bigint AS source) g
                CROSS JOIN begun
                CROSS JOIN unnest(?::int[], ?::int[], ?::bytea[]) AS e (position, note, anew)
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.journal
                    WHERE journal.key = g.source AND journal.position = e.position AND journal.note = e.note OFFSET 0
                ) j
                ON CONFLICT DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM copied
            """;

    /** Keeps what a retried run sends to runs of other shards. */
    private static final String SEND = """
            WITH sender AS MATERIALIZED (
                SELECT restarts, partition FROM ${schema}.run WHERE key = ?
            ), sent AS (
                INSERT INTO ${schema}.outgoing (token, life, to_partition, partition, change, payload)
                SELECT g.token, sender.restarts, g.to_partition, sender.partition, g.change, g.value
                FROM unnest(?::uuid[], ?::int[], ?::bytea[], ?::bytea[])
                    WITH ORDINALITY AS g (token, to_partition, change, value, ordinal)
                CROSS JOIN sender
                ORDER BY g.ordinal
                ON CONFLICT (token) DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM sent
            """;

    /** A run, and whether that run of another shard waits for its outcome. */
    private static final String TO_TELL = """
            SELECT r.key, r.seed, r.state, ${now} AS at, (
                SELECT true FROM ${schema}.parent_elsewhere p
                WHERE p.key = r.key AND p.answers AND p.parent_key = ? AND p.life = ? AND p.position = ? LIMIT 1
            ) IS NOT NULL AS told
            FROM (SELECT key, seed, state FROM ${schema}.run WHERE id = ? OFFSET 0) r
            """;

    /** Removes an outcome that is still kept, so that it is kept anew, under another number. */
    private static final String UNTELL = """
            WITH untold AS (
                DELETE FROM ${schema}.outgoing WHERE token = ?::uuid RETURNING 1
            )
            SELECT count(*) FROM untold
            """;

    /** Records the command. */
    private static final String AUDIT = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS audit, ?::timestamptz AS moved_at, (?::bigint & 255)::smallint AS partition
            ), audited AS (
                ${audit FROM given}
            )
            SELECT count(*) FROM given
            """;

    public final String audit;
    public final String lock;
    public final String find;
    public final String entries;
    public final String retry;
    public final String missed;
    public final String copy;
    public final String send;
    public final String toTell;
    public final String untell;

    public RetrySql(Schema schema) {
        this.audit = Pieces.sql(schema, AUDIT);
        this.lock = Pieces.sql(schema, LOCK);
        this.find = Pieces.sql(schema, FIND.replace("${attributes}", Descriptions.pairs("r.attributes")));
        this.entries = Pieces.sql(schema, ENTRIES);
        this.retry = Pieces.sql(schema, RETRY.replace("${emptied}", EMPTIED));
        this.missed = Pieces.sql(schema, MISSED);
        this.copy = Pieces.sql(schema, COPY);
        this.send = Pieces.sql(schema, SEND);
        this.toTell = Pieces.sql(schema, TO_TELL);
        this.untell = Pieces.sql(schema, UNTELL);
    }
}
