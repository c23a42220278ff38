package dev.perdure.postgres;

/** The statements of the inbox. Whoever puts something in only inserts; whoever takes something out waits for nobody. */
final class InboxSql {
    private static final String PUT = """
            INSERT INTO ${schema}.inbox (seed, timeout, delay, priority, wish, id, definition, queue,
                version, reason, input, token, position, channel, status, name)
            SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::smallint[], ?::text[], ?::text[], ?::text[],
                ?::text[], ?::text[], ?::bytea[], ?::uuid[], ?::int[], ?::smallint[], ?::smallint[], ?::text[])
            RETURNING number
            """;

    private static final String PUT_AND_NOTIFY = "WITH put AS (" + PUT + ") SELECT pg_notify(?, ?)";

    /** Marked before it is done and deleted after: who dies in between has at most begun it, and all of it can be done again. */
    private static final String TAKE = """
            UPDATE ${schema}.inbox SET taken_until = clock_timestamp() + interval '5 seconds'
            WHERE number = ANY (ARRAY(
                SELECT number FROM ${schema}.inbox
                WHERE taken_until IS NULL OR taken_until < clock_timestamp()
                ORDER BY number
                LIMIT 500
                FOR UPDATE SKIP LOCKED))
            RETURNING number, seed, timeout, delay, priority, wish, id, definition, queue, version, reason, input, token,
                position, channel, status, name
            """;

    /** What speaks of a run that is not there may have come before its start, which another worker is about to do. */
    private static final String DONE = """
            DELETE FROM ${schema}.inbox
            WHERE number = ANY (?::bigint[])
              AND (number <> ALL (?::bigint[]) OR at < now() - interval '1 minute')
            RETURNING number
            """;

    final String put;
    final String putAndNotify;
    final String take;
    final String done;

    InboxSql(Schema schema) {
        this.put = schema.sql(PUT);
        this.putAndNotify = schema.sql(PUT_AND_NOTIFY);
        this.take = schema.sql(TAKE);
        this.done = schema.sql(DONE);
    }
}
