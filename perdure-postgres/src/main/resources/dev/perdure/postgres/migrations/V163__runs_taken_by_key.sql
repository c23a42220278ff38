-- Perdure: how many runs of each key of a queue workers took in the last full minute.

-- As in queue. A row stays until both minutes are over.
ALTER TABLE ${schema}.queue_turn
    ADD COLUMN minute        timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN this_minute   bigint      NOT NULL DEFAULT 0, -- how many runs were taken in that minute
    ADD COLUMN minute_before bigint      NOT NULL DEFAULT 0;

-- What was counted in the minute before that of a time.
CREATE FUNCTION ${schema}.last_minute(minute timestamptz, this_minute bigint, minute_before bigint, at timestamptz) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE minute WHEN date_trunc('minute', at) THEN minute_before
                       WHEN date_trunc('minute', at) - interval '1 minute' THEN this_minute
                       ELSE 0 END
$$;

-- The same for a key. Runs without a key (empty) are all of the queue but those with keys: not every claim counts them apart.
CREATE FUNCTION ${schema}.last_minute_of_key(of_queue text, of_key text, at timestamptz) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT CASE WHEN of_key <> '' THEN COALESCE((
        SELECT ${schema}.last_minute(t.minute, t.this_minute, t.minute_before, at)
        FROM ${schema}.queue_turn t WHERE t.queue = of_queue AND t.queue_key = of_key
    ), 0) ELSE COALESCE((
        SELECT ${schema}.last_minute(q.minute, q.this_minute, q.minute_before, at) FROM ${schema}.queue q WHERE q.name = of_queue
    ), 0) - COALESCE((
        SELECT sum(${schema}.last_minute(t.minute, t.this_minute, t.minute_before, at))::bigint
        FROM ${schema}.queue_turn t WHERE t.queue = of_queue AND t.queue_key <> ''
    ), 0) END
$$;

CREATE OR REPLACE VIEW ${schema}.queue_keys AS
SELECT k.queue, k.queue_key, k.waiting, k.oldest, k.begun, k.at_work, ${schema}.last_minute_of_key(k.queue, k.queue_key, now()) AS last_minute
FROM (
    SELECT both_of_them.queue, both_of_them.queue_key, sum(waiting)::bigint AS waiting, min(oldest) AS oldest,
           sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
    FROM (
        SELECT queue, COALESCE(queue_key, '') AS queue_key, count(*) AS waiting, min(since) AS oldest, 0 AS begun, 0 AS at_work
        FROM ${schema}.ready
        GROUP BY 1, 2
        UNION ALL
        SELECT r.queue, COALESCE(r.queue_key, ''), 0, NULL, count(*), count(*) FILTER (WHERE r.state = 2)
        FROM (SELECT key FROM ${schema}.held UNION SELECT key FROM ${schema}.slot) AS may_hold
        JOIN ${schema}.run r ON r.key = may_hold.key
        WHERE r.state BETWEEN 1 AND 4
        GROUP BY 1, 2
    ) AS both_of_them
    GROUP BY 1, 2
) k;
