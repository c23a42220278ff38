-- Perdure: every shard has the whole limit of a worker, so a run that waits is compared with that.

CREATE OR REPLACE FUNCTION ${schema}.why_queued(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    waiting record;
    line record;
    places integer;
    begun boolean;
    by_shard boolean;
    holders text[];
    free_at timestamptz;
    preference text;
BEGIN
    SELECT r.queue, r.queue_key, r.epoch, r.changes, r.definition, r.version, r.changed_at, split_part(r.placement, E'\t', 1) AS required,
           split_part(r.placement, E'\t', 2) AS preferred
    INTO waiting FROM ${schema}.run r WHERE r.key = run_key AND r.state = 1;
    SELECT q.paused, q.declared || q.changed AS limits INTO line FROM ${schema}.queue q WHERE q.name = waiting.queue;
    IF waiting.queue IS NULL THEN
        RETURN NULL;
    END IF;
    IF line.paused IS NOT NULL THEN
        RETURN format('The queue ''%s'' is paused: %s', waiting.queue, line.paused);
    END IF;
    IF NOT EXISTS (
        SELECT FROM ${schema}.worker w
        WHERE NOT w.dead AND w.definitions <> '{}' AND (w.queues IS NULL OR waiting.queue = ANY (w.queues))
    ) THEN
        RETURN format('No live worker takes runs from the queue ''%s''.', waiting.queue);
    END IF;
    IF waiting.required <> '' AND NOT EXISTS (
        SELECT FROM ${schema}.worker w
        WHERE NOT w.dead AND waiting.definition = ANY (w.definitions) AND (waiting.version IS NULL OR waiting.version = w.version)
          AND (w.queues IS NULL OR waiting.queue = ANY (w.queues)) AND ${schema}.meets(w.labels, waiting.required)
    ) THEN
        RETURN format('No live worker of the queue ''%s'' has the %s.', waiting.queue, ${schema}.labels_named(waiting.required));
    END IF;
    preference := CASE WHEN waiting.preferred <> '' AND at < waiting.changed_at + interval '5 seconds' AND EXISTS (
            SELECT FROM ${schema}.worker w
            WHERE NOT w.dead AND ${schema}.meets(w.labels, waiting.preferred) AND ${schema}.meets(w.labels, waiting.required))
        THEN format('It waits up to 5 seconds for a worker with the %s, which it prefers.', ${schema}.labels_named(waiting.preferred)) END;
    IF line.limits IS NULL THEN
        RETURN preference;
    END IF;
    by_shard := COALESCE(NULLIF(line.limits->>'whole:per_key', 'none'), NULLIF(line.limits->>'whole:rate_per_key', 'none')) IS NOT NULL;
    IF by_shard AND waiting.queue_key IS NOT NULL AND NOT ${schema}.counts_key(waiting.queue_key) THEN
        RETURN format('The queue ''%s'' limits keys, and another shard than that of this run counts the runs of the key ''%s''. '
                      'Move the run to another queue, or start it anew and leave the id to Perdure.', waiting.queue, waiting.queue_key);
    END IF;
    begun := COALESCE(line.limits->>'counting', 'BEGUN') = 'BEGUN';
    IF begun AND EXISTS (SELECT FROM ${schema}.slot s WHERE s.key = run_key) THEN
        RETURN preference; -- it holds its place
    END IF;
    places := NULLIF(COALESCE(line.limits->>'whole:per_key', line.limits->>'per_key'), 'none')::integer;
    IF places IS NOT NULL AND waiting.queue_key IS NOT NULL THEN
        holders := ${schema}.place_holders(waiting.queue, waiting.queue_key, begun);
        IF cardinality(holders) >= places THEN
            RETURN format('The key ''%s'' of the queue ''%s'' is full: %s', waiting.queue_key, waiting.queue,
                          ${schema}.places_taken(holders, places));
        END IF;
    END IF;
    IF waiting.epoch = 0 OR waiting.epoch = 1 AND waiting.changes = 0 THEN
        free_at := ${schema}.rate_free_at(waiting.queue, waiting.queue_key,
            COALESCE(line.limits->>'whole:rate_per_key', line.limits->>'rate_per_key'),
            COALESCE(line.limits->>'whole:burst_per_key', line.limits->>'burst_per_key'), at);
        IF free_at IS NOT NULL THEN
            RETURN format('The rate of the key ''%s'' of the queue ''%s'' allows no more before %s.', waiting.queue_key, waiting.queue,
                          to_char(free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
        END IF;
        free_at := ${schema}.rate_free_at(waiting.queue, '', line.limits->>'rate', line.limits->>'burst', at);
        IF free_at IS NOT NULL THEN
            RETURN format('The rate of the queue ''%s'' allows no more before %s.', waiting.queue,
                          to_char(free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
        END IF;
    END IF;
    places := NULLIF(line.limits->>'concurrency', 'none')::integer;
    IF places IS NOT NULL THEN
        holders := ${schema}.place_holders(waiting.queue, NULL, begun);
        IF cardinality(holders) >= places THEN
            RETURN format('The queue ''%s'' is full: %s', waiting.queue, ${schema}.places_taken(holders, places));
        END IF;
    END IF;
    places := NULLIF(COALESCE(line.limits->>'whole:per_worker', line.limits->>'per_worker'), 'none')::integer;
    IF places IS NOT NULL AND NOT EXISTS (
        SELECT FROM ${schema}.worker w
        WHERE NOT w.dead AND w.definitions <> '{}' AND (w.queues IS NULL OR waiting.queue = ANY (w.queues))
          AND places > (
              SELECT count(*) FROM ${schema}.held h JOIN ${schema}.run r ON r.key = h.key
              WHERE h.worker = w.number AND r.queue = waiting.queue)
    ) THEN
        RETURN format('Every worker of the queue ''%s'' is at its limit of %s.', waiting.queue, places);
    END IF;
    RETURN preference;
END
$$;
