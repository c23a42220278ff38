package dev.perdure.postgres;

/**
 * The statements for a change that is alone and tells a run something that some worker has in memory, which is how runs talk
 * to each other while nothing else goes on. To those of {@link MailSql} they are what {@link LoneSql} is to {@link LedgerSql}: no row
 * comes back, and nothing was done, when the run is not in memory or the lane is gone, and mail that is there already meets a
 * unique index.
 *
 * <p>Whether the run's row in {@code held} can be seen yet is not known, as the run may have been claimed since the statement began:
 * so it is woken by an insert that finds it in any case.
 */
final class LoneTalkSql {
    private static final String FENCE = """
            fence AS MATERIALIZED (
                SELECT FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE
            )""";

    private static final String WOKEN = """
            woken AS (
                INSERT INTO ${schema}.held AS h (key, worker, partition, woken)
                SELECT key, owner, partition, true FROM told
                ON CONFLICT (worker, key, partition) DO UPDATE SET woken = true
            )""";

    /** What the teller has read, and what he has to say of it. */
    private static final String NOTED = """
            took AS (
                UPDATE ${schema}.mail SET taken = true, payload = CASE WHEN channel = ${MESSAGE} THEN '' ELSE payload END
                WHERE key = ? AND number = ANY (?::bigint[]) AND NOT taken AND EXISTS (SELECT FROM told)
            ), appended AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT e.key, e.position, e.note, e.key & 255, told.at, e.kind, e.status, e.name, e.payload
                FROM told
                CROSS JOIN unnest(?::bigint[], ?::int[], ?::smallint[], ?::smallint[], ?::smallint[], ?::text[], ?::bytea[])
                    AS e (key, position, note, kind, status, name, payload)
            )""";

    private static final String TOLD = """
            at, (SELECT w.id FROM ${schema}.worker w WHERE w.number = told.owner) AS signalled,
                   owner, key, epoch, wakes AS wakes_now, mails AS mails_now""";

    /** Delivers one mail. */
    private static final String DELIVER = """
            WITH ${fence}, told AS (
                UPDATE ${schema}.run SET wakes = wakes + 1, mails = mails + 1
                WHERE id = ? AND partition = ?::smallint AND state = ${RUNNING} AND (?::int IS NULL OR restarts = ?::int)
                  AND (?::int IS NULL OR EXISTS (SELECT FROM fence))
                RETURNING key, partition, restarts, owner, epoch, wakes, mails, COALESCE(?::timestamptz, now()) AS at
            ), put AS (
                INSERT INTO ${schema}.mail (key, at, number, partition, restarts, channel, position, name, token, status, text, payload)
                SELECT told.key, told.at, told.mails, told.partition, CASE WHEN g.channel = ${ANSWER} THEN told.restarts ELSE 0 END, g.*
                FROM told
                CROSS JOIN (
                    SELECT ?::smallint AS channel, ?::int, ?::text, ?::uuid, ?::smallint, ?::text, ?::bytea
                ) g
            ), ${woken}${noted}
            SELECT ${told} FROM told
            """;

    /**
     * Ends one run with a result and brings that to its parent. The parent is locked before the child, which is the order of
     * their keys; where it is not, as with parents that were started elsewhere, this does nothing. That the child is still held
     * needs no second look: nobody can give it away while the lane is locked.
     */
    private static final String END = """
            WITH ${fence}, child AS MATERIALIZED (
                SELECT key, partition, state, changes, changed_at, reason, parent, parent_position, parent_restarts,
                       (lpad(to_hex(key), 16, '0') || lpad(to_hex(seed), 16, '0'))::uuid AS token
                FROM ${schema}.run
                WHERE key = ? AND state = ${RUNNING} AND epoch = ? AND owner = ? AND parent_position IS NOT NULL
                  AND EXISTS (SELECT FROM fence)
            ), told AS (
                UPDATE ${schema}.run AS p SET wakes = wakes + 1, mails = mails + 1
                WHERE p.key = (SELECT parent FROM child) AND p.state = ${RUNNING} AND p.key < ?
                  AND p.restarts = (SELECT parent_restarts FROM child)
                RETURNING key, partition, restarts, owner, epoch, wakes, mails, COALESCE(?::timestamptz, now()) AS at
            ), put AS (
                INSERT INTO ${schema}.mail (key, token, at, number, position, restarts, partition, channel, status, name, text, payload)
                SELECT told.key, child.token, at, told.mails, child.parent_position, told.restarts, told.partition,
                       ${ANSWER}, ${VALUE}, '', '', ?::bytea
                FROM told CROSS JOIN child
            ), ${woken}${noted}, let_go AS (
                DELETE FROM ${schema}.held WHERE worker = ? AND key = ? AND EXISTS (SELECT FROM told)
            ), ended AS (
                UPDATE ${schema}.run SET
                    changed_at = COALESCE(?::timestamptz, now()), owner = NULL, changes = changes + 1, state = ${COMPLETED},
                    reason = NULL, ran_at = CASE WHEN changes > 0 THEN changed_at END
                WHERE key = ? AND EXISTS (SELECT FROM told)
            )
            SELECT ${told},
                   (SELECT parent_position FROM child) AS position, (SELECT token FROM child) AS token
            FROM told
            """;

    /** For somebody outside. */
    final String settingsAndDeliver;
    /** For a transition that stays, and that notes what it has read. */
    final String settingsAndSend;

    final String settingsAndEnd;

    LoneTalkSql(Schema schema, LedgerSql ledger) {
        this.settingsAndDeliver = together(schema, ledger, DELIVER.replace("${noted}", ""));
        this.settingsAndSend = together(schema, ledger, DELIVER);
        this.settingsAndEnd = together(schema, ledger, END);
    }

    private static String together(Schema schema, LedgerSql ledger, String statement) {
        String whole = statement
                .replace("${fence}", FENCE)
                .replace("${woken}", WOKEN)
                .replace("${noted}", ", " + NOTED)
                .replace("${told}", TOLD);
        return String.join(";\n", ledger.settings, schema.sql(whole));
    }
}
