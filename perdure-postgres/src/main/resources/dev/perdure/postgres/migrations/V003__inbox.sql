-- Transaction steps, and what callers ask for inside their own transactions.

-- Kind 14 in journal is a transaction step.
CREATE OR REPLACE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH,TIMER,RECEIVE,CHILD,PROMISE,AWAKEABLE,EVENT,CHOICE,AWAIT,EFFECT,TRANSACTION}'::text[])[j.kind] AS kind,
       j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE}'::text[])[j.status + 1] AS status,
       j.at, ${schema}.payload_json(j.payload) AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;

-- What callers have asked for in transactions of their own. They only insert here, so that a transaction left open holds up
-- nobody; workers see the row when it is committed, do what it says, and delete it.
CREATE TABLE ${schema}.inbox (
    number      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which it is done
    seed        bigint      NOT NULL,
    at          timestamptz NOT NULL DEFAULT now(),
    taken_until timestamptz,                    -- a worker is about to do it; by then it has, or has died
    timeout     bigint,                         -- of the run to be, in microseconds
    delay       bigint,                         -- before the run to be is ready, in microseconds
    token       uuid,                           -- of the mail
    priority    integer     NOT NULL DEFAULT 0,
    position    integer,                        -- of the call that the mail answers
    wish        smallint    NOT NULL,           -- 0 start, 1 cancel, 9 mail
    channel     smallint,                       -- of the mail, as in mail
    status      smallint,                       -- of the mail, as in mail
    id          text        NOT NULL,           -- of the run
    definition  text,
    queue       text,
    version     text,
    name        text,                           -- the topic or the promise of the mail
    reason      text,                           -- of the cancel; or of a failure that is mailed
    input       bytea,                          -- of the run to be; or what is mailed
    CHECK (CASE wish WHEN 0 THEN definition IS NOT NULL AND queue IS NOT NULL AND input IS NOT NULL
                     WHEN 1 THEN reason IS NOT NULL
                     WHEN 9 THEN token IS NOT NULL AND channel IS NOT NULL AND status IS NOT NULL AND name IS NOT NULL
                         AND input IS NOT NULL
                     ELSE false END)
) WITH (
    fillfactor = 70, -- room for the mark that it is taken
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- Starts a run from plain SQL, another language or a trigger, when the transaction commits. The input is JSON, as the
-- library's own codec writes it; an engine with another codec cannot read it. An id that is taken starts nothing.
CREATE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true
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
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, version, timeout)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'),
            queue, priority, version, (extract(epoch FROM timeout) * 1000000)::bigint);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;

-- Sends a message to a run from plain SQL, another language or a trigger, when the transaction commits. The value is JSON,
-- as the library's own codec writes it. A message to a run that is not there, or has ended, is dropped and logged.
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
