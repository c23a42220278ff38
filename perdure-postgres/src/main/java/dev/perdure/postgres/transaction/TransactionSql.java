package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionOptions.Isolation;
import java.util.Optional;

/**
 * The statements around the body of a transaction step.
 *
 * <p>One statement writes the record and checks the fence, and fails if the transaction must not be committed. So it
 * can be sent together with the COMMIT, in one round trip, and the server skips the COMMIT if it failed. A plain
 * statement can fail on purpose only through a function with an invalid argument; the two functions used here have
 * SQLSTATEs that almost nothing else has.
 */
public final class TransactionSql {
    /** The SQLSTATE with which {@link #record} fails if it has written nothing: a logarithm of zero. */
    static final String REFUSED = "2201E";

    /**
     * The SQLSTATE with which {@link #record} fails if the body has ended the transaction itself: a root of a negative
     * number.
     */
    static final String ENDED = "2201F";

    private static final String ISOLATION = "SET TRANSACTION ISOLATION LEVEL %s";
    private static final String READ_ONLY = "SET TRANSACTION READ ONLY";

    /**
     * The transaction of a worker that stands still must end before the worker's lease. The number is negative in a
     * transaction that is read-only without being requested so: the server, or its role, is read-only for now.
     */
    private static final String BEGIN = """
            SELECT length(set_config('idle_in_transaction_session_timeout', ?, true)) AS done,
                   pg_current_xact_id()::text::bigint
                       * CASE current_setting('transaction_read_only') WHEN 'on' THEN -1 ELSE 1 END AS transaction
            """;

    private static final String BEGIN_READING = """
            SELECT length(set_config('idle_in_transaction_session_timeout', ?, true)) AS done, 0::bigint AS transaction
            """;

    /**
     * Locks the run, and writes the record if the worker holds it. Under READ COMMITTED the lock waits for a sweep that
     * takes the run, and then sees that the run is gone. Under stricter levels it fails with 40001, and the next
     * attempt finds the run gone. From the lock to the commit no sweep can take the run.
     */
    private static final String RECORD = """
            WITH held AS MATERIALIZED (
                SELECT key, partition FROM ${schema}.run
                WHERE key = ? AND state = ${RUNNING} AND epoch = ? AND owner = ?
                FOR NO KEY UPDATE
            ), recorded AS (
                INSERT INTO ${schema}.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT key, ?, ?, partition, COALESCE(?::timestamptz, clock_timestamp()), ?, ?, ?, ? FROM held
                ON CONFLICT DO NOTHING
                RETURNING key
            )
            SELECT ln(count(*)::float8) AS fence,
                   sqrt(CASE WHEN pg_current_xact_id()::text::bigint = ? THEN 0 ELSE -1 END::float8) AS whole
            FROM recorded
            """;

    private static final String COMMIT = "COMMIT";

    public final String record;
    public final String recordAndCommit;

    public TransactionSql(Schema schema) {
        this.record = schema.sql(RECORD);
        this.recordAndCommit = String.join(";\n", record, COMMIT);
    }

    /** The statement with which the transaction of such a step begins. */
    public static String begin(TransactionOptions options) {
        Optional<String> isolation =
                options.isolation().map(TransactionSql::words).map(ISOLATION::formatted);
        String begin = options.isReadOnly() ? String.join(";\n", READ_ONLY, BEGIN_READING) : BEGIN;
        return isolation.map(first -> String.join(";\n", first, begin)).orElse(begin);
    }

    private static String words(Isolation isolation) {
        return switch (isolation) {
            case READ_COMMITTED -> "READ COMMITTED";
            case REPEATABLE_READ -> "REPEATABLE READ";
            case SERIALIZABLE -> "SERIALIZABLE";
        };
    }
}
