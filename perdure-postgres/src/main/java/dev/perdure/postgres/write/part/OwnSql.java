package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.change.RunColumns;
import dev.perdure.postgres.write.change.TakesAndStarts;

/**
 * The statements of a batch for runs that begin, wait and end in this worker and concern no other run, which most runs
 * do. The rules of {@link LedgerSql} apply.
 *
 * <p>How it works: these statements believe that every id is new and that the worker holds every run. So they look
 * nothing up first, lock only the rows that they change, and return nothing for each run. If a belief is wrong, they
 * fail as a whole, by a unique index or by a division by zero, and the batch is sent again with the statements that
 * look everything up.
 *
 * <p>They lock the lane, and while it is locked no other transaction changes the state, the epoch or the owner of a run
 * that this worker holds. Another transaction may raise its wake count at the same time: then the update waits for it
 * and sees the new count.
 */
public final class OwnSql {
    /** Starts runs as running. */
    private static final String START = """
            WITH ${fence_with_time}, given AS MATERIALIZED (
                SELECT fence.at, fence.worker, g.*
                FROM fence
                CROSS JOIN ${new_runs}
            ), started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, owner, partition, state)
                SELECT ${run_columns}, key, 1, at, at, at + timeout * interval '1 microsecond', worker, key & 255, ${RUNNING}
                FROM given
            ), inputs AS (
                ${input(partition = key & 255) FROM given}
            ), taken AS (
                ${hold(worker = worker, partition = key & 255) FROM given}
            )
            SELECT at FROM fence
            """;

    /**
     * Ends runs. Their keys are passed a second time for the index, so that it is used whatever the tables were when
     * this was planned.
     */
    private static final String END = """
            WITH ${fence_with_time}, ended AS (
                UPDATE ${schema}.run SET
                    ${end_columns(at = fence.at, state = g.state, reason = g.reason)}
                FROM fence
                CROSS JOIN ${ends}
                WHERE run.key = ANY (?::bigint[]) AND run.key = g.key
                  AND run.state = ${RUNNING} AND run.epoch = g.epoch AND run.owner = fence.worker
                RETURNING run.key
            ), outcomes AS (
                ${outcome(key = g.key, partition = g.key & 255, at = fence.at) FROM fence CROSS JOIN ${outcomes}}
            ), let_go AS (
                ${let_go_given}
            )
            SELECT at, 1 / (SELECT count(*) = ? FROM ended)::int AS all_held FROM fence
            """;

    /**
     * Makes runs wait. A run that was woken more often than its worker has seen has to stay, and a run that was
     * recovered has to be looked up: then the belief was wrong. The state that a run leaves is logged, unless it was
     * started in it.
     */
    private static final String WAIT = """
            WITH ${fence_with_time}, given AS MATERIALIZED (
                SELECT fence.at, fence.worker, g.*,
                       COALESCE(
                           timestamptz 'epoch' + g.due * interval '1 microsecond',
                           fence.at + g.delay * interval '1 microsecond') AS wake_at
                FROM fence
                CROSS JOIN ${waits}
            ), waiting AS (
                UPDATE ${schema}.run SET
                    changed_at = g.at, wake_at = g.wake_at, owner = NULL, changes = changes + 1, state = g.state, reason = NULL,
                    needed = g.needed, awaited = g.awaited::int4multirange, awaited_names = g.awaited_names::text[]
                FROM given g
                WHERE run.key = ANY (?::bigint[]) AND run.key = g.key
                  AND run.state = ${RUNNING} AND run.epoch = g.epoch AND run.owner = g.worker
                  AND run.wakes <= g.seen AND run.recoveries = 0
                RETURNING run.key
            ), appended AS (
                ${append FROM fence CROSS JOIN ${entries}}
            ), logged AS (
                ${log FROM ${schema}.run
                WHERE run.key = ANY (?::bigint[]) AND run.changes > 0 AND EXISTS (SELECT FROM fence)}
            ), timed AS (
                ${set_timer(partition = key & 255) FROM given WHERE wake_at IS NOT NULL}
            ), let_go AS (
                ${let_go_given}
            )
            SELECT at, 1 / (SELECT count(*) = ? FROM waiting)::int AS all_held FROM fence
            """;

    /**
     * Starts runs that report to runs of the same batch. They are ready for any worker, and their mail is there from
     * the start.
     */
    private static final String START_REPORTING = """
            WITH ${fence_with_time}, given AS MATERIALIZED (
                SELECT fence.at, g.*, (SELECT restarts FROM ${schema}.run WHERE run.key = g.parent) AS parent_restarts
                FROM fence
                CROSS JOIN ${reporting_runs}
            ), started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, partition, state,
                    parent, parent_position, parent_restarts, mails)
                SELECT ${run_columns}, key, 0, at, at, at + timeout * interval '1 microsecond', key & 255, ${READY},
                       parent, ${REPORTING}, parent_restarts, mails
                FROM given
            ), inputs AS (
                ${input(partition = key & 255) FROM given}
            ), queued AS (
                ${enqueue_new(since = at, partition = key & 255) FROM given}
            ), mailed AS (
                ${deliver(restarts = 0, partition = g.key & 255) FROM fence CROSS JOIN ${first_mails}}
            )
            SELECT count(*) FROM fence
            """;

    /** Takes mail of runs of the same batch. */
    private static final String TAKE = """
            WITH ${fence}, took AS (
                ${take_mail}
                WHERE ctid = ANY (ARRAY(
                    SELECT m.ctid
                    FROM ${takes}
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM ${schema}.mail WHERE mail.key = g.key AND mail.number = g.number AND NOT taken OFFSET 0
                    ) m
                    WHERE EXISTS (SELECT FROM fence)))
            )
            SELECT count(*) FROM fence
            """;

    public final String start;
    /** The same for {@linkplain RunColumns#isPlain plain} runs. */
    public final String startPlain;

    public final String end;
    public final String wait;
    public final String startReporting;
    public final String take;

    OwnSql(Schema schema) {
        this.start = Pieces.sql(schema, START.replace("${new_runs}", OwnStarts.COLUMNS.many("g")));
        this.startPlain = Pieces.sql(schema, START.replace("${new_runs}", OwnStarts.PLAIN.many("g")));
        this.end = Pieces.sql(
                schema, END.replace("${ends}", Moves.ENDS.many("g")).replace("${outcomes}", Moves.OUTCOMES.many("g")));
        this.wait = Pieces.sql(schema, WAIT.replace("${waits}", Moves.WAITS.many("g")));
        this.startReporting = Pieces.sql(schema, TakesAndStarts.put(START_REPORTING));
        this.take = Pieces.sql(schema, TakesAndStarts.put(TAKE));
    }
}
