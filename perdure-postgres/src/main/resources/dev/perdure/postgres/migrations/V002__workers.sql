-- Perdure: workers, the lanes by which they write, and the runs that they hold.

-- Which workers are alive. The number stands for the id in every other table, because it is narrow, and is never used again.
CREATE TABLE ${schema}.worker (
    expires_at  timestamptz NOT NULL,
    lease       interval    NOT NULL,
    id          uuid        NOT NULL,
    number      integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dead        boolean     NOT NULL DEFAULT false, -- its lanes are gone; the row stays until its runs are given away
    returned    boolean     NOT NULL DEFAULT false, -- its process has joined again as another worker: it had not died
    definitions text[]      COLLATE "C" NOT NULL,
    version     text        COLLATE "C",
    -- Only to say why a run waits: a worker names its queues and labels in its polls.
    queues      text[],                             -- from which it takes runs; null: it has not said so
    labels      jsonb       NOT NULL DEFAULT '{}'   -- names with values, the id of the worker among them
) WITH (
    -- Renewed every few seconds: room for HOT updates on its one page.
    fillfactor = 25
);

-- A dead worker keeps its row beside that of a live one with the same id: its process may join again.
CREATE UNIQUE INDEX worker_id ON ${schema}.worker (id) WHERE NOT dead;

-- The fence. A batch locks its lane FOR KEY SHARE and does nothing without it; a sweep that gives a dead worker's runs away deletes its
-- lanes first. Never updated: a delete waits for the batch in flight and refuses the next one. A lane whose answer was lost is replaced by
-- one with a number that was never used.
CREATE TABLE ${schema}.lane (
    worker integer NOT NULL REFERENCES ${schema}.worker (number) ON DELETE CASCADE,
    number integer NOT NULL,
    PRIMARY KEY (worker, number)
);

-- Which runs a worker holds: a row for as long as the run is RUNNING. An index on run.owner would say the same, but would make every claim
-- and every end a non-HOT update with an entry in each of that table's indexes.
CREATE TABLE ${schema}.held (
    key       bigint   NOT NULL,
    worker    integer  NOT NULL,
    partition smallint NOT NULL,
    woken     boolean  NOT NULL DEFAULT false, -- its worker has been asked for something
    PRIMARY KEY (worker, key, partition)
) WITH (
    fillfactor = 90,
    -- Small, and its rows come and go: vacuum by count instead of by share, and without pauses, or dead rows outnumber the live ones.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 20000
);

-- What workers ask on every poll; nearly always empty.
CREATE INDEX held_woken ON ${schema}.held (worker) WHERE woken;

-- Runs that were taken from dead workers, each of which was counted as a recovery. If the worker's process joins again, these counts are
-- taken back and the rows deleted; otherwise they are deleted with the row of the worker, some time later.
CREATE TABLE ${schema}.takeover (
    key       bigint   NOT NULL,
    worker    integer  NOT NULL REFERENCES ${schema}.worker (number) ON DELETE CASCADE,
    entries   integer  NOT NULL,           -- run.entries_at_recovery: a run that was recovered later than its progress counts anew
    restarts  integer  NOT NULL DEFAULT 0, -- the life of the run: a later life counts its recoveries anew
    partition smallint NOT NULL,
    PRIMARY KEY (worker, key, partition)
);

-- A resume counts recoveries anew too, and deletes the rows of its run.
CREATE INDEX takeover_run ON ${schema}.takeover (key);
