-- Perdure: plain SQL checks a start as Java does, with the same words; and a row that cannot be read stops nothing else.

-- How long a text is in Java, whose limits count units of UTF-16: two for a character beyond the first 65,536.
CREATE FUNCTION ${schema}.characters(value text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT length(value) + CASE WHEN octet_length(value) = length(value) THEN 0
        ELSE length(regexp_replace(value COLLATE "C", '[^\U00010000-\U0010FFFF]', '', 'g')) END
$$;

-- Refuses a text that is no name: what Names.require refuses.
CREATE FUNCTION ${schema}.check_line(what text, value text, most integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    control text;
BEGIN
    IF value IS NULL OR value = '' THEN
        RAISE EXCEPTION 'The % is %. Give it a non-empty text.', what, CASE WHEN value IS NULL THEN 'null' ELSE 'empty' END
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(value) > most AND ${schema}.characters(value) > most THEN
        RAISE EXCEPTION 'The % ''%…'' has % characters; at most % are allowed. Shorten it or use a hash of it.',
            what, left(value, 40), ${schema}.characters(value), most USING ERRCODE = 'invalid_parameter_value';
    END IF;
    control := substring(value COLLATE "C" FROM '[\u0001-\u001f\u007f-\u009f]');
    IF control IS NOT NULL THEN
        RAISE EXCEPTION 'The % holds the character U+% at index %, which cannot be stored as text. Remove or encode it.',
            what, lpad(upper(to_hex(ascii(control))), 4, '0'), ${schema}.characters(left(value, strpos(value, control) - 1))
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Refuses a number that is too small, or null.
CREATE FUNCTION ${schema}.check_number(what text, value integer, lowest integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF value IS NULL OR value < lowest THEN
        RAISE EXCEPTION 'The % is %; it is at least %.', what, COALESCE(value::text, 'null'), lowest
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Refuses a time that is not longer than zero, or longer than so many days. Null is no time.
CREATE FUNCTION ${schema}.check_time(what text, value interval, days integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF extract(epoch FROM value) <= 0 OR extract(epoch FROM value) > days * 86400.0 THEN
        RAISE EXCEPTION 'The % is %; it must be longer than zero and at most % days.', what, value, days
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Whether a text is an instant, in the form in which attributes have it.
CREATE FUNCTION ${schema}.is_time(value text) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF value IS NULL OR value !~ '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?Z$' THEN
        RETURN false;
    END IF;
    PERFORM value::timestamp;
    RETURN true;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;

-- Refuses attributes that a start in Java could not have.
CREATE FUNCTION ${schema}.check_attributes(attributes jsonb, most_name integer, most_text integer, most_digits integer, most_bytes integer)
    RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    attribute record;
    word text;
    bytes integer := 0;
BEGIN
    IF attributes IS NULL THEN
        RETURN;
    END IF;
    IF jsonb_typeof(attributes) <> 'object' THEN
        RAISE EXCEPTION 'The attributes are %. Give an object such as {"customer": "c-7", "total": 12.5}.', jsonb_typeof(attributes)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR attribute IN SELECT e.key AS name, e.value, jsonb_typeof(e.value) AS kind, e.value #>> '{}' AS text FROM jsonb_each(attributes) AS e LOOP
        PERFORM ${schema}.check_line('attribute name', attribute.name, most_name);
        bytes := bytes + octet_length(attribute.name);
        CASE attribute.kind
            WHEN 'string' THEN
                PERFORM ${schema}.check_line(format('value of the attribute ''%s''', attribute.name), attribute.text, most_text);
                bytes := bytes + octet_length(attribute.text);
            WHEN 'number' THEN
                IF abs(attribute.text::numeric) >= ('1e' || most_digits)::numeric OR scale(trim_scale(attribute.text::numeric)) > most_digits THEN
                    RAISE EXCEPTION 'The value of the attribute ''%'' is %; it has at most % digits before the point and % after it. Round it, or use a text.',
                        attribute.name, left(attribute.text, 100), most_digits, most_digits USING ERRCODE = 'invalid_parameter_value';
                END IF;
                bytes := bytes + octet_length(trim_scale(attribute.text::numeric)::text);
            WHEN 'boolean' THEN
                bytes := bytes + octet_length(attribute.text);
            WHEN 'array' THEN
                IF attribute.value = '[]' THEN
                    RAISE EXCEPTION 'The attribute ''%'' has no keywords. Give at least one, or leave the attribute out; a workflow removes it with null.',
                        attribute.name USING ERRCODE = 'invalid_parameter_value';
                END IF;
                FOR word IN SELECT DISTINCT CASE jsonb_typeof(w.value) WHEN 'string' THEN w.value #>> '{}' END FROM jsonb_array_elements(attribute.value) AS w LOOP
                    PERFORM ${schema}.check_line(format('keyword of the attribute ''%s''', attribute.name), word, most_text);
                    bytes := bytes + octet_length(word);
                END LOOP;
            ELSE
                IF NOT ${schema}.is_time(attribute.value ->> 'time') THEN
                    RAISE EXCEPTION 'The value ''%'' of the attribute ''%'' cannot be read. Give a text, a number, a flag, a list of texts, or a time as {"time": "2026-01-31T12:00:00Z"}.',
                        left(attribute.value::text, 100), attribute.name USING ERRCODE = 'invalid_parameter_value';
                END IF;
                bytes := bytes + octet_length(attribute.value ->> 'time');
        END CASE;
    END LOOP;
    IF bytes > most_bytes THEN
        RAISE EXCEPTION 'The attributes of the run have % bytes; at most % are allowed. Put data that is not searched for into the input.',
            bytes, most_bytes USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Checks one of the lists of labels of a start: "requires" or "prefers".
CREATE FUNCTION ${schema}.check_labels(what text, labels text, most integer, most_characters integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    requirement text;
    parts text[];
    given text[];
    contradiction text;
BEGIN
    IF labels IS NULL THEN
        RETURN;
    END IF;
    given := ARRAY(SELECT DISTINCT each.label COLLATE "C" FROM unnest(string_to_array(labels, ',')) AS each (label) ORDER BY 1);
    IF labels = '' THEN
        given := ARRAY[''];
    END IF;
    FOREACH requirement IN ARRAY given LOOP
        PERFORM ${schema}.check_line('requirement', requirement, most_characters);
        parts := regexp_match(requirement COLLATE "C", '^([A-Za-z0-9_.:/+-]+)(>=|<=|=)([A-Za-z0-9_.:/+-]+)$');
        IF parts IS NULL THEN
            RAISE EXCEPTION 'The requirement ''%'' is not a label, one of = >= <=, and a value of letters, digits and _ . : / + -. Write it like gpu=true or memory>=16.',
                requirement USING ERRCODE = 'invalid_parameter_value';
        END IF;
        IF parts[2] <> '=' AND parts[3] !~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' THEN
            RAISE EXCEPTION 'The requirement ''%'' compares with ''%'', which is not a number. Write it like memory>=16, or use =.',
                requirement, parts[3] USING ERRCODE = 'invalid_parameter_value';
        END IF;
        IF parts[1] = 'worker' THEN
            RAISE EXCEPTION 'The requirement ''%'' names a worker, and worker ids change with every start of a process. Use a label, or ChildOptions.sticky.',
                requirement USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    IF cardinality(given) > most THEN
        RAISE EXCEPTION 'The run % % labels; at most % are allowed. Give workers that have all of them one label of their own.',
            what, cardinality(given), most USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT format('%s and %s', one.label, other.label) INTO contradiction
    FROM unnest(given) AS one (label), unnest(given) AS other (label)
    WHERE one.label ~ '^[^<>=]+=' AND split_part(one.label, '=', 1) = split_part(other.label, '=', 1) AND one.label < other.label
    ORDER BY one.label, other.label
    LIMIT 1;
    IF contradiction IS NOT NULL THEN
        RAISE EXCEPTION 'The run % %, which no worker can meet at once. Leave one of them out.', what, contradiction
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Checks what a start from plain SQL requires or prefers. Returns the placement.
CREATE OR REPLACE FUNCTION ${schema}.placement_of(requires text, prefers text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM ${schema}.check_labels('requires', requires, 10, 200);
    PERFORM ${schema}.check_labels('prefers', prefers, 10, 200);
    RETURN NULLIF(COALESCE(requires, '') || COALESCE(E'\t' || prefers, ''), '');
END
$$;

-- What starts of both kinds check. The lines are those of the list in Java, from which a test makes them.
CREATE FUNCTION ${schema}.check_start(definition text, id text, queue text, queue_key text, priority integer, version text, weight integer,
    timeout interval, start_within interval, attributes jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ${schema}.check_line('definition name', definition, 100);
    PERFORM ${schema}.check_line('run id', id, 200);
    PERFORM ${schema}.check_line('queue', queue, 100);
    PERFORM ${schema}.check_line('key', queue_key, 200) WHERE queue_key IS NOT NULL;
    PERFORM ${schema}.check_number('priority', priority, -2147483648);
    PERFORM ${schema}.check_line('version', version, 100) WHERE version IS NOT NULL;
    PERFORM ${schema}.check_number('weight', weight, 1);
    PERFORM ${schema}.check_time('run timeout', timeout, 36500) WHERE timeout IS NOT NULL;
    PERFORM ${schema}.check_time('time to start within', start_within, 36500) WHERE start_within IS NOT NULL;
    PERFORM ${schema}.check_attributes(attributes, 100, 500, 30, 2000);
    IF starts_with(definition, 'perdure.') THEN
        RAISE EXCEPTION 'The definition name ''%'' begins with ''perdure.'', which is reserved for the engine. Choose another one.', definition
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- As before, with one check.
CREATE OR REPLACE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true,
    attributes jsonb DEFAULT NULL, queue_key text DEFAULT NULL, weight integer DEFAULT 1,
    start_within interval DEFAULT NULL, requires text DEFAULT NULL, prefers text DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ${schema}.check_start(definition, id, queue, queue_key, priority, version, weight, timeout, start_within, attributes);
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

CREATE OR REPLACE FUNCTION ${schema}.start_run_under_key(
    definition text, start_key text, rule text DEFAULT 'ended attach', input json DEFAULT 'null',
    key_time interval DEFAULT NULL, key_longest interval DEFAULT NULL,
    queue text DEFAULT 'default', priority integer DEFAULT 0, wake boolean DEFAULT true,
    queue_key text DEFAULT NULL, weight integer DEFAULT 1, start_within interval DEFAULT NULL,
    requires text DEFAULT NULL, prefers text DEFAULT NULL
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id text := gen_random_uuid()::text;
    kind text := CASE rule WHEN 'live' THEN 'idempotency key' WHEN 'quiet' THEN 'debounce key' ELSE 'deduplication key' END;
BEGIN
    PERFORM ${schema}.check_start(definition, id, queue, queue_key, priority, NULL, weight, NULL, start_within, NULL);
    PERFORM ${schema}.check_line(kind, start_key, 200);
    IF rule IS NULL OR rule !~ '^((begun|ended) (attach|refuse|replace)|live|quiet)$' THEN
        RAISE EXCEPTION 'The rule % is unknown. Give begun or ended with attach, refuse or replace; or live; or quiet.', quote_nullable(rule)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (key_time IS NOT NULL) <> (rule IN ('live', 'quiet')) OR (key_longest IS NOT NULL) <> (rule = 'quiet') THEN
        RAISE EXCEPTION 'The times do not fit the rule %. Give key_time for live; key_time and a key_longest that is not shorter for quiet; none for the others.', rule
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM ${schema}.check_time(format(CASE rule WHEN 'live' THEN 'time to live' ELSE 'quiet time' END || ' of the %s ''%s''', kind, start_key), key_time, 36500);
    PERFORM ${schema}.check_time(format('longest wait of the %s ''%s''', kind, start_key), key_longest, 36500);
    IF key_longest < key_time THEN
        RAISE EXCEPTION 'The longest wait of the debounce key ''%'' is %, which is shorter than the quiet time %. Make it at least as long.',
            start_key, key_longest, key_time USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF start_within IS NOT NULL AND rule = 'quiet' THEN
        RAISE EXCEPTION 'The start under the debounce key ''%'' has a time to start within. The debounce moves its start: leave the time to start within out.',
            start_key USING ERRCODE = 'invalid_parameter_value';
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

CREATE OR REPLACE FUNCTION ${schema}.send_message(run text, topic text, value json, wake boolean DEFAULT true)
    RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ${schema}.check_line('run id', run, 200);
    PERFORM ${schema}.check_line('topic', topic, 200);
    INSERT INTO ${schema}.inbox (seed, wish, id, token, channel, status, name, input)
    VALUES (0, 9, run, gen_random_uuid(), 0, 0, topic, convert_to(COALESCE(value::text, 'null'), 'UTF8'));
    IF wake THEN
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;

DROP FUNCTION ${schema}.attributes_fit(jsonb);

-- As before. What is no object has no values: one such row must not stop a list, nor the inbox.
CREATE OR REPLACE FUNCTION ${schema}.attribute_values(attributes jsonb) RETURNS TABLE (name text, kind text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT e.key, CASE jsonb_typeof(e.value) WHEN 'string' THEN 'text' WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'flag'
                       WHEN 'array' THEN 'keywords' ELSE CASE WHEN e.value -> 'time' IS NULL THEN 'encrypted' ELSE 'time' END END, v.value
    FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes END) AS e,
         jsonb_array_elements_text(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value
                                   WHEN 'object' THEN jsonb_build_array(COALESCE(e.value -> 'time', e.value -> 'encrypted'))
                                   ELSE jsonb_build_array(e.value) END) AS v (value)
$$;

-- As before; and if the limits of its queue or its limiter cannot be read, that is the reason.
CREATE OR REPLACE FUNCTION ${schema}.why_waits(run_key bigint, state smallint, awaited_names text[], at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF state NOT IN (0, 1, 3, 4) THEN
        RETURN NULL;
    END IF;
    BEGIN
        RETURN CASE state
            WHEN 0 THEN ${schema}.why_pending(run_key, at)
            WHEN 1 THEN ${schema}.why_ready(run_key, at)
            WHEN 3 THEN (
                SELECT ${schema}.why_limited(min(substr(n.name, 3)), at) FROM unnest(awaited_names) AS n (name)
                WHERE n.name LIKE 'l:%' HAVING count(*) > 0
            )
            WHEN 4 THEN ${schema}.why_backs_off(run_key) END;
    EXCEPTION WHEN data_exception THEN
        RETURN format('The settings of its queue or limiter cannot be read: %s. Set them anew with queues limit or limiters limit.', SQLERRM);
    END;
END
$$;
