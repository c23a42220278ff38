package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.Pieces;

/** The statements that repair what a step has recorded. The rules of {@link LedgerSql} apply. */
public final class RepairSql {
    /** Whether a command has taken effect before. Its run is locked. */
    private static final String AUDITED = "SELECT id FROM ${schema}.audit WHERE id = ?::uuid";

    /**
     * Replaces an answer, and removes entries at other positions. It also writes the row of the run anew: by that, a move of
     * the partition that has copied the journal of this run notices that it has changed.
     */
    private static final String REPAIR = """
            WITH decided AS MATERIALIZED (
                SELECT ?::bigint AS key
            ), repaired AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT d.key, ?::int, 0, d.key & 255, ?::timestamptz, ?::smallint, ?::smallint, ?::text, ?::bytea
                FROM decided d
                ON CONFLICT (key, position, note, partition)
                DO UPDATE SET at = excluded.at, status = excluded.status, payload = excluded.payload
                RETURNING 1
            ), touched AS (
                UPDATE ${schema}.run SET wakes = wakes WHERE run.key = ANY (ARRAY(SELECT key FROM decided))
            ), ${emptied}
            SELECT count(*) FROM repaired
            """;

    public final String audited;
    public final String repair;

    public RepairSql(Schema schema) {
        this.audited = Pieces.sql(schema, AUDITED);
        this.repair = Pieces.sql(schema, REPAIR.replace("${emptied}", RetrySql.EMPTIED));
    }
}
