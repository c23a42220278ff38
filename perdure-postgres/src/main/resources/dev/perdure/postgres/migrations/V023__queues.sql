-- Perdure: queues with limits, and runs with keys that are taken in turns.

-- The key of a run in its queue, such as a customer. Null where a run has none, so that its row is as narrow as before.
ALTER TABLE ${schema}.run ADD COLUMN queue_key text COLLATE "C";
ALTER TABLE ${schema}.inbox ADD COLUMN queue_key text;
ALTER TABLE ${schema}.ready ADD COLUMN queue_key text COLLATE "C";

-- A row of ready is in one of two indexes. Runs without a key are claimed by priority and age; the index does not have the others,
-- so a million of them cost such a claim nothing. Uniqueness is that of ready_run.
ALTER TABLE ${schema}.ready DROP CONSTRAINT ready_pkey;
CREATE INDEX ready_order ON ${schema}.ready (queue, definition, version, alone, rank, since, key) WHERE queue_key IS NULL;
-- Runs with a key. A claim steps from one key to the next, however many runs each has.
CREATE INDEX ready_by_key ON ${schema}.ready (queue, queue_key, definition, version, alone, rank, since, key)
    WHERE queue_key IS NOT NULL;
-- Nearly always empty: whether a queue has a run that has to run alone.
CREATE INDEX ready_alone ON ${schema}.ready (queue) WHERE alone;

-- A queue that was declared, or that has had runs with keys. A claim locks its row, so that one worker at a time counts its places.
CREATE TABLE ${schema}.queue (
    name          text        COLLATE "C" PRIMARY KEY,
    declared      jsonb       NOT NULL DEFAULT '{}', -- what the code says: names of settings with texts
    changed       jsonb       NOT NULL DEFAULT '{}', -- what operators have changed since
    paused        text,                              -- why, if it is
    revision      bigint      NOT NULL DEFAULT 1,    -- rises with every change of the columns above
    turn          bigint      NOT NULL DEFAULT 0,    -- how many runs were taken in turns
    look_from     text        COLLATE "C" NOT NULL DEFAULT '', -- the key from which the next claim looks, if there are many
    minute        timestamptz NOT NULL DEFAULT '-infinity',
    this_minute   bigint      NOT NULL DEFAULT 0,    -- how many runs were taken in that minute
    minute_before bigint      NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A run that was taken from a queue with limits: how a claim finds the runs that may hold a place. Whether one does is on the run's
-- own row, so nothing has to give a place back; a claim that finds a run which holds none deletes its row here.
CREATE TABLE ${schema}.slot (
    key       bigint   NOT NULL,
    partition smallint NOT NULL,
    queue     text     COLLATE "C" NOT NULL,
    queue_key text     COLLATE "C" NOT NULL, -- empty: none
    PRIMARY KEY (key, partition)
) WITH (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX slot_queue ON ${schema}.slot (queue, queue_key, key);

-- When a key was last served. A key without a row was not served lately, and is the first.
CREATE TABLE ${schema}.queue_turn (
    queue     text        COLLATE "C" NOT NULL,
    queue_key text        COLLATE "C" NOT NULL, -- empty: runs without a key
    served    bigint      NOT NULL,             -- queue.turn
    served_at timestamptz NOT NULL,
    PRIMARY KEY (queue, queue_key)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- What waits and runs, by queue and key: empty for runs without one.
CREATE VIEW ${schema}.queue_keys AS
SELECT both_of_them.queue, both_of_them.queue_key, sum(waiting)::bigint AS waiting, min(oldest) AS oldest,
       sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
FROM (
    SELECT queue, COALESCE(queue_key, '') AS queue_key, count(*) AS waiting, min(since) AS oldest, 0 AS begun, 0 AS at_work
    FROM ${schema}.ready
    GROUP BY 1, 2
    UNION ALL
    SELECT r.queue, COALESCE(r.queue_key, ''), 0, NULL, count(*), count(*) FILTER (WHERE r.state = 2)
    FROM (SELECT key FROM ${schema}.held UNION SELECT key FROM ${schema}.slot) AS may_hold
    JOIN ${schema}.run r ON r.key = may_hold.key
    WHERE r.state BETWEEN 1 AND 4
    GROUP BY 1, 2
) AS both_of_them
GROUP BY 1, 2;

CREATE VIEW ${schema}.queues AS
SELECT q.name, q.paused, q.declared, q.changed, q.declared || q.changed AS limits,
       COALESCE(k.waiting, 0) AS waiting, k.oldest, COALESCE(k.begun, 0) AS begun, COALESCE(k.at_work, 0) AS at_work,
       CASE q.minute WHEN date_trunc('minute', now()) THEN q.minute_before
                     WHEN date_trunc('minute', now()) - interval '1 minute' THEN q.this_minute
                     ELSE 0 END AS last_minute
FROM ${schema}.queue q
LEFT JOIN (
    SELECT queue, sum(waiting)::bigint AS waiting, min(oldest) AS oldest, sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
    FROM ${schema}.queue_keys
    GROUP BY queue
) k ON k.queue = q.name;

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, r.reason, r.queue, r.priority, r.version,
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
       r.attributes, r.queue_key
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

-- Starts a run from plain SQL, as before, with a key in its queue.
DROP FUNCTION ${schema}.start_run(text, text, json, text, integer, text, interval, boolean, jsonb);
CREATE FUNCTION ${schema}.start_run(
    definition text, id text, input json DEFAULT 'null', queue text DEFAULT 'default', priority integer DEFAULT 0,
    version text DEFAULT NULL, timeout interval DEFAULT NULL, wake boolean DEFAULT true,
    attributes jsonb DEFAULT NULL, queue_key text DEFAULT NULL
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
    INSERT INTO ${schema}.inbox (seed, wish, id, definition, input, queue, priority, version, timeout, attributes, queue_key)
    VALUES (hashtextextended(gen_random_uuid()::text, 0), 0, id, definition,
            convert_to(COALESCE(input::text, 'null'), 'UTF8'),
            queue, priority, version, (extract(epoch FROM timeout) * 1000000)::bigint,
            CASE WHEN attributes <> '{}' THEN attributes END, queue_key);
    IF wake THEN -- a notification makes commits wait for each other: turn it off where many commit at once
        PERFORM pg_notify('perdure_${schema}', E'outbox\nready');
    END IF;
END
$$;
