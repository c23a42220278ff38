package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.BatchObjects;
import dev.perdure.postgres.write.change.LocalCalls;
import dev.perdure.postgres.write.change.RunColumns;

/**
 * The statement of a batch for calls of virtual objects that find their objects free or leave them free, and that
 * concern no other run. The rules of {@link LedgerSql} and the beliefs of {@link OwnSql} apply.
 *
 * <p>How it works: one pass takes and frees all objects, in order, by an insert that updates existing rows. It takes an
 * object only if no call holds it; then no call waits for it either. It frees an object only if no call waits. That was
 * looked up before its row was locked, and still holds if no call has arrived since, that is, if the count of arrivals
 * is the same. If all calls that end were started at free objects by this process ({@link LocalCalls}), it looks
 * nothing up: no call waited then, and none has waited since if the count is that of then. Calls for which this does
 * not hold are not touched, nor are their objects. The answer does not name them, and they are sent again with the
 * statements of {@link ObjectSql}.
 */
public final class FreeCallSql {
    private static final String TURN = """
            WITH ${fence_with_time}, coming AS MATERIALIZED (
                SELECT fence.at, fence.worker, g.*
                FROM fence
                CROSS JOIN ${coming}
            ), leaving AS MATERIALIZED (
                ${leaving}
            ), turned AS (
                INSERT INTO ${schema}.object AS o (holder, arrivals, partition, type, key)
                -- If a call begins at an object in the batch that frees it, both are skipped: the object is handed over.
                SELECT DISTINCT ON (type COLLATE "C", object COLLATE "C") holder, arrivals, object_partition, type, object
                FROM (
                    SELECT key AS holder, 0 AS arrivals, object_partition, type, object FROM coming
                    UNION ALL
                    SELECT NULL, arrivals, object_partition, type, object FROM leaving
                ) AS each_once
                ORDER BY type COLLATE "C", object COLLATE "C", holder
                ON CONFLICT (type, key, partition) DO UPDATE SET holder = excluded.holder
                WHERE CASE WHEN excluded.holder IS NULL THEN o.arrivals = excluded.arrivals ELSE o.holder IS NULL END
                RETURNING o.holder, o.arrivals, o.type, o.key AS object
            ), begun AS MATERIALIZED (
                SELECT c.*, t.arrivals FROM coming c JOIN turned t ON t.holder = c.key
            ), ended AS MATERIALIZED (
                SELECT l.* FROM leaving l JOIN turned t ON t.type = l.type AND t.object = l.object AND t.holder IS NULL
            ), started AS (
                INSERT INTO ${schema}.run (${run_columns}, key, epoch, created_at, changed_at, deadline, owner, partition, state)
                SELECT ${run_columns}, key, 1, at, at, at + timeout * interval '1 microsecond', worker, key & 255, ${RUNNING}
                FROM begun
            ), called AS (
                ${call(partition = key & 255) FROM begun}
            ), taken AS (
                ${hold(worker = worker, partition = key & 255) FROM begun}
            ), payloads AS (
                ${input(partition = key & 255) FROM begun}
                UNION ALL
                ${outcome.select(partition = key & 255, payload = outcome) FROM ended}
            ), settled AS (
                UPDATE ${schema}.run SET
                    ${end_columns(at = e.at, state = e.state, reason = e.reason)}
                FROM ended e
                WHERE run.key = ANY (?::bigint[]) AND run.key = e.key
                  AND run.state = ${RUNNING} AND run.epoch = e.epoch AND run.owner = e.worker
                RETURNING run.key
            ), let_go AS (
                ${let_go(worker = e.worker, partition = e.key & 255) FROM ended e}
            ), set AS (
                ${set_state(partition = e.object_partition) FROM ${values} JOIN ended e ON e.key = v.key}
            )
            SELECT fence.at, done.key, done.arrivals, 1 / ((SELECT count(*) FROM settled) = (SELECT count(*) FROM ended))::int AS all_held
            FROM fence
            LEFT JOIN (SELECT key, arrivals FROM begun UNION ALL SELECT key, arrivals FROM ended) AS done ON true
            """;

    private static final String KNOWN = "SELECT fence.at, fence.worker, g.* FROM fence CROSS JOIN ${calls}";

    private static final String LOOKED_UP = """
                SELECT fence.at, fence.worker, g.*, o.type, o.object, o.object_partition, o.arrivals
                FROM fence
                CROSS JOIN ${calls}
                CROSS JOIN LATERAL (
                    SELECT object_type, object_key FROM ${schema}.object_call c
                    WHERE c.key = g.key AND c.partition = g.key & 255 OFFSET 0
                ) c
                CROSS JOIN LATERAL (
                    SELECT o.type, o.key AS object, o.partition AS object_partition, o.arrivals FROM ${schema}.object o
                    WHERE o.type = c.object_type AND o.key = c.object_key AND o.holder = g.key OFFSET 0
                ) o
                WHERE (
                    SELECT w.number FROM ${schema}.object_call w
                    WHERE w.object_type = o.type AND w.object_key = o.object AND w.number IS NOT NULL
                    LIMIT 1
                ) IS NULL
            """;

    public final String turn;
    /** The same if the calls that begin are {@linkplain RunColumns#isPlain plain} and those that end are known. */
    public final String turnKnown;

    FreeCallSql(Schema schema) {
        String turn = TURN.replace("${values}", BatchObjects.VALUES.many("v"));
        this.turn = Pieces.sql(
                schema,
                turn.replace("${coming}", FreeCalls.COMING.many("g"))
                        .replace("${leaving}", LOOKED_UP.replace("${calls}", FreeCalls.LEAVING.many("g"))));
        this.turnKnown = Pieces.sql(
                schema,
                turn.replace("${coming}", FreeCalls.COMING_PLAIN.many("g"))
                        .replace("${leaving}", KNOWN.replace("${calls}", FreeCalls.LEAVING_KNOWN.many("g"))));
    }
}
