package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.reaction.ReactionSql;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.NewRuns;

/**
 * The statements of a batch.
 *
 * <p>How it works: a batch is one execute of several of these statements and of those in {@link LockSql},
 * {@link MoveSql}, {@link CommandSql}, {@link OwnSql}, {@link MailSql} and {@link DagSql}, in the order of its plan,
 * without those that it does not need. Sent as one autocommit execute, they are one round trip, one transaction and one
 * commit. Under READ COMMITTED each statement sees the changes for which the ones before it waited.
 *
 * <p>The driver can split one execute. Before a statement that it knows to return a column of unbounded size (a text,
 * an array) it inserts a Sync, to avoid deadlocks of full buffers, and a Sync commits. So all of these statements
 * except the last return only columns of fixed size, and texts are read back where they are needed. A test checks this.
 *
 * <p>Fence: the first statement locks the lane FOR KEY SHARE, and none of them changes anything without the lane. Until
 * the commit no transaction can delete the lane, so no sweep can have taken the worker's runs. Therefore an append does
 * not read the run. A move also checks owner and epoch on the row, because its answer depends on the rest of the row.
 *
 * <p>Lock order: lane, then virtual objects, then runs by key, each in one pass. Rows of held, ready, timer and event
 * are changed only by a transaction that has locked their run. Claims and due timers go from these rows to the run, in
 * the opposite order: they skip locked rows and never wait.
 *
 * <p>The server makes plans once, often while tables are empty, and keeps them. So no statement leaves the planner a
 * choice that is right for ten rows and ruinous for a million. Rows are looked up by LATERAL with OFFSET 0 (never
 * flattened into a join). They are changed by INSERT … ON CONFLICT DO UPDATE (always by the index, where UPDATE … FROM
 * may scan), or by the row locations that were looked up before; so are deleted rows. {@link #settings} handles the
 * rest.
 *
 * <p>Entries are nearly always new: only a batch whose answer was lost brings them again. Handling that case makes an
 * insert two thirds more expensive, so {@link #append} and {@link MoveSql#end} do not, and fail as a whole if an entry
 * exists. Then the batch is sent again, carefully.
 */
public final class LedgerSql {
    /**
     * For this transaction only. A batch that meets a locked run gives up soon and is sent again in pieces. Without
     * sequential scans, a lookup that was planned on an empty table still uses the index when the table has grown.
     * Without bitmap scans, it reads, and locks, rows in the order of their keys. Without nested loops, two lists of
     * the same batch are joined by hash. (LATERAL only supports nested loops, so it keeps them.) Such plans look
     * expensive. That must not make the server plan again each time in search of a cheaper plan: for a single
     * completion, that took twenty times as long as its execution.
     */
    private static final String SETTINGS = """
            SELECT length(set_config('lock_timeout', ?, true)) + length(set_config('enable_seqscan', 'off', true))
                 + length(set_config('enable_bitmapscan', 'off', true)) + length(set_config('enable_nestloop', 'off', true))
                 + length(set_config('plan_cache_mode', 'force_generic_plan', true)) AS done
            """;

    /** Leaves existing rows unchanged. */
    static final String CAREFULLY = "ON CONFLICT DO NOTHING";

    /**
     * Appends entries. In careful mode, existing entries stay unchanged, and the count shows that there were some; the
     * number of this transaction shows which, when they are read back. Returns no row if the lane is gone.
     */
    private static final String APPEND = """
            WITH fence AS MATERIALIZED (${lane(${now} AS at)}), appended AS (
                ${append FROM fence CROSS JOIN ${entries}}
                ${carefully}
                RETURNING 1
            )
            SELECT at, (SELECT count(*) FROM appended) AS entries, pg_current_xact_id()::xid::text::bigint AS transaction FROM fence
            """;

    /**
     * Starts runs. Skips an id that exists; the answer then lists the keys that were not used. A run that a transition
     * starts needs the right of that transition, as in {@link MailSql}.
     */
    private static final String START = """
            WITH ${fence}, ${clock}, given AS MATERIALIZED (
                SELECT g.*, (SELECT restarts FROM ${schema}.run WHERE run.key = g.parent) AS parent_restarts
                FROM ${new_runs}
                WHERE (?::int IS NULL OR EXISTS (SELECT FROM fence))
                  AND (g.starter_epoch IS NULL OR (
                      SELECT s.state = ${RUNNING} AND s.epoch = g.starter_epoch AND s.owner = ?
                      FROM ${schema}.run s WHERE s.key = g.starter))
            ), started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, wake_at, deadline, owner,
                    partition, state, parent, parent_position, parent_restarts, open, after, timeout)
                SELECT ${run_columns}, key, CASE WHEN owner IS NULL THEN 0 ELSE 1 END, at, at,
                       CASE WHEN owner IS NULL THEN at + delay * interval '1 microsecond' END,
                       at + timeout * interval '1 microsecond', owner, key & 255,
                       CASE WHEN after IS NOT NULL THEN ${PENDING}
                            WHEN owner IS NOT NULL THEN ${RUNNING}
                            WHEN delay IS NOT NULL THEN ${SUSPENDED}
                            ELSE ${READY} END,
                       parent, parent_position, parent_restarts,
                       cardinality(after::bigint[]), after::bigint[], CASE WHEN after IS NOT NULL THEN timeout END
                FROM given CROSS JOIN clock
                ON CONFLICT (id) DO NOTHING
                RETURNING key, partition, state, wake_at, owner, created_at, priority, queue, definition, version, placement, queue_key
            ), inputs AS (
                ${input(key = s.key, partition = s.partition, at = s.created_at)
                FROM started s JOIN given g ON g.key = s.key}
            ), taken AS (
                ${hold FROM started WHERE state = ${RUNNING}}
            ), timed AS (
                ${set_timer FROM started WHERE state = ${SUSPENDED}}
            ), queued AS (
                ${enqueue_new FROM started WHERE state = ${READY}}
            )
            SELECT EXISTS (SELECT FROM fence) AS lane, clock.at, there_before.key
            FROM clock
            LEFT JOIN LATERAL (
                SELECT key FROM given
                WHERE (SELECT count(*) FROM started) < ? AND key NOT IN (SELECT key FROM started)
            ) there_before ON true
            """;

    /**
     * Inserts the time limits of runs that were just started and have not begun. Runs that existed before have other
     * keys.
     */
    private static final String LIMIT = """
            WITH limited AS (
                INSERT INTO ${schema}.start_limit (due_at, key, within, partition)
                SELECT r.created_at + g.from_start * interval '1 microsecond', r.key, g.within, r.partition
                FROM ${limits}
                CROSS JOIN LATERAL (
                    SELECT key, partition, created_at FROM ${schema}.run WHERE run.key = g.key AND run.epoch = 0 OFFSET 0
                ) r
                RETURNING 1
            )
            SELECT count(*) FROM limited
            """;

    /** Reads back runs that existed before a start. */
    private static final String EXISTING = """
            SELECT g.ordinal, r.key, r.definition, r.seed, r.created_at, r.owner, r.epoch, r.state,
                   -- The first input of a restarted run is gone. A task without an input has the input of its run.
                   r.restarts > 0 OR COALESCE(i.payload, (
                       SELECT j.payload FROM ${schema}.journal j WHERE j.key = r.parent AND j.position = 0
                   )) = g.input AS same_input
            FROM unnest(?::text[], ?::bytea[]) WITH ORDINALITY AS g (id, input, ordinal)
            CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
            LEFT JOIN LATERAL (SELECT payload FROM ${schema}.journal j WHERE j.key = r.key AND j.position = 0 OFFSET 0) i ON true
            """;

    /** The requests for a run. */
    private static final String CONTROL = "SELECT wakes, mails, cancel, kill, pause FROM ${schema}.run WHERE key = ?";

    /** Reads back entries that existed before: their times, and whether they have the same bytes. */
    private static final String THERE = """
            SELECT g.ordinal, j.at, j.payload = g.payload AS same_payload, j.transaction
            FROM ${places}
            CROSS JOIN LATERAL (
                SELECT at, payload, xmin::text::bigint AS transaction FROM ${schema}.journal j
                WHERE j.key = g.key AND j.position = g.position AND j.note = g.note OFFSET 0
            ) j
            """;

    /** For statements that only read: they wait only for a change of the table's definition. */
    public static final String NO_LOCK_TIMEOUT = "0";

    public final String settings;
    public final String append;
    final String carefulAppend;
    public final String start;
    public final String limit;
    final String existing;
    final String there;
    final String control;
    public final LockSql locks;
    final DescriptionSql descriptions;
    public final MoveSql moves;
    public final CommandSql commands;
    public final OwnSql own;
    public final LocalDagSql localDag;
    public final MailSql mail;
    public final ElsewhereSql elsewhere;
    public final ObjectSql objects;
    public final CompletedCallSql completedCall;
    public final FreeCallSql free;
    public final DagSql dag;
    public final ReactionSql reactions;

    public LedgerSql(Schema schema) {
        this.settings = Pieces.sql(schema, SETTINGS);
        this.append = Pieces.sql(schema, APPEND.replace("${carefully}", ""));
        this.carefulAppend = Pieces.sql(schema, APPEND.replace("${carefully}", CAREFULLY));
        this.start = Pieces.sql(schema, START.replace("${new_runs}", NewRuns.COLUMNS.many("g")));
        this.limit = Pieces.sql(schema, LIMIT.replace("${limits}", NewRuns.LIMITS.many("g")));
        this.existing = Pieces.sql(schema, EXISTING);
        this.there = Pieces.sql(schema, THERE.replace("${places}", Entries.PLACES.numbered("g")));
        this.control = Pieces.sql(schema, CONTROL);
        this.locks = new LockSql(schema);
        this.descriptions = new DescriptionSql(schema);
        this.moves = new MoveSql(schema);
        this.commands = new CommandSql(schema);
        this.own = new OwnSql(schema);
        this.localDag = new LocalDagSql(schema);
        this.mail = new MailSql(schema);
        this.elsewhere = new ElsewhereSql(schema);
        this.objects = new ObjectSql(schema);
        this.completedCall = new CompletedCallSql(schema);
        this.free = new FreeCallSql(schema);
        this.dag = new DagSql(schema);
        this.reactions = new ReactionSql(schema);
    }
}
