package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.MailColumns;
import dev.perdure.postgres.write.change.RunColumns;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;

/**
 * The statements for a single change, which is what the engine sends when one run is alone in it. The rules of
 * {@link LedgerSql} apply.
 *
 * <p>How it works: for such a change the server needs less time for the rows than for setting up a statement that could
 * do more. So these statements take scalars instead of arrays, touch only what they must, and decide nothing: if the
 * lane is gone or a belief is wrong, no row comes back and nothing was changed. Then the statements of
 * {@link LedgerSql} find out why.
 *
 * <p>Some of them deliver to a run in a worker's memory. It is not known whether that run's row in {@code held} is
 * visible yet, because the run may have been claimed since the statement began. So they wake it by an insert that finds
 * the row in any case.
 */
public final class OneChangeSql {
    /** An entry and the key of its run. */
    public record KeyedEntry(long key, Entry entry) {}

    public static final Columns<KeyedEntry> ENTRY = Columns.<KeyedEntry>of()
            .bigint("key", KeyedEntry::key)
            .integer("position", row -> row.entry().position())
            .smallint("note", row -> row.entry().note())
            .smallint("kind", row -> Codes.of(row.entry().kind()))
            .smallint("status", row -> Codes.of(row.entry().status()))
            .text("name", row -> row.entry().name())
            .bytes("payload", row -> row.entry().payload().bytes());

    /** A run and its key. */
    public record KeyedRun(long key, NewRun run) {}

    public static final Columns<KeyedRun> RUN =
            Columns.<KeyedRun>of().bigint("key", KeyedRun::key).with(RunColumns.TIMED.in(KeyedRun::run));

    /** Appends one entry. */
    private static final String APPEND = """
            ${append FROM (${lane(${now} AS at)}) fence CROSS JOIN ${entry}}
            ON CONFLICT DO NOTHING
            RETURNING at
            """;

    /** Starts one run as running. It may have to wait for another start with the same id, but not for long. */
    private static final String START = """
            WITH started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, owner, partition, state)
                SELECT ${run_columns}, r.key, 1, fence.at, fence.at, fence.at + r.timeout * interval '1 microsecond', fence.worker,
                       r.key & 255, ${RUNNING}
                FROM (
                    ${lane(${now} AS at, worker, set_config('lock_timeout', ?, true))}
                ) fence
                CROSS JOIN ${given}
                ON CONFLICT DO NOTHING
                RETURNING key, partition, created_at, owner
            ), input AS (
                ${input(at = created_at, payload = ?::bytea) FROM started}
            ), taken AS (
                ${hold FROM started}
            )
            SELECT created_at AS at FROM started
            """;

    /** Starts one run that is ready for any worker, for a client. */
    private static final String ENQUEUE = """
            WITH started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, partition, state)
                SELECT ${run_columns}, r.key, 0, clock.at, clock.at, clock.at + r.timeout * interval '1 microsecond',
                       r.key & 255, ${READY}
                FROM (SELECT ${now} AS at, set_config('lock_timeout', ?, true)) clock
                CROSS JOIN ${given}
                ON CONFLICT DO NOTHING
                RETURNING key, partition, created_at, priority, queue, definition, version, placement, queue_key
            ), input AS (
                ${input(at = created_at, payload = ?::bytea) FROM started}
            ), queued AS (
                ${enqueue_new FROM started}
            )
            SELECT created_at AS at FROM started
            """;

    /** For this transaction only: the plan that is kept must look runs up by their index, and not wait for long. */
    private static final String SETTINGS = """
            SELECT length(set_config('lock_timeout', ?, true)) + length(set_config('enable_seqscan', 'off', true)) AS done
            """;

    /** Ends one run whose end concerns no other run. */
    private static final String END = """
            WITH ended AS (
                UPDATE ${schema}.run SET
                    ${end_columns(at = fence.at, state = ?::smallint, reason = ?::text)}
                FROM (
                    ${lane(${now} AS at, worker)}
                ) fence
                WHERE run.key = ?::bigint AND run.partition = ?::smallint
                  AND run.state = ${RUNNING} AND run.epoch = ?::bigint AND run.owner = fence.worker
                RETURNING run.key, run.partition, fence.at
            ), outcome AS (
                ${outcome(payload = ?::bytea) FROM ended}
            ), let_go AS (
                DELETE FROM ${schema}.held
                WHERE worker = ? AND key = ?::bigint AND partition = ?::smallint AND EXISTS (SELECT FROM ended)
            )
            SELECT at FROM ended
            """;

    /** The mails that the sending run has taken, and the entries that it appends. */
    private static final String NOTED = """
            took AS (
                ${take_mail}
                WHERE key = ? AND number = ANY (?::bigint[]) AND NOT taken AND EXISTS (SELECT FROM told)
            ), appended AS (
                ${append(at = told.at) FROM told CROSS JOIN ${entries}}
            )""";

    private static final String TOLD = """
            at, (SELECT w.id FROM ${schema}.worker w WHERE w.number = told.owner) AS signalled,
                   owner, key, epoch, wakes AS wakes_now, mails AS mails_now""";

    /** Delivers one mail. */
    private static final String DELIVER = """
            WITH ${fence}, told AS (
                UPDATE ${schema}.run SET wakes = wakes + 1, mails = mails + 1
                WHERE id = ? AND state = ${RUNNING} AND (?::int IS NULL OR restarts = ?::int)
                  AND (?::int IS NULL OR EXISTS (SELECT FROM fence))
                RETURNING key, partition, restarts, owner, epoch, wakes, mails, ${now} AS at
            ), put AS (
                ${deliver(number = told.mails, restarts = CASE WHEN g.channel = ${ANSWER} THEN told.restarts ELSE 0 END)
                FROM told
                CROSS JOIN ${mail}}
            ), woken AS (${mark_woken FROM told})${noted}
            SELECT ${told} FROM told
            """;

    /**
     * Ends one run with a result and delivers that to its parent. It locks the parent before the child, which is the
     * order of their keys. If it is not, as with parents that were started elsewhere, this does nothing. It need not
     * check again that the worker holds the child: no sweep can take it while the lane is locked.
     */
    private static final String END_AND_ANSWER = """
            WITH ${fence}, child AS MATERIALIZED (
                SELECT key, partition, state, changes, changed_at, reason, parent, parent_position, parent_restarts,
                       (lpad(to_hex(key), 16, '0') || lpad(to_hex(seed), 16, '0'))::uuid AS token
                FROM ${schema}.run
                WHERE key = ? AND state = ${RUNNING} AND epoch = ? AND owner = ? AND parent_position > ${REPORTING}
                  AND EXISTS (SELECT FROM fence)
            ), told AS (
                UPDATE ${schema}.run AS p SET wakes = wakes + 1, mails = mails + 1
                WHERE p.key = (SELECT parent FROM child) AND p.state = ${RUNNING} AND p.key < ?
                  AND p.restarts = (SELECT parent_restarts FROM child)
                RETURNING key, partition, restarts, owner, epoch, wakes, mails, ${now} AS at
            ), put AS (
                ${deliver(
                    key = told.key, number = told.mails, position = child.parent_position, partition = told.partition,
                    channel = ${ANSWER}, status = ${VALUE}, name = '', text = '', payload = ?::bytea, headers = NULL)
                FROM told CROSS JOIN child}
            ), woken AS (${mark_woken FROM told})${noted}, let_go AS (
                DELETE FROM ${schema}.held WHERE worker = ? AND key = ? AND EXISTS (SELECT FROM told)
            ), ended AS (
                UPDATE ${schema}.run SET
                    ${end_columns(at = ${now}, state = ${COMPLETED}, reason = NULL)}
                WHERE key = ? AND EXISTS (SELECT FROM told)
            )
            SELECT ${told},
                   (SELECT parent_position FROM child) AS position, (SELECT token FROM child) AS token
            FROM told
            """;

    public final String append;
    public final String start;
    public final String enqueue;
    public final String settings;
    public final String end;
    /** For a sender outside of runs. */
    public final String deliver;
    /** For a transition that stays and records what it has read. */
    public final String send;

    public final String endAndAnswer;

    public OneChangeSql(Schema schema) {
        this.append = Pieces.sql(schema, APPEND.replace("${entry}", ENTRY.one("e")));
        this.start = Pieces.sql(schema, START.replace("${given}", RUN.one("r")));
        this.enqueue = Pieces.sql(schema, ENQUEUE.replace("${given}", RUN.one("r")));
        this.settings = Pieces.sql(schema, SETTINGS);
        this.end = Pieces.sql(schema, END);
        this.deliver = Pieces.sql(schema, telling(DELIVER.replace("${noted}", "")));
        this.send = Pieces.sql(schema, telling(DELIVER));
        this.endAndAnswer = Pieces.sql(schema, telling(END_AND_ANSWER));
    }

    private static String telling(String statement) {
        return statement
                .replace("${noted}", ", " + NOTED)
                .replace("${mail}", MailColumns.COLUMNS.one("g"))
                .replace("${told}", TOLD);
    }
}
