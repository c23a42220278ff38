-- Perdure: limiters of steps, and the permits that attempts at steps hold or wait for.

-- A limiter that was declared. A request for a permit locks its row, so that one worker at a time counts its permits.
CREATE TABLE ${schema}.limiter (
    line     bigint NOT NULL DEFAULT 0,    -- the last place in its line
    name     text   COLLATE "C" PRIMARY KEY,
    paused   text,                         -- why, if it is
    declared jsonb  NOT NULL DEFAULT '{}', -- what the code says: names of settings with texts
    changed  jsonb  NOT NULL DEFAULT '{}'  -- what operators have changed since
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- An attempt at a step that holds a permit or waits for one. Whether it still does is on its run's own row and in its journal, so nothing
-- has to give a permit back; a request that finds an attempt which is over deletes its row here.
CREATE TABLE ${schema}.permit (
    number    bigint      NOT NULL, -- its place in the line
    key       bigint      NOT NULL, -- of the run
    epoch     bigint      NOT NULL, -- under which the run asked last
    asked_at  timestamptz NOT NULL, -- for the first time
    called_at timestamptz,          -- when its turn came, if it has not asked since
    position  integer     NOT NULL, -- of the step
    attempt   integer     NOT NULL,
    restarts  integer     NOT NULL, -- the life of the run
    partition smallint    NOT NULL,
    state     smallint    NOT NULL, -- 0 waits, 1 holds a permit, 2 passed over until it asks again
    limiter   text        COLLATE "C" NOT NULL,
    PRIMARY KEY (limiter, key, position, partition)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX permit_line ON ${schema}.permit (limiter, state, number);
-- Nearly always empty: whether any attempt waits.
CREATE INDEX permit_waits ON ${schema}.permit (limiter) WHERE state = 0;

-- How many attempts got permits lately, for limiters with a rate: see queue_rate.
CREATE TABLE ${schema}.limiter_rate (
    since      timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    units      bigint      NOT NULL,
    limiter    text        COLLATE "C" NOT NULL,
    PRIMARY KEY (limiter, since)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
