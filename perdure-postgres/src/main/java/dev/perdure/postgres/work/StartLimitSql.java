package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;

/** The statements for runs that have not begun in time. */
public final class StartLimitSql {
    /** Limits that are due, with the state of their runs. */
    private static final String DUE = """
            SELECT l.due_at, l.key, l.within, r.id, r.definition, r.queue,
                   COALESCE(r.epoch > 0 OR r.state >= ${COMPLETED}, true) AS begun
            FROM ${schema}.start_limit l
            -- A run that has ended may be gone.
            LEFT JOIN LATERAL (SELECT id, definition, queue, epoch, state FROM ${schema}.run WHERE run.key = l.key OFFSET 0) r ON true
            WHERE l.due_at <= ${now}
            ORDER BY l.due_at, l.key
            LIMIT 500
            """;

    private static final String LATE =
            "(SELECT l.key FROM ${schema}.start_limit l WHERE l.due_at <= (SELECT at FROM clock))";

    /** For claims: whether a run r has begun, or may begin now. Otherwise this poll cancels it, or the DAG of the task. */
    static final String IN_TIME =
            "(r.epoch > 0 OR r.key NOT IN ${late} AND (r.before IS NULL OR r.parent NOT IN ${late}))"
                    .replace("${late}", LATE);

    /** Deletes limits that were handled. */
    private static final String DONE = """
            DELETE FROM ${schema}.start_limit WHERE due_at <= ${now} AND key = ANY (?::bigint[]) RETURNING key
            """;

    final String due;
    final String done;

    public StartLimitSql(Schema schema) {
        this.due = Pieces.sql(schema, DUE);
        this.done = Pieces.sql(schema, DONE);
    }
}
