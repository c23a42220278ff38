-- Perdure: attributes with types, by which runs are found, a memo and a status.

-- Null where a run has none, so that its row is as narrow as before.
ALTER TABLE ${schema}.run ADD COLUMN memo text, ADD COLUMN status text;
ALTER TABLE ${schema}.inbox ADD COLUMN memo text;

-- The values of attributes, one in each row: "customer": "c-7" a text, 12.5 a number, true a flag, ["a", "b"] keywords, {"time": "…"} a time.
CREATE FUNCTION ${schema}.attribute_values(attributes jsonb) RETURNS TABLE (name text, kind text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT e.key, CASE jsonb_typeof(e.value) WHEN 'string' THEN 'text' WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'flag'
                       WHEN 'array' THEN 'keywords' ELSE 'time' END, v.value
    FROM jsonb_each(attributes) AS e,
         jsonb_array_elements_text(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value WHEN 'object' THEN jsonb_build_array(e.value -> 'time')
                                   ELSE jsonb_build_array(e.value) END) AS v (value)
$$;

-- Whether a start from plain SQL may have these attributes.
CREATE FUNCTION ${schema}.attributes_fit(attributes jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT attributes IS NULL OR jsonb_typeof(attributes) = 'object' AND octet_length(attributes::text) <= 3000 AND NOT EXISTS (
        SELECT FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes END) AS e
        WHERE e.key = '' OR length(e.key) > 100 OR CASE jsonb_typeof(e.value)
            WHEN 'string' THEN e.value = '""' OR length(e.value #>> '{}') > 500
            WHEN 'number' THEN length(e.value #>> '{}') > 60
            WHEN 'boolean' THEN false
            WHEN 'array' THEN e.value = '[]' OR EXISTS (
                SELECT FROM jsonb_array_elements(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value END) AS word
                WHERE jsonb_typeof(word) <> 'string' OR word = '""' OR length(word #>> '{}') > 500)
            WHEN 'object' THEN COALESCE(e.value ->> 'time' !~ '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?Z$', true)
            ELSE true END)
$$;

-- A row for each value of an attribute, and for each keyword. Runs without attributes have none. The table run has the same values; this one is
-- only for finding them, in the order of lists.
CREATE TABLE ${schema}.attribute (
    key        bigint      NOT NULL,
    created_at timestamptz NOT NULL, -- run.created_at
    at         timestamptz,          -- a time
    number     numeric,              -- a number
    partition  smallint    NOT NULL,
    name       text        COLLATE "C" NOT NULL,
    kind       text        COLLATE "C" NOT NULL,
    value      text        COLLATE "C" NOT NULL,
    PRIMARY KEY (key, name, value, partition)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX attribute_value ON ${schema}.attribute (name, kind, value, created_at);
CREATE INDEX attribute_number ON ${schema}.attribute (name, number, created_at) WHERE number IS NOT NULL;
CREATE INDEX attribute_at ON ${schema}.attribute (name, at, created_at) WHERE at IS NOT NULL;

INSERT INTO ${schema}.attribute (key, created_at, partition, name, kind, value)
SELECT r.key, r.created_at, r.partition, v.name, v.kind, v.value
FROM ${schema}.run r, ${schema}.attribute_values(r.attributes) AS v
WHERE r.attributes IS NOT NULL;

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
       NULLIF(split_part(r.placement, E'\t', 1), '') AS requires, NULLIF(split_part(r.placement, E'\t', 2), '') AS prefers,
       r.memo, r.status
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

-- Starts a run from plain SQL, as before, with attributes of all types.
CREATE OR REPLACE FUNCTION ${schema}.start_run(
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
    IF NOT ${schema}.attributes_fit(attributes) THEN
        RAISE EXCEPTION 'The attributes are not an object of texts, numbers, flags, lists of texts and times, or too long. Give names of up to 100 and texts of up to 500 characters, and a time as {"time": "2026-01-31T12:00:00Z"}.'
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
