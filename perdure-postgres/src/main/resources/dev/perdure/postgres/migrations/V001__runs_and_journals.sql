-- Perdure, the first schema. Owner: whoever migrates. Roles for workers and viewers: roles.sql beside this folder.
--
-- Three rules explain the shape:
--   1. A run is one narrow row that is updated in place (HOT): nothing that changes during its life is indexed on it.
--      What has to be found by state is found through small tables instead, whose rows come and go with the state:
--      held (RUNNING), ready (READY), timer (SUSPENDED, BACKING_OFF).
--   2. Payloads are not on that row. They are in the journal: the input at position 0, the outcome at the last position.
--   3. partition is a hash of the run's id (and the low byte of its key). It is part of every key, last, where it fills
--      padding and costs nothing; a distributed PostgreSQL can distribute every table by it.
--
-- States: 0 pending, 1 ready, 2 running, 3 suspended, 4 backing off, 5 paused, 6 completed, 7 failed, 8 cancelled, 9 skipped.

-- Workers take blocks of 65,536 keys from it, so it is never hot, and a key is known before its row is written.
CREATE SEQUENCE ${schema}.key_block AS bigint MINVALUE 1 MAXVALUE 549755813887;

CREATE TABLE ${schema}.run (
    key                 bigint      NOT NULL,
    seed                bigint      NOT NULL,
    epoch               bigint      NOT NULL,
    created_at          timestamptz NOT NULL,
    changed_at          timestamptz NOT NULL,
    wake_at             timestamptz,
    deadline            timestamptz,
    owner               integer,                        -- worker.number
    wakes               integer     NOT NULL DEFAULT 0,
    changes             integer     NOT NULL DEFAULT 0, -- how many states it has left: the number of its next event
    recoveries          integer     NOT NULL DEFAULT 0,
    entries_at_recovery integer     NOT NULL DEFAULT 0,
    priority            integer     NOT NULL,
    partition           smallint    NOT NULL,
    state               smallint    NOT NULL,
    id                  text        COLLATE "C" NOT NULL,
    definition          text        COLLATE "C" NOT NULL,
    queue               text        COLLATE "C" NOT NULL,
    version             text        COLLATE "C",
    reason              text,
    cancel              text,
    kill                text,
    pause               text,
    PRIMARY KEY (key, partition),
    UNIQUE (id, partition)
) WITH (
    -- A run is updated two to six times and mostly soon after its insert: room on its page keeps those updates HOT, so
    -- they touch none of the three indexes and are cleaned up without vacuum.
    fillfactor = 70,
    -- Vacuum by a small share of the table: the default of a fifth is many millions of rows here.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

-- For lists, newest first. Never changes, so it does not stand in the way of HOT.
CREATE INDEX run_created_at ON ${schema}.run (created_at);

CREATE TABLE ${schema}.journal (
    key       bigint      NOT NULL,
    position  integer     NOT NULL, -- 0 the input, 2147483647 the outcome, between them the entries
    note      smallint    NOT NULL,
    partition smallint    NOT NULL,
    at        timestamptz NOT NULL,
    kind      smallint    NOT NULL, -- 0 input or outcome, 1 step, 2 sleep, 3 now, 4 patch
    status    smallint    NOT NULL, -- 0 value, 1 failure, 2 begun, 3 attempt, 4 cancelled, 5 deadline
    name      text        NOT NULL,
    payload   bytea       NOT NULL,
    PRIMARY KEY (key, position, note, partition)
) WITH (
    -- Rows are only ever inserted, so pages are filled; vacuum has nothing to remove and comes for the visibility map only.
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05
);

-- The states a run has left, with their reasons. The state it is in is on its own row; the view events has both.
CREATE TABLE ${schema}.event (
    key       bigint      NOT NULL,
    number    integer     NOT NULL,
    partition smallint    NOT NULL,
    state     smallint    NOT NULL,
    at        timestamptz NOT NULL,
    reason    text,
    PRIMARY KEY (key, number, partition)
) WITH (fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- Who is alive. The number stands for the id in every other table, because it is narrow, and is never used again.
CREATE TABLE ${schema}.worker (
    number      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dead        boolean     NOT NULL DEFAULT false, -- its lanes are gone; the row stays until its runs are given away
    expires_at  timestamptz NOT NULL,
    lease       interval    NOT NULL,
    id          uuid        NOT NULL,
    definitions text[]      COLLATE "C" NOT NULL,
    version     text        COLLATE "C"
) WITH (
    -- Renewed every few seconds: room for HOT updates on its one page.
    fillfactor = 25
);

-- The dead keep their id beside the living, should one of them come back under it.
CREATE UNIQUE INDEX worker_id ON ${schema}.worker (id) WHERE NOT dead;

-- The fence. A batch locks its lane FOR KEY SHARE and does nothing without it; whoever gives a dead worker's runs away
-- deletes its lanes first. Never updated: a delete is what waits for the batch in flight and refuses the next one.
CREATE TABLE ${schema}.lane (
    worker integer  NOT NULL REFERENCES ${schema}.worker (number) ON DELETE CASCADE,
    number smallint NOT NULL,
    PRIMARY KEY (worker, number)
);

-- Which runs a worker holds: a row for as long as the run is RUNNING. An index on run.owner would say the same, but would
-- make every claim and every end a non-HOT update with an entry in each of that table's indexes.
CREATE TABLE ${schema}.held (
    key       bigint   NOT NULL,
    worker    integer  NOT NULL,
    partition smallint NOT NULL,
    woken     boolean  NOT NULL DEFAULT false, -- its worker has been asked for something
    PRIMARY KEY (worker, key, partition)
) WITH (
    fillfactor = 90,
    -- Small and churning: vacuum by count instead of by share, and without pauses, or dead rows outweigh the live ones.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 20000
);

-- What workers ask on every poll; nearly always empty.
CREATE INDEX held_woken ON ${schema}.held (worker) WHERE woken;

-- The queue. Led by all that a worker must match, so that a backlog it cannot run costs it nothing to pass by.
CREATE TABLE ${schema}.ready (
    key        bigint      NOT NULL,
    since      timestamptz NOT NULL, -- run.changed_at: the row is found again without an index on key
    rank       integer     NOT NULL, -- the priority upside down: ascending is the order of claims
    partition  smallint    NOT NULL,
    alone      boolean     NOT NULL, -- for a worker that holds nothing else
    queue      text        COLLATE "C" NOT NULL,
    definition text        COLLATE "C" NOT NULL,
    version    text        COLLATE "C" NOT NULL, -- empty: any
    PRIMARY KEY (queue, definition, version, alone, rank, since, key, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 20000
);

-- Who goes on by itself, and when. A million sleepers are a million of these and nothing else.
CREATE TABLE ${schema}.timer (
    due_at    timestamptz NOT NULL, -- run.wake_at
    key       bigint      NOT NULL,
    partition smallint    NOT NULL,
    PRIMARY KEY (due_at, key, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- A payload for people who ask in SQL. Payloads are bytes, normally UTF-8 JSON; any others are shown as a base64 string.
CREATE FUNCTION ${schema}.payload_json(payload bytea) RETURNS json
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
BEGIN
    IF payload IS NULL OR length(payload) = 0 THEN
        RETURN NULL;
    END IF;
    RETURN convert_from(payload, 'UTF8')::json;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN to_json(encode(payload, 'base64'));
END
$$;

CREATE FUNCTION ${schema}.state_name(state smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('{PENDING,READY,RUNNING,SUSPENDED,BACKING_OFF,PAUSED,COMPLETED,FAILED,CANCELLED,SKIPPED}'::text[])[state + 1]
$$;

CREATE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, r.reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(i.payload) AS input, ${schema}.payload_json(o.payload) AS outcome
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

CREATE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH}'::text[])[j.kind] AS kind, j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE}'::text[])[j.status + 1] AS status,
       j.at, ${schema}.payload_json(j.payload) AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;

CREATE VIEW ${schema}.events AS
SELECT r.id, e.number, ${schema}.state_name(e.state) AS state, e.at, e.reason
FROM ${schema}.event e
JOIN ${schema}.run r ON r.key = e.key
UNION ALL
SELECT r.id, r.changes, ${schema}.state_name(r.state), r.changed_at, r.reason
FROM ${schema}.run r;
