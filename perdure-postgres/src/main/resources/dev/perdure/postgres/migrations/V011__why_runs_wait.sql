-- Perdure: why a run does not continue, for people and for handles. Functions that read tables have the owner's rights, so that a viewer who
-- may read the view runs gets an answer too.

-- Whether a worker with these labels meets all of these requirements.
CREATE FUNCTION ${schema}.meets(labels jsonb, requirements text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT COALESCE(bool_and(CASE
        WHEN labels ->> r.part[1] IS NULL THEN false
        WHEN r.part[2] = '=' THEN labels ->> r.part[1] = r.part[3]
        WHEN labels ->> r.part[1] !~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' THEN false
        WHEN r.part[2] = '>=' THEN (labels ->> r.part[1])::numeric >= r.part[3]::numeric
        ELSE (labels ->> r.part[1])::numeric <= r.part[3]::numeric END), true)
    FROM unnest(string_to_array(NULLIF(requirements, ''), ',')) AS each (requirement),
         regexp_match(each.requirement, '^([^<>=]+)(>=|<=|=)(.+)$') AS r (part)
$$;

-- As messages name requirements.
CREATE FUNCTION ${schema}.labels_named(requirements text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT CASE WHEN strpos(requirements, ',') > 0 THEN 'labels ' ELSE 'label ' END
           || '''' || replace(requirements, ',', ''', ''') || ''''
$$;

-- The runs that hold places of a queue, or of one key of it, the first to begin first.
CREATE FUNCTION ${schema}.place_holders(of_queue text, of_key text, begun boolean) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(array_agg(r.id ORDER BY r.created_at, r.id COLLATE "C"), '{}')
    FROM ${schema}.slot s JOIN ${schema}.run r ON r.key = s.key
    WHERE s.queue = of_queue AND (of_key IS NULL OR s.queue_key = of_key)
      AND (r.state = 2 OR begun AND r.state IN (1, 3, 4))
$$;

-- How many places are taken, and by which runs.
CREATE FUNCTION ${schema}.places_taken(holders text[], places integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT format('%s of %s places are taken, by ', cardinality(holders), places)
           || (SELECT string_agg('''' || h.id || '''', ', ' ORDER BY h.place) FROM unnest(holders[1:3]) WITH ORDINALITY AS h (id, place))
           || CASE WHEN cardinality(holders) > 3 THEN format(' and %s more', cardinality(holders) - 3) ELSE '' END || '.'
$$;

-- When a rate of a queue allows more, if it allows nothing now.
CREATE FUNCTION ${schema}.rate_free_at(of_queue text, of_key text, rate text, burst text, at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT min(r.expires_at) FROM ${schema}.queue_rate r
    WHERE r.queue = of_queue AND r.queue_key = of_key AND r.expires_at > at
    HAVING sum(r.units) >= ${schema}.rate_units(rate, burst)
$$;

-- Why no worker has taken a run that is ready. Null if it only waits for a worker.
CREATE FUNCTION ${schema}.why_ready(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    waiting record;
    line record;
    places integer;
    begun boolean;
    holders text[];
    free_at timestamptz;
    preference text;
BEGIN
    SELECT r.queue, r.queue_key, r.epoch, r.definition, r.version, r.changed_at, split_part(r.placement, E'\t', 1) AS required,
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
    begun := COALESCE(line.limits->>'counting', 'BEGUN') = 'BEGUN';
    IF begun AND EXISTS (SELECT FROM ${schema}.slot s WHERE s.key = run_key) THEN
        RETURN preference; -- it holds its place
    END IF;
    places := NULLIF(line.limits->>'per_key', 'none')::integer;
    IF places IS NOT NULL AND waiting.queue_key IS NOT NULL THEN
        holders := ${schema}.place_holders(waiting.queue, waiting.queue_key, begun);
        IF cardinality(holders) >= places THEN
            RETURN format('The key ''%s'' of the queue ''%s'' is full: %s', waiting.queue_key, waiting.queue,
                          ${schema}.places_taken(holders, places));
        END IF;
    END IF;
    IF waiting.epoch = 0 THEN
        free_at := ${schema}.rate_free_at(waiting.queue, waiting.queue_key, line.limits->>'rate_per_key', line.limits->>'burst_per_key', at);
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
    places := NULLIF(line.limits->>'per_worker', 'none')::integer;
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

-- The runs that hold permits of a limiter, the first to get one first; a run with two permits twice.
CREATE FUNCTION ${schema}.permit_holders(of_limiter text) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(array_agg(r.id ORDER BY p.number), '{}')
    FROM ${schema}.permit p JOIN ${schema}.run r ON r.key = p.key
    WHERE p.limiter = of_limiter AND p.state = 1 AND r.state = 2 AND r.epoch = p.epoch AND NOT EXISTS (
        SELECT FROM ${schema}.journal j WHERE j.key = p.key AND j.position = p.position AND j.note IN (0, p.attempt))
$$;

-- Why a limiter gives no permit now. Null if it would.
CREATE FUNCTION ${schema}.why_limited(of_limiter text, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    rule record;
    permits integer;
    holders text[];
    free_at timestamptz;
BEGIN
    SELECT l.paused, l.declared || l.changed AS limits INTO rule FROM ${schema}.limiter l WHERE l.name = of_limiter;
    IF rule.paused IS NOT NULL THEN
        RETURN format('The limiter ''%s'' is paused: %s', of_limiter, rule.paused);
    END IF;
    permits := NULLIF(rule.limits->>'concurrency', 'none')::integer;
    IF permits IS NOT NULL THEN
        holders := ${schema}.permit_holders(of_limiter);
        IF cardinality(holders) >= permits THEN
            RETURN format('The limiter ''%s'' is full: %s', of_limiter,
                          replace(${schema}.places_taken(holders, permits), 'places are taken', 'permits are held'));
        END IF;
    END IF;
    SELECT min(r.expires_at) INTO free_at FROM ${schema}.limiter_rate r
    WHERE r.limiter = of_limiter AND r.expires_at > at
    HAVING sum(r.units) >= ${schema}.rate_units(rule.limits->>'rate', rule.limits->>'burst');
    IF free_at IS NOT NULL THEN
        RETURN format('The rate of the limiter ''%s'' allows no more before %s.', of_limiter,
                      to_char(free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    END IF;
    RETURN NULL;
END
$$;

-- Why a run does not continue: a ready one, or one that waits for permits.
CREATE FUNCTION ${schema}.why_waits(run_key bigint, state smallint, awaited_names text[], at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT CASE state
        WHEN 1 THEN ${schema}.why_ready(run_key, at)
        WHEN 3 THEN (
            SELECT ${schema}.why_limited(min(substr(n.name, 3)), at) FROM unnest(awaited_names) AS n (name)
            WHERE n.name LIKE 'l:%' HAVING count(*) > 0
        ) END
$$;
