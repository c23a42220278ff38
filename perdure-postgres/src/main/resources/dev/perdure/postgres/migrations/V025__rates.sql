-- Perdure: rates of queues, and how much of them a run takes.

-- How many units of its queue's rate a run takes. Null: one.
ALTER TABLE ${schema}.run ADD COLUMN weight integer;
ALTER TABLE ${schema}.inbox ADD COLUMN weight integer;

-- What has begun lately, for queues with a rate: units in a short stretch of time, which count until a period after its end. So there
-- are never more in any period, whatever the edges of the stretches.
CREATE TABLE ${schema}.queue_rate (
    queue      text        COLLATE "C" NOT NULL,
    queue_key  text        COLLATE "C" NOT NULL, -- empty: all runs of the queue
    since      timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    units      bigint      NOT NULL,
    PRIMARY KEY (queue, queue_key, since)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX queue_rate_expiry ON ${schema}.queue_rate (queue, expires_at);

-- A rate as texts ('100/PT1M', and the burst) in numbers: with a burst, fewer in a shorter period.
CREATE FUNCTION ${schema}.rate_units(rate text, burst text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN rate <> 'none' THEN LEAST(split_part(rate, '/', 1)::integer, NULLIF(burst, 'none')::integer) END
$$;
CREATE FUNCTION ${schema}.rate_period(rate text, burst text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN rate <> 'none' THEN split_part(rate, '/', 2)::interval
        / (split_part(rate, '/', 1)::integer / LEAST(split_part(rate, '/', 1)::integer, NULLIF(burst, 'none')::integer)) END
$$;

-- When a rate allows more, if it allows nothing now.
CREATE FUNCTION ${schema}.rate_free_at(of_queue text, of_key text, rate text, burst text, at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT min(r.expires_at) FROM ${schema}.queue_rate r
    WHERE r.queue = of_queue AND r.queue_key = of_key AND r.expires_at > at
    HAVING sum(r.units) >= ${schema}.rate_units(rate, burst)
$$;

-- With the owner's rights, so that a viewer who may read the view runs gets an answer too.
CREATE FUNCTION ${schema}.why_ready(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    waiting record;
    line record;
    places integer;
    begun boolean;
    holders text[];
    free_at timestamptz;
BEGIN
    SELECT r.queue, r.queue_key, r.epoch INTO waiting FROM ${schema}.run r WHERE r.key = run_key AND r.state = 1;
    SELECT q.paused, q.declared || q.changed AS limits INTO line FROM ${schema}.queue q WHERE q.name = waiting.queue;
    IF waiting.queue IS NULL OR line.limits IS NULL THEN
        RETURN NULL;
    END IF;
    IF line.paused IS NOT NULL THEN
        RETURN format('The queue ''%s'' is paused: %s', waiting.queue, line.paused);
    END IF;
    begun := COALESCE(line.limits->>'counting', 'BEGUN') = 'BEGUN';
    IF begun AND EXISTS (SELECT FROM ${schema}.slot s WHERE s.key = run_key) THEN
        RETURN NULL; -- it holds its place
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
    RETURN NULL;
END
$$;

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, COALESCE(r.reason, CASE WHEN r.state = 1 THEN ${schema}.why_ready(r.key, now()) END) AS reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(COALESCE(i.payload, g.payload)) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open,
       CASE WHEN r.state = 3 THEN ARRAY(
           SELECT a.what FROM (
               SELECT 0 AS position, CASE WHEN n.name LIKE 'm:%' THEN 'message ''' ELSE 'promise ''' END
                      || substr(n.name, 3) || '''' AS what
               FROM unnest(r.awaited_names) AS n (name)
               WHERE n.name LIKE 'm:%' OR NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = 0 AND m.name = substr(n.name, 3)
               )
               UNION ALL
               SELECT c.parent_position, 'run ''' || c.id || '''' FROM ${schema}.run c
               WHERE c.parent = r.key AND c.parent_restarts = r.restarts AND c.parent_position <@ r.awaited AND c.state < 6
               UNION ALL
               SELECT s.position, 'event ''' || s.event || ''''
                      || CASE WHEN s.event_key = '' THEN '' ELSE ' with key ''' || s.event_key || '''' END
               FROM ${schema}.subscription s
               WHERE s.key = r.key AND s.restarts = r.restarts AND s.position <@ r.awaited AND NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = s.position AND m.restarts = s.restarts
               )
               UNION ALL
               SELECT w.position, 'awakeable at position ' || w.position FROM ${schema}.awakeable w
               WHERE w.key = r.key AND w.restarts = r.restarts AND w.position <@ r.awaited AND NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = w.position AND m.restarts = w.restarts
               )
           ) AS a
           ORDER BY a.position, a.what
           LIMIT 10
       ) ELSE '{}' END AS awaited,
       r.attributes, r.queue_key, COALESCE(r.weight, 1) AS weight
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;
DROP FUNCTION ${schema}.why_ready(bigint);

-- Starts a run from plain SQL, as before, with a weight for the rate of its queue.
DROP FUNCTION ${schema}.start_run(text, text, json, text, integer, text, interval, boolean, jsonb, text);
CREATE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true,
    attributes jsonb DEFAULT NULL, queue_key text DEFAULT NULL, weight integer DEFAULT 1
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF definition IS NULL OR definition !~ '\S' OR length(definition) > 100 THEN
        RAISE EXCEPTION 'The definition is null, blank or longer than 100 characters. Give the name of a workflow.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF id IS NULL OR id !~ '\S' OR length(id) > 200 OR id ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The id is null, blank, longer than 200 characters or has control characters. Give the run a short name.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_typeof(attributes) <> 'object' OR octet_length(attributes::text) > 3000 OR EXISTS (
        SELECT FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes END) AS each
        WHERE jsonb_typeof(each.value) <> 'string' OR each.key = '' OR length(each.key) > 100 OR each.value = '""'
           OR length(each.value #>> '{}') > 500
    ) THEN
        RAISE EXCEPTION 'The attributes are not an object of texts, or too long. Give names of up to 100 and texts of up to 500 characters.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF queue_key !~ '\S' OR length(queue_key) > 200 OR queue_key ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The queue_key is blank, longer than 200 characters or has control characters. Give a short name, or null.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF weight IS NULL OR weight < 1 THEN
        RAISE EXCEPTION 'The weight is null or less than 1. Give the units of the queue''s rate that the run takes.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, version, timeout, attributes, queue_key, weight)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'),
            queue, priority, version, (extract(epoch FROM timeout) * 1000000)::bigint,
            CASE WHEN attributes <> '{}' THEN attributes END, queue_key, weight);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;
