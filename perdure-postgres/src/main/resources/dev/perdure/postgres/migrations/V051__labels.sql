-- Perdure: labels of workers, and runs that require or prefer them.

-- Names with values, the id of the worker among them. Only to say why a run waits: a worker names its labels in its polls.
ALTER TABLE ${schema}.worker ADD COLUMN labels jsonb NOT NULL DEFAULT '{}';

-- Which workers may run a run: gpu=true,memory>=16; after a tab what it prefers. Null: any. In its row of ready it follows the version and a
-- line break, so that a claim finds the run by the same index, if its worker names this text among the versions that it takes.
ALTER TABLE ${schema}.run ADD COLUMN placement text COLLATE "C";
ALTER TABLE ${schema}.inbox ADD COLUMN placement text;

-- Nearly always empty: which texts there are, and which runs wait for a worker that they prefer.
CREATE INDEX ready_placed ON ${schema}.ready (version) WHERE strpos(version, E'\n') > 0;
CREATE INDEX ready_prefers ON ${schema}.ready (since) WHERE strpos(version, E'\t') > 0;

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

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, COALESCE(r.reason, ${schema}.why_waits(r.key, r.state, r.awaited_names, now()) COLLATE "default") AS reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(COALESCE(i.payload, g.payload)) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open,
       CASE WHEN r.state = 3 THEN ARRAY(
           SELECT a.what FROM (
               SELECT 0 AS position, CASE left(n.name, 1) WHEN 'm' THEN 'message ''' WHEN 'l' THEN 'permit of limiter ''' ELSE 'promise ''' END
                      || substr(n.name, 3) || '''' AS what
               FROM unnest(r.awaited_names) AS n (name)
               WHERE n.name NOT LIKE 'p:%' OR NOT EXISTS (
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
       r.attributes, r.queue_key, COALESCE(r.weight, 1) AS weight,
       NULLIF(split_part(r.placement, E'\t', 1), '') AS requires, NULLIF(split_part(r.placement, E'\t', 2), '') AS prefers
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

-- Checks what a start from plain SQL requires or prefers. Gives the placement.
CREATE FUNCTION ${schema}.placement_of(requires text, prefers text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF requires || ',' !~ '^([A-Za-z0-9_.:/+-]+(=[A-Za-z0-9_.:/+-]+|[<>]=-?[0-9]{1,15}([.][0-9]{1,15})?),){1,10}$'
            OR prefers || ',' !~ '^([A-Za-z0-9_.:/+-]+(=[A-Za-z0-9_.:/+-]+|[<>]=-?[0-9]{1,15}([.][0-9]{1,15})?),){1,10}$'
            OR ',' || requires ~ ',worker[<>=]' OR ',' || prefers ~ ',worker[<>=]' OR length(concat(requires, prefers)) > 1000 THEN
        RAISE EXCEPTION 'The requires or prefers is not a list of labels. Write it like gpu=true,memory>=16, without blanks.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN NULLIF(COALESCE(requires, '') || COALESCE(E'\t' || prefers, ''), '');
END
$$;

-- Starts a run from plain SQL, as before, with labels of workers.
DROP FUNCTION ${schema}.start_run(text, text, json, text, integer, text, interval, boolean, jsonb, text, integer, interval);
CREATE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true,
    attributes jsonb DEFAULT NULL, queue_key text DEFAULT NULL, weight integer DEFAULT 1,
    start_within interval DEFAULT NULL, requires text DEFAULT NULL, prefers text DEFAULT NULL
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
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, version, timeout, attributes, queue_key, weight, start_within,
        placement)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'),
            queue, priority, version, (extract(epoch FROM timeout) * 1000000)::bigint,
            CASE WHEN attributes <> '{}' THEN attributes END, queue_key, weight, (extract(epoch FROM start_within) * 1000000)::bigint,
            ${schema}.placement_of(requires, prefers));
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;

-- The same under a key. Gives the id; if another run has the key, a run under this id is
-- CANCELLED at once, and its reason names the other one.
DROP FUNCTION ${schema}.start_run_under_key(text, text, text, json, interval, interval, text, integer, boolean, text, integer, interval);
CREATE FUNCTION ${schema}.start_run_under_key(
    definition text, start_key text, rule text DEFAULT 'ended attach', input json DEFAULT 'null',
    key_time interval DEFAULT NULL, key_longest interval DEFAULT NULL,
    queue text DEFAULT 'default', priority integer DEFAULT 0, wake boolean DEFAULT true,
    queue_key text DEFAULT NULL, weight integer DEFAULT 1, start_within interval DEFAULT NULL,
    requires text DEFAULT NULL, prefers text DEFAULT NULL
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
        queue_key, weight, start_within, placement)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'), queue, priority,
            CASE WHEN rule = 'quiet' THEN (extract(epoch FROM key_time) * 1000000)::bigint END,
            start_key, rule, (extract(epoch FROM key_time) * 1000000)::bigint, (extract(epoch FROM key_longest) * 1000000)::bigint,
            queue_key, weight, (extract(epoch FROM start_within) * 1000000)::bigint,
            ${schema}.placement_of(requires, prefers));
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
    RETURN id;
END
$$;
