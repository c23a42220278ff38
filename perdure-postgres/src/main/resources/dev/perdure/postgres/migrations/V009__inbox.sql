-- Perdure: what callers request in their own transactions, also from plain SQL.

-- Callers only insert here, so that a transaction left open delays no other. Workers see a row when it is committed, do what it says, and
-- delete it. What one transaction requests of one run is done in its order, also by several workers.
CREATE TABLE ${schema}.inbox (
    number       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which it is done
    seed         bigint      NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    taken_until  timestamptz,                    -- a worker is about to do it; by then it has, or has died
    timeout      bigint,                         -- of the run to be, in microseconds
    delay        bigint,                         -- before the run to be is ready, in microseconds
    start_within bigint,                         -- the time within which the run to be has to begin, in microseconds
    key_time     bigint,                         -- the time to live or the quiet time of start_key, in microseconds
    key_longest  bigint,                         -- the longest wait under start_key, in microseconds
    token        uuid,                           -- of the mail
    priority     integer     NOT NULL DEFAULT 0,
    tasks        integer     NOT NULL DEFAULT 0, -- how many rows it has in inbox_task
    -- For an answer: the life of the run whose call it is for. The run may begin anew before the caller's transaction commits.
    restarts     integer     NOT NULL DEFAULT 0,
    position     integer,                        -- of the call that the mail answers
    weight       integer,                        -- of the run to be
    wish         smallint    NOT NULL,           -- 0 start, 1 cancel, 9 mail
    channel      smallint,                       -- of the mail, as in mail
    status       smallint,                       -- of the mail, as in mail
    hold         smallint,                       -- how the run to be holds its object, as in object_call; null: it calls none
    id           text        NOT NULL,           -- of the run
    definition   text,
    queue        text,
    queue_key    text,
    version      text,
    placement    text,                           -- of the run to be, as in run
    object_type  text,
    object_key   text,
    start_key    text,
    -- One of: begun attach, begun refuse, begun replace, ended attach, ended refuse, ended replace, live, quiet.
    start_rule   text,
    name         text,                           -- the topic or the promise of the mail
    reason       text,                           -- of the cancel; or of a failure that is mailed
    memo         text,
    attributes   jsonb,
    input        bytea,                          -- of the run to be; or what is mailed
    CHECK (CASE wish WHEN 0 THEN definition IS NOT NULL AND queue IS NOT NULL AND input IS NOT NULL
                     WHEN 1 THEN reason IS NOT NULL
                     WHEN 9 THEN token IS NOT NULL AND channel IS NOT NULL AND status IS NOT NULL AND name IS NOT NULL
                         AND input IS NOT NULL
                     ELSE false END),
    CHECK (num_nulls(hold, object_type, object_key) IN (0, 3)),
    CHECK ((start_key IS NULL) = (start_rule IS NULL))
) WITH (
    fillfactor = 70, -- room for the mark that it is taken
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- Which rows of a run are marked: those after them wait.
CREATE INDEX inbox_taken ON ${schema}.inbox (id, number) WHERE taken_until IS NOT NULL;

-- Which rows under a key are marked: those after them wait, so that the last input is the last one.
CREATE INDEX inbox_key_taken ON ${schema}.inbox (definition, start_key, number)
    WHERE taken_until IS NOT NULL AND start_key IS NOT NULL;

-- A worker locks its one row while it marks rows of inbox as taken, so that the next one sees these marks.
CREATE TABLE ${schema}.inbox_lock (
    "only" boolean PRIMARY KEY CHECK ("only")
);
INSERT INTO ${schema}.inbox_lock VALUES (true);

-- The tasks of a run with tasks that a caller has requested. They come and go with their row in inbox, by the same rules.
CREATE TABLE ${schema}.inbox_task (
    number     bigint    NOT NULL, -- of the start in inbox
    seed       bigint    NOT NULL,
    timeout    bigint,             -- in microseconds
    place      integer   NOT NULL, -- among the tasks of the run
    priority   integer   NOT NULL,
    id         text      NOT NULL,
    definition text      NOT NULL,
    queue      text      NOT NULL,
    version    text,
    after      integer[] NOT NULL, -- places of the tasks that it comes after
    input      bytea,              -- null: that of the run
    PRIMARY KEY (number, place)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

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

-- Checks what a start from plain SQL requires or prefers. Returns the placement.
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

-- Starts a run from plain SQL, another language or a trigger, when the transaction commits. The input is JSON, as the library's own codec
-- writes it; an engine with another codec cannot read it. An id that is taken starts nothing.
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

-- The same under a key. Returns the id; if another run has the key, a run under this id is CANCELLED at once, and its reason names the
-- other one.
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

-- Sends a message to a run from plain SQL, another language or a trigger, when the transaction commits. The value is JSON, as the library's
-- own codec writes it. A message to a run that is not there, or has ended, is dropped and logged.
CREATE FUNCTION ${schema}.send_message(run text, topic text, value json, wake boolean DEFAULT true)
    RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF run IS NULL OR run !~ '\S' OR topic IS NULL OR topic !~ '\S' OR length(topic) > 200 OR topic ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The run or the topic is null, blank, too long or has control characters. Give the id of a run and the name of a topic.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO ${schema}.inbox (seed, wish, id, token, channel, status, name, input)
    VALUES (0, 9, run, gen_random_uuid(), 0, 0, topic, convert_to(COALESCE(value::text, 'null'), 'UTF8'));
    IF wake THEN
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;
