-- Perdure: queues with limits and rates, and runs with keys that are taken in turns.

-- A queue that was declared, or that has had runs with keys. A claim locks its row, so that one worker at a time counts its places.
CREATE TABLE ${schema}.queue (
    revision      bigint      NOT NULL DEFAULT 1, -- rises with every change of declared, changed and paused
    turn          bigint      NOT NULL DEFAULT 0, -- how many runs were taken in turns
    virtual_time  bigint      NOT NULL DEFAULT 0, -- the time of turns: it passes as keys are served, so an idle key saves no turns
    minute        timestamptz NOT NULL DEFAULT '-infinity',
    this_minute   bigint      NOT NULL DEFAULT 0, -- how many runs were taken in that minute
    minute_before bigint      NOT NULL DEFAULT 0,
    name          text        COLLATE "C" PRIMARY KEY,
    look_from     text        COLLATE "C" NOT NULL DEFAULT '', -- the key from which the next claim looks, if there are many
    paused        text,                                        -- why, if it is
    declared      jsonb       NOT NULL DEFAULT '{}',           -- what the code says: names of settings with texts
    changed       jsonb       NOT NULL DEFAULT '{}'            -- what operators have changed since
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A run that was taken from a queue with limits: how a claim finds the runs that may hold a place. Whether one does is on the run's own
-- row, so nothing has to give a place back; a claim that finds a run which holds none deletes its row here.
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
    served    bigint      NOT NULL,           -- queue.turn
    served_at timestamptz NOT NULL,
    -- At which queue.virtual_time the next turn of the key is: one turn after the last one, or a part of that if the key gets several.
    next_turn bigint      NOT NULL DEFAULT 0,
    queue     text        COLLATE "C" NOT NULL,
    queue_key text        COLLATE "C" NOT NULL, -- empty: runs without a key
    PRIMARY KEY (queue, queue_key)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- What has begun lately, for queues with a rate: units in a short stretch of time, which count until a period after its end. So there are
-- never more in any period, whatever the edges of the stretches.
CREATE TABLE ${schema}.queue_rate (
    since      timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    units      bigint      NOT NULL,
    queue      text        COLLATE "C" NOT NULL,
    queue_key  text        COLLATE "C" NOT NULL, -- empty: all runs of the queue
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
