package dev.perdure.postgres.removal;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;
import java.util.ArrayList;
import java.util.List;

/** The statements that remove old runs. The rules of {@link LedgerSql} apply. */
public final class RemovalSql {
    /**
     * The tables with rows of a run, apart from its input and its outcome. Each has an index that begins with the run's
     * key.
     */
    private static final List<String> DETAILS = List.of(
            "event",
            "mail",
            "awakeable",
            "subscription",
            "publication",
            "slot",
            "takeover",
            "attribute",
            "report",
            "log_line");

    private static final String INFO = """
            SELECT next_at, began_at, looked, removed, ${declared} AS declared, ${changed} AS changed,
                   next_at <= g.now AS passing, next_at <= g.now OR ${tree_due} AS due
            FROM (SELECT ${now} AS now) g
            CROSS JOIN ${schema}.retention
            """;

    private static final String DECLARE = """
            WITH done AS (
                UPDATE ${schema}.retention SET declared = ?::jsonb, next_at = to_timestamp(0)
                WHERE declared IS DISTINCT FROM ?::jsonb
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /** A change takes effect with the next batch. What changes nothing is not recorded. */
    private static final String CHANGE = """
            WITH done AS (
                UPDATE ${schema}.retention SET
                    changed = g.changes, next_at = to_timestamp(0), reached_at = to_timestamp(0), reached_key = 0
                FROM (SELECT ?::jsonb AS changes) g
                WHERE retention.changed IS DISTINCT FROM g.changes
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM done
            """;

    /** Takes the turn, if no other worker has it and a batch is due. */
    private static final String TURN = """
            SELECT g.now, next_at, reached_at, reached_key, looked, removed, ${declared} AS declared, ${changed} AS changed
            FROM (SELECT ${now} AS now) g
            CROSS JOIN ${schema}.retention
            WHERE next_at <= g.now OR ${tree_due}
            FOR UPDATE OF retention SKIP LOCKED
            """;

    private static final String REACHED = """
            WITH done AS (
                UPDATE ${schema}.retention SET
                    reached_at = COALESCE(?::timestamptz, to_timestamp(0)), reached_key = ?, looked = ?, removed = ?,
                    began_at = CASE WHEN reached_key = 0 THEN ?::timestamptz ELSE began_at END,
                    next_at = ?::timestamptz
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String NAMED = """
            (SELECT true FROM ${schema}.start_key k WHERE k.run = r.key LIMIT 1) IS NOT NULL
                   OR (SELECT true FROM ${schema}.start_key k WHERE k.after = r.key LIMIT 1) IS NOT NULL""";

    /** Runs with all that decides whether they may go. */
    private static final String LOOK = """
            SELECT r.key, r.epoch, r.state, r.created_at, r.changed_at, r.definition, r.queue, r.restarts, COALESCE(r.parent, 0) AS parent,
                   COALESCE(r.removed_at < 'infinity', false) AS stripped, ${belongs} AS belongs, ${kept} AS kept,
                   ${parental} AS parental,
                   r.state >= ${COMPLETED} AND (${named}) AS named
            FROM (
                ${runs}
            ) r
            """;

    private static final String PARENTAL =
            "r.state >= ${COMPLETED} AND (SELECT true FROM ${schema}.run WHERE run.parent = r.key LIMIT 1) IS NOT NULL";

    private static final String IN_ORDER = "ORDER BY r.created_at, r.key";

    /** Whether a run stays with its parent, if that is there. */
    private static final String KEPT = """
            r.state >= ${COMPLETED} AND r.parent IS NOT NULL AND r.parent_position IS DISTINCT FROM ${REPORTING} AND (
                       SELECT true FROM ${schema}.run p
                       WHERE p.key = r.parent AND (r.before IS NOT NULL OR p.restarts = r.parent_restarts)
                       LIMIT 1
                   ) IS NOT NULL""";

    /** Whether a run is a child or a task of a run in its present life. One that only reports its end is neither. */
    private static final String BELONGS = """
            r.parent_position IS DISTINCT FROM ${REPORTING} AND (r.before IS NOT NULL OR r.parent_restarts = ${life})""";

    /**
     * The next runs in the order of their starts. The index has no keys, so those of the last start are sorted here: a sort by both columns
     * would read all runs behind the place.
     */
    private static final String NEXT = """
            SELECT * FROM (
                    SELECT * FROM ${schema}.run
                    WHERE created_at >= ?::timestamptz AND (created_at, key) > (?::timestamptz, ?) AND created_at <= ?::timestamptz
                    ORDER BY created_at
                    FETCH FIRST ? ROWS WITH TIES
                ) tied
                ORDER BY created_at, key
                LIMIT ?""";

    /**
     * One run, if it is the one that the sender saw, in the same state since. One that is there although the entry tells
     * that it was deleted has got its id since.
     */
    private static final String NAMED_RUN = """
            SELECT * FROM ${schema}.run
                WHERE id = ? AND created_at = ?::timestamptz AND changed_at = ?::timestamptz
                  AND (removed_at = 'infinity' OR NOT EXISTS (SELECT FROM ${schema}.audit a WHERE a.id = ?::uuid))""";

    private static final String PARENT =
            "SELECT p.id FROM ${schema}.run r JOIN ${schema}.run p ON p.key = r.parent WHERE r.key = ?";

    /** Records that an operator has deleted a run. */
    private static final String DELETED = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS audit, ?::timestamptz AS moved_at, (?::bigint & 255)::smallint AS partition
            ), audited AS (
                ${audit FROM given}
            )
            SELECT count(*) FROM given
            """;

    private static final String CLOCK = "SELECT ${now} AS now";

    private static final String BY_KEY = "SELECT * FROM ${schema}.run WHERE key = ?";

    /** The next runs that one run has started, in the order of their starts. */
    private static final String BELOW = """
            SELECT * FROM ${schema}.run
                WHERE parent = ? AND (created_at, key) > (?::timestamptz, ?)
                ORDER BY created_at, key
                LIMIT ?""";

    /**
     * What is below each of these runs, itself first. What does not belong to it is counted, too, but nothing below that: so the limit
     * bounds what is read.
     */
    private static final String MEMBERS = """
            SELECT g.root, r.key, r.epoch, r.state, r.changed_at, r.definition, r.queue, r.stripped, r.belongs, ${named} AS named
            FROM unnest(?::bigint[]) AS g (root)
            CROSS JOIN LATERAL (
                WITH RECURSIVE member AS (
                    SELECT key, epoch, state, changed_at, definition, queue, restarts, true AS belongs,
                           COALESCE(removed_at < 'infinity', false) AS stripped
                    FROM ${schema}.run WHERE key = g.root
                    UNION ALL
                    SELECT r.key, r.epoch, r.state, r.changed_at, r.definition, r.queue, r.restarts, COALESCE(${belongs}, false),
                           COALESCE(r.removed_at < 'infinity', false)
                    FROM member m
                    CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.parent = m.key OFFSET 0) r
                    WHERE m.belongs
                )
                SELECT * FROM member
            ) r
            LIMIT ?
            """;

    /** From now on, neither the run nor any that belongs to it continues, if no other transaction has the run and it is as it was. */
    private static final String CLOSE = """
            WITH locked AS MATERIALIZED (
                SELECT key FROM ${schema}.run
                WHERE run.key = ? AND run.epoch = ? AND run.state >= ${COMPLETED}
                  AND NOT EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = run.partition)
                FOR UPDATE SKIP LOCKED
            ), closed AS (
                UPDATE ${schema}.run SET removed_at = 'infinity'
                WHERE run.key = ANY (ARRAY(SELECT key FROM locked)) AND run.removed_at IS NULL
            )
            SELECT count(*) FROM locked
            """;

    private static final String TREE = "root, asked, stage, remembered, parent, after_at, after_key";

    private static final String TREE_DUE = "EXISTS (SELECT FROM ${schema}.removal WHERE removal.next_at <= g.now)";

    /** Sets a tree aside, if it is not. What an operator has asked for begins anew, unless runs are being removed already. */
    private static final String ASIDE = """
            WITH done AS (
                INSERT INTO ${schema}.removal (root, asked, stage, remembered, parent, next_at)
                SELECT g.root, g.asked, g.stage, g.remembered, g.root, g.at
                FROM (SELECT ?::bigint AS root, ?::boolean AS asked, ?::smallint AS stage, ?::boolean AS remembered, ?::timestamptz AS at) g
                ON CONFLICT (root) DO UPDATE SET
                    asked = true, stage = excluded.stage, parent = excluded.parent, after_at = DEFAULT, after_key = DEFAULT
                WHERE excluded.asked AND NOT removal.asked AND removal.stage < ${REMOVING}
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String ONE_TREE = "SELECT ${tree} FROM ${schema}.removal WHERE root = ? FOR UPDATE";

    /** The tree whose turn it is. */
    private static final String NEXT_TREE = """
            SELECT ${tree} FROM ${schema}.removal WHERE next_at <= ?::timestamptz ORDER BY next_at, root LIMIT 1 FOR UPDATE SKIP LOCKED
            """;

    private static final String STEP = """
            WITH done AS (
                UPDATE ${schema}.removal SET
                    stage = ?, remembered = ?, parent = ?, after_at = ?::timestamptz, after_key = ?, next_at = ?::timestamptz
                WHERE root = ?
                RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    private static final String FORGET_TREE = """
            WITH done AS (
                DELETE FROM ${schema}.removal WHERE root = ? RETURNING 1
            )
            SELECT count(*) FROM done
            """;

    /**
     * Locks runs that are still as they were. Leaves out those that another transaction has locked, and those of a partition
     * that moves: the keys that name them are set aside.
     */
    private static final String LOCK = """
            SELECT r.key
            FROM unnest(?::bigint[], ?::bigint[]) AS g (key, epoch)
            CROSS JOIN LATERAL (
                SELECT key FROM ${schema}.run
                WHERE run.key = g.key AND run.epoch = g.epoch AND run.state >= ${COMPLETED}
                  AND NOT EXISTS (SELECT FROM ${schema}.closed_partition c WHERE c.number = run.partition)
                FOR UPDATE SKIP LOCKED
            ) r
            """;

    private static final String MARK = """
            WITH marked AS (
                UPDATE ${schema}.run SET removed_at = ?::timestamptz WHERE run.key = ANY (?::bigint[]) RETURNING 1
            )
            SELECT count(*) FROM marked
            """;

    /** Deletes rows of these runs, no more than a number of them at once. */
    private static final String DELETE = """
            WITH gone AS (
                DELETE FROM ${schema}.${table} WHERE ctid = ANY (ARRAY(
                    SELECT found.ctid
                    FROM unnest(?::bigint[]) AS g (key)
                    CROSS JOIN LATERAL (SELECT ctid FROM ${schema}.${table} t WHERE t.key = g.key ${condition} OFFSET 0) found
                    LIMIT ?))
                RETURNING 1
            )
            SELECT count(*) FROM gone
            """;

    /**
     * Deletes the calls, and their objects if these are free and have no state. A batch that is about to use such an
     * object notices that its row is gone, and is sent again.
     */
    private static final String CALLS = """
            WITH called AS MATERIALIZED (
                SELECT c.place, c.object_type, c.object_key
                FROM unnest(?::bigint[]) AS g (key)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place, object_type, object_key FROM ${schema}.object_call WHERE object_call.key = g.key OFFSET 0
                ) c
            ), gone AS (
                DELETE FROM ${schema}.object_call WHERE ctid = ANY (ARRAY(SELECT place FROM called))
            ), free AS MATERIALIZED (
                SELECT o.place
                FROM (SELECT DISTINCT object_type, object_key FROM called) c
                CROSS JOIN LATERAL (
                    SELECT ctid AS place FROM ${schema}.object
                    WHERE object.type = c.object_type AND object.key = c.object_key AND object.holder IS NULL
                    FOR UPDATE SKIP LOCKED
                ) o
                WHERE (
                    SELECT true FROM ${schema}.object_state s
                    WHERE s.object_type = c.object_type AND s.object_key = c.object_key
                    LIMIT 1
                ) IS NULL
            ), vanished AS (
                DELETE FROM ${schema}.object WHERE ctid = ANY (ARRAY(SELECT place FROM free)) AND holder IS NULL RETURNING 1
            )
            SELECT count(*) FROM vanished
            """;

    private static final String AUDIT = """
            WITH gone AS (
                DELETE FROM ${schema}.audit WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM ${schema}.audit WHERE at <= ?::timestamptz ORDER BY at LIMIT ?))
                RETURNING 1
            )
            SELECT count(*) FROM gone
            """;

    final String audit;
    final String info;
    final String declare;
    final String change;
    final String turn;
    final String reached;
    final String look;
    final String find;
    final String parent;
    final String deleted;
    final String clock;
    final String parentOfOthers;
    final String below;
    final String members;
    final String close;
    final String aside;
    final String tree;
    final String nextTree;
    final String step;
    final String forgetTree;
    final String lock;
    final String mark;
    final List<String> details;
    final String calls;
    final String payloads;
    final String runs;

    public RemovalSql(Schema schema) {
        this.audit = sql(schema, AUDIT);
        this.info = sql(schema, INFO);
        this.declare = sql(schema, DECLARE);
        this.change = sql(schema, CHANGE);
        this.turn = sql(schema, TURN);
        this.reached = sql(schema, REACHED);
        String look =
                LOOK.replace("${belongs}", "true").replace("${kept}", KEPT).replace("${parental}", PARENTAL);
        this.look = sql(schema, look.replace("${runs}", NEXT) + IN_ORDER);
        this.find = sql(schema, look.replace("${runs}", NAMED_RUN));
        // Rows below it that are gone stay in the index for a while: so it is not asked again whether there are others.
        this.parentOfOthers = sql(
                schema,
                LOOK.replace("${belongs}", "true")
                        .replace("${kept}", KEPT)
                        .replace("${parental}", "true")
                        .replace("${runs}", BY_KEY));
        String below = LOOK.replace("${belongs}", "COALESCE(" + BELONGS.replace("${life}", "?") + ", false)");
        this.below = sql(
                schema,
                below.replace("${kept}", "false")
                                .replace("${parental}", PARENTAL)
                                .replace("${runs}", BELOW)
                        + IN_ORDER);
        this.parent = sql(schema, PARENT);
        this.deleted = sql(schema, DELETED);
        this.clock = sql(schema, CLOCK);
        this.members = sql(schema, MEMBERS.replace("${belongs}", BELONGS.replace("${life}", "m.restarts")));
        this.close = sql(schema, CLOSE);
        this.aside = sql(schema, ASIDE.replace("${REMOVING}", String.valueOf(Tree.Stage.REMOVING.ordinal())));
        this.tree = sql(schema, ONE_TREE);
        this.nextTree = sql(schema, NEXT_TREE);
        this.step = sql(schema, STEP);
        this.forgetTree = sql(schema, FORGET_TREE);
        this.lock = sql(schema, LOCK);
        this.mark = sql(schema, MARK);
        List<String> tables = new ArrayList<>();
        tables.add(delete(schema, "journal", "AND t.position <> 0 AND t.position < ${OUTCOME}"));
        DETAILS.forEach(table -> tables.add(delete(schema, table, "")));
        this.details = List.copyOf(tables);
        this.calls = sql(schema, CALLS);
        this.payloads = delete(schema, "journal", "");
        this.runs = delete(schema, "run", "");
    }

    private static String delete(Schema schema, String table, String condition) {
        return sql(schema, DELETE.replace("${table}", table).replace("${condition}", condition));
    }

    private static String sql(Schema schema, String statement) {
        return Pieces.sql(
                schema,
                statement
                        .replace("${named}", NAMED)
                        .replace("${tree}", TREE)
                        .replace("${tree_due}", TREE_DUE)
                        .replace("${audited}", AuditText.WHEN_DONE)
                        .replace("${declared}", Json.pairs("declared"))
                        .replace("${changed}", Json.pairs("changed")));
    }
}
