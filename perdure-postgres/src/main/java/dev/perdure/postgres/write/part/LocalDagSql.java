package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.LocalDag;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.change.RunColumns;

/**
 * The statements of a batch for tasks that begin and end in the worker that started their run. They are for tasks what
 * {@link OwnSql} is for runs that concern no other run, with the same beliefs. The worker knows the edges, identities
 * and outcomes from a {@link LocalDag}, so it passes the tasks that an end lets begin to the statements, and reads only
 * what it cannot know.
 *
 * <p>One update ends runs and counts down the runs that come after them, in the order of their keys: this is the one
 * ordered pass in which {@link LedgerSql} locks. It fails as a whole unless each row is as the worker believes, so that
 * each end counts once: the worker holds the runs that end, and the runs that come after them are pending and have
 * never been in another state. If another batch counts one of these down at the same time, the update waits for that
 * batch and finds the row as it left it.
 */
public final class LocalDagSql {
    /**
     * Starts runs with their tasks, all of which are new. The edges of all of them come as one array, and each row has
     * its slices.
     */
    private static final String START = """
            WITH ${fence_with_time}, born AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, owner, partition,
                    state, parent, parent_restarts, open, after, before, timeout)
                SELECT ${run_columns}, g.key, g.begins, fence.at, fence.at, fence.at + g.bound * interval '1 microsecond',
                       CASE WHEN g.begins = 1 THEN fence.worker END, g.key & 255,
                       CASE WHEN g.begins = 1 THEN ${RUNNING} ELSE ${PENDING} END,
                       g.parent, CASE WHEN g.parent IS NOT NULL THEN 0 END,
                       g.after_to - g.after_from + 1, edge.keys[g.after_from:g.after_to],
                       CASE WHEN g.parent IS NOT NULL THEN edge.keys[g.after_to + 1:g.before_to] END, g.timeout
                FROM fence
                CROSS JOIN (SELECT ?::bigint[] AS keys) AS edge
                CROSS JOIN ${new_runs}
            ), inputs AS (
                ${input(key = g.key, partition = g.key & 255, at = fence.at) FROM fence CROSS JOIN ${inputs}}
            ), taken AS (
                ${hold(key = g.key, worker = fence.worker, partition = g.key & 255)
                FROM fence CROSS JOIN unnest(?::bigint[]) AS g (key)}
            )
            SELECT at FROM fence
            """;

    /**
     * Ends runs, and counts down the runs that come after them. For these, {@code closed} is the number of their
     * premises that end (zero for a run that ends itself), and {@code taken} says whether the worker takes the run over
     * when it begins.
     */
    private static final String END = """
            WITH ${fence_with_time}, moved AS (
                UPDATE ${schema}.run SET
                    epoch = CASE WHEN run.open = g.closed AND g.taken THEN run.epoch + 1 ELSE run.epoch END,
                    changed_at = CASE WHEN g.closed = 0 OR run.open = g.closed THEN fence.at ELSE run.changed_at END,
                    -- It already has the deadline of the run that it belongs to.
                    deadline = CASE WHEN run.open = g.closed AND g.closed > 0 AND run.before IS NOT NULL
                                    THEN LEAST(fence.at + run.timeout * interval '1 microsecond', run.deadline)
                                    ELSE run.deadline END,
                    owner = CASE WHEN run.open = g.closed AND g.taken THEN fence.worker END,
                    wakes = CASE WHEN run.open = g.closed AND g.taken THEN 0 ELSE run.wakes END,
                    changes = CASE WHEN g.closed = 0 OR run.open = g.closed THEN run.changes + 1 ELSE run.changes END,
                    state = CASE WHEN g.closed = 0 THEN g.state
                                 WHEN run.open > g.closed THEN ${PENDING}::smallint
                                 WHEN g.taken THEN ${RUNNING}::smallint
                                 ELSE ${READY}::smallint END,
                    reason = CASE WHEN g.closed = 0 THEN g.reason ELSE run.reason END,
                    ran_at = CASE WHEN g.closed = 0 AND run.changes > 0 THEN run.changed_at END,
                    open = run.open - g.closed
                FROM fence
                CROSS JOIN ${touched}
                WHERE run.key = ANY (?::bigint[]) AND run.key = g.key AND run.state = g.found
                  AND (g.closed > 0 OR run.epoch = g.epoch AND run.owner = fence.worker)
                RETURNING run.key, run.partition, run.state, run.epoch, run.changes, run.deadline, run.mails, run.cancel IS NOT NULL
                    OR run.kill IS NOT NULL OR run.pause IS NOT NULL AS asked
            ), outcomes AS (
                ${outcome(key = g.key, partition = g.key & 255, at = fence.at) FROM fence CROSS JOIN ${outcomes}}
            ), let_go AS (
                ${let_go_given}
            ), kept AS (
                ${hold(key = moved.key, worker = fence.worker, partition = moved.partition)
                FROM moved CROSS JOIN fence WHERE moved.state = ${RUNNING}}
            )${queued}
            SELECT fence.at, 1 / (
                       SELECT count(*) = ? AND COALESCE(max(moved.changes) FILTER (WHERE moved.state < ${COMPLETED}), 0) <= 1 FROM moved
                   )::int AS all_as_believed,
                   begun.key, begun.state, begun.epoch, begun.deadline, begun.mails, begun.asked
            FROM fence
            LEFT JOIN moved AS begun ON begun.state IN (${READY}, ${RUNNING})
            """;

    /** The runs that the worker does not take over are ready for any worker. */
    private static final String QUEUED = """
            , queued AS (
                ${enqueue_new(key = g.key, since = fence.at)
                FROM fence
                CROSS JOIN ${claimable}
                JOIN moved ON moved.key = g.key AND moved.state = ${READY}}
            )""";

    public final String start;
    /** The same for {@linkplain RunColumns#isPlain plain} runs and tasks. */
    public final String startPlain;

    public final String end;
    /** The same if the worker does not take over one of the runs that come after them. */
    public final String endAndQueue;

    LocalDagSql(Schema schema) {
        String start = START.replace("${inputs}", LocalDagStarts.INPUTS.many("g"));
        this.start = Pieces.sql(schema, start.replace("${new_runs}", LocalDagStarts.COLUMNS.many("g")));
        this.startPlain = Pieces.sql(schema, start.replace("${new_runs}", LocalDagStarts.PLAIN.many("g")));
        String end = END.replace("${touched}", LocalDagEnds.TOUCHED.many("g"))
                .replace("${outcomes}", Moves.OUTCOMES.many("g"));
        this.end = Pieces.sql(schema, end.replace("${queued}", ""));
        this.endAndQueue = Pieces.sql(
                schema, end.replace("${queued}", QUEUED).replace("${claimable}", LocalDagEnds.CLAIMABLE.many("g")));
    }
}
