-- Perdure: more reasons why a run waits, and more options of starts from SQL.

-- From which queues a worker takes runs. Null: it has not said so. Only to say why a run waits.
ALTER TABLE ${schema}.worker ADD COLUMN queues text[];

-- With the owner's rights, so that a viewer who may read the view runs gets an answer too.
CREATE OR REPLACE FUNCTION ${schema}.why_ready(run_key bigint, at timestamptz) RETURNS text
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
    IF line.limits IS NULL THEN
        RETURN NULL;
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
    RETURN NULL;
END
$$;

-- Starts a run from plain SQL, as before, with a time to start within.
DROP FUNCTION ${schema}.start_run(text, text, json, text, integer, text, interval, boolean, jsonb, text, integer);
CREATE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true,
    attributes jsonb DEFAULT NULL, queue_key text DEFAULT NULL, weight integer DEFAULT 1,
    start_within interval DEFAULT NULL
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
    IF start_within <= interval '0' OR start_within > interval '36500 days' THEN
        RAISE EXCEPTION 'The start_within is not longer than zero, or longer than 36500 days. Give the time within which the run has to begin.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, version, timeout, attributes, queue_key, weight, start_within)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'),
            queue, priority, version, (extract(epoch FROM timeout) * 1000000)::bigint,
            CASE WHEN attributes <> '{}' THEN attributes END, queue_key, weight, (extract(epoch FROM start_within) * 1000000)::bigint);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;

-- The same under a key. Gives the id; if another run has the key, a run under this id is
-- CANCELLED at once, and its reason names the other one.
DROP FUNCTION ${schema}.start_run_under_key(text, text, text, json, interval, interval, text, integer, boolean);
CREATE FUNCTION ${schema}.start_run_under_key(
    definition text, start_key text, rule text DEFAULT 'ended attach', input json DEFAULT 'null',
    key_time interval DEFAULT NULL, key_longest interval DEFAULT NULL,
    queue text DEFAULT 'default', priority integer DEFAULT 0, wake boolean DEFAULT true,
    queue_key text DEFAULT NULL, weight integer DEFAULT 1, start_within interval DEFAULT NULL
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id text := gen_random_uuid()::text;
BEGIN
    IF definition IS NULL OR definition !~ '\S' OR length(definition) > 100 THEN
        RAISE EXCEPTION 'The definition is null, blank or longer than 100 characters. Give the name of a workflow.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF start_key IS NULL OR start_key = '' OR length(start_key) > 200 OR start_key ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The start_key is null, empty, longer than 200 characters or has control characters. Give a short text.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF rule IS NULL OR rule !~ '^((begun|ended) (attach|refuse|replace)|live|quiet)$' THEN
        RAISE EXCEPTION 'The rule % is unknown. Give begun or ended with attach, refuse or replace; or live; or quiet.', quote_nullable(rule)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (key_time IS NOT NULL) <> (rule IN ('live', 'quiet')) OR (key_longest IS NOT NULL) <> (rule = 'quiet')
            OR key_time <= interval '0' OR key_longest < key_time OR key_longest > interval '36500 days'
            OR key_time > interval '36500 days' THEN
        RAISE EXCEPTION 'The times do not fit the rule %. Give key_time for live; key_time and a key_longest that is not shorter for quiet; none for the others.', rule
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
    IF start_within <= interval '0' OR start_within > interval '36500 days' THEN
        RAISE EXCEPTION 'The start_within is not longer than zero, or longer than 36500 days. Give the time within which the run has to begin.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF start_within IS NOT NULL AND rule = 'quiet' THEN
        RAISE EXCEPTION 'The start has a start_within and the rule quiet, which moves its start. Leave the start_within out.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, delay, start_key, start_rule, key_time, key_longest,
        queue_key, weight, start_within)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'), queue, priority,
            CASE WHEN rule = 'quiet' THEN (extract(epoch FROM key_time) * 1000000)::bigint END,
            start_key, rule, (extract(epoch FROM key_time) * 1000000)::bigint, (extract(epoch FROM key_longest) * 1000000)::bigint,
            queue_key, weight, (extract(epoch FROM start_within) * 1000000)::bigint);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
    RETURN id;
END
$$;
