package dev.perdure.postgres.inbox;

import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Schema;

/** The statements of the inbox. A caller only inserts. A worker that takes rows skips locked ones. */
public final class InboxSql {
    private static final String PUT = """
            WITH put AS (
                INSERT INTO ${schema}.inbox (${columns})
                SELECT ${columns} FROM ${rows}
                RETURNING number, id, seed
            )${tasks}
            SELECT ${answer}
            """;

    /** The tasks of starts, which are identified by id and seed. */
    private static final String TASKS = """
            , tasks AS (
                INSERT INTO ${schema}.inbox_task (number, seed, timeout, place, priority, weight, id, definition, queue, version, after, input)
                SELECT put.number, t.seed, t.timeout, t.place, t.priority, t.weight, t.id, t.definition, t.queue, t.version,
                       t.after::integer[], t.input
                FROM ${task_rows}
                JOIN put ON put.id = t.run AND put.seed = t.run_seed
            )""";

    private static final String COUNT = "count(*) FROM put";
    private static final String NOTIFY = "pg_notify(?, ?)";

    /**
     * Takes happen one after another, so that each sees the marks of the takes before it: its snapshot is made after
     * the lock.
     */
    private static final String TURN = "SELECT true FROM ${schema}.inbox_lock FOR UPDATE";

    /**
     * Marks rows before they are applied; they are deleted afterwards. If a worker dies in between, another can apply
     * all of them again. While a row is marked, later rows of the same run wait, so that one worker at a time has them.
     * A start waits only for starts under its own key, because other requests may wait for its run.
     */
    private static final String TAKE = """
            UPDATE ${schema}.inbox SET taken_until = clock_timestamp() + interval '5 seconds'
            WHERE number = ANY (ARRAY(
                SELECT number FROM ${schema}.inbox i
                WHERE (taken_until IS NULL OR taken_until < now())
                  AND (wish = ${START} OR NOT EXISTS (
                      SELECT FROM ${schema}.inbox e WHERE e.id = i.id AND e.number < i.number AND e.taken_until >= now()))
                  AND (start_key IS NULL OR NOT EXISTS (
                      SELECT FROM ${schema}.inbox e
                      WHERE e.definition = i.definition AND e.start_key = i.start_key AND e.number < i.number
                        AND e.taken_until >= now()))
                ORDER BY number
                LIMIT 500
                FOR UPDATE SKIP LOCKED))
            RETURNING number, ${returned}
            """;

    /** The tasks that start with some of them. */
    private static final String TASKS_OF = """
            SELECT number, seed, timeout, priority, weight, id, definition, queue, version, after, input
            FROM ${schema}.inbox_task
            WHERE number = ANY (?::bigint[])
            ORDER BY number, place
            """;

    /**
     * Deletes the rows that are done. A row for a run that does not exist stays for a minute, because another worker
     * may be about to start that run. Returns the rows that it deletes although their run does not exist.
     */
    private static final String DONE = """
            WITH given AS MATERIALIZED (
                SELECT ?::bigint[] AS numbers, ?::bigint[] AS early
            ), done AS (
                DELETE FROM ${schema}.inbox
                WHERE number = ANY ((SELECT numbers FROM given)::bigint[])
                  AND (number <> ALL ((SELECT early FROM given)::bigint[]) OR at < now() - interval '1 minute')
                RETURNING number, tasks
            ), tasks AS (
                DELETE FROM ${schema}.inbox_task
                WHERE number = ANY (ARRAY(SELECT number FROM done WHERE tasks > 0))
            )
            SELECT number FROM done WHERE number = ANY ((SELECT early FROM given)::bigint[])
            """;

    public final String put;
    final String putAndNotify;
    final String putTasks;
    final String putTasksAndNotify;
    final String take;
    final String tasksOf;
    final String done;

    public InboxSql(Schema schema) {
        this.put = schema.sql(put("", COUNT));
        this.putAndNotify = schema.sql(put("", NOTIFY));
        this.putTasks = schema.sql(put(TASKS, COUNT));
        this.putTasksAndNotify = schema.sql(put(TASKS, NOTIFY));
        this.take = String.join(";\n", schema.sql(TURN), schema.sql(TAKE.replace("${returned}", returned())));
        this.tasksOf = schema.sql(TASKS_OF);
        this.done = schema.sql(DONE);
    }

    private static String put(String tasks, String answer) {
        return PUT.replace("${tasks}", tasks)
                .replace("${answer}", answer)
                .replace("${columns}", InboxColumns.names())
                .replace("${rows}", InboxColumns.many("g"))
                .replace("${task_rows}", InboxTasks.COLUMNS.many("t"));
    }

    /** All columns unchanged, except attributes, which are read as pairs. */
    private static String returned() {
        return InboxColumns.names().replace("attributes", Descriptions.pairs("attributes") + " AS attributes");
    }

    /** Inserts requests, with or without tasks. */
    public String put(boolean tasks, boolean notifies) {
        if (tasks) {
            return notifies ? putTasksAndNotify : putTasks;
        }
        return notifies ? putAndNotify : put;
    }
}
