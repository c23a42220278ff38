-- Perdure: keys under which starts meet: deduplication, idempotency keys with a time to live, debounce.

-- A key and the run that it names. Whether it still counts is seen from that run and the time, so nothing has to give it back. A start
-- under the key locks the row, so that of several at once one is the first.
CREATE TABLE ${schema}.start_key (
    definition text        COLLATE "C" NOT NULL,
    start_key  text        COLLATE "C" NOT NULL,
    kind       smallint    NOT NULL,           -- 0 deduplication, 1 idempotency key, 2 debounce
    run        bigint      NOT NULL DEFAULT 0, -- run.key; 0: none yet
    after      bigint,                         -- that run begins when this one has ended, which it replaces
    seed       bigint      NOT NULL DEFAULT 0, -- of the last start that was answered: a repeated one is known by it
    until      timestamptz,                    -- when an idempotency key is free; the latest begin of a debounced run
    look_at    timestamptz NOT NULL,           -- when a sweep looks whether the row can be deleted
    PRIMARY KEY (definition, start_key, kind)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX start_key_look_at ON ${schema}.start_key (look_at);
-- Nearly always empty.
CREATE INDEX start_key_after ON ${schema}.start_key (after) WHERE after IS NOT NULL;

-- Of the run to be. The rule is one of: begun attach, begun refuse, begun replace, ended attach, ended refuse, ended replace, live, quiet.
ALTER TABLE ${schema}.inbox
    ADD start_key   text,
    ADD start_rule  text,
    ADD key_time    bigint, -- the time to live or the quiet time, in microseconds
    ADD key_longest bigint, -- the longest wait, in microseconds
    ADD CHECK ((start_key IS NULL) = (start_rule IS NULL));

-- Which rows under a key are marked: those after them wait, so that the last input is the last one.
CREATE INDEX inbox_key_taken ON ${schema}.inbox (definition, start_key, number)
    WHERE taken_until IS NOT NULL AND start_key IS NOT NULL;

-- Starts a run under a key from plain SQL, as start_run does under an id. Gives the id; if another run has the key, a run under this id is
-- CANCELLED at once, and its reason names the other one.
CREATE FUNCTION ${schema}.start_run_under_key(
    definition text, start_key text, rule text DEFAULT 'ended attach', input json DEFAULT 'null',
    key_time interval DEFAULT NULL, key_longest interval DEFAULT NULL,
    queue text DEFAULT 'default', priority integer DEFAULT 0, wake boolean DEFAULT true
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
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, delay, start_key, start_rule, key_time, key_longest)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'), queue, priority,
            CASE WHEN rule = 'quiet' THEN (extract(epoch FROM key_time) * 1000000)::bigint END,
            start_key, rule, (extract(epoch FROM key_time) * 1000000)::bigint, (extract(epoch FROM key_longest) * 1000000)::bigint);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
    RETURN id;
END
$$;
