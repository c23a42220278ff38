-- Perdure: runs that wait for a worker, or for a time.

-- The queue. A run has at most one row, and statements that delete it find it by the run.
CREATE TABLE ${schema}.ready (
    key        bigint      NOT NULL,
    since      timestamptz NOT NULL, -- run.changed_at
    rank       integer     NOT NULL, -- the negated priority: ascending is the order of claims
    partition  smallint    NOT NULL,
    alone      boolean     NOT NULL, -- for a worker that holds nothing else
    queue      text        COLLATE "C" NOT NULL,
    definition text        COLLATE "C" NOT NULL,
    -- Empty: any. After a line break follows run.placement, so that a claim finds the run by the same index, if its worker names this text
    -- among the versions that it takes.
    version    text        COLLATE "C" NOT NULL,
    queue_key  text        COLLATE "C"
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 20000
);

CREATE UNIQUE INDEX ready_run ON ${schema}.ready (key, partition);

-- A row is in one of the next two indexes. Both begin with everything that a worker has to match, so that runs which it cannot take cost
-- its claim nothing. Runs without a key are claimed by priority and age; their index does not have the others.
CREATE INDEX ready_order ON ${schema}.ready (queue, definition, version, alone, rank, since, key) WHERE queue_key IS NULL;
-- Runs with a key. A claim steps from one key to the next, however many runs each has.
CREATE INDEX ready_by_key ON ${schema}.ready (queue, queue_key, definition, version, alone, rank, since, key)
    WHERE queue_key IS NOT NULL;
-- Nearly always empty: whether a queue has a run that has to run alone.
CREATE INDEX ready_alone ON ${schema}.ready (queue) WHERE alone;
-- Nearly always empty: which texts of labels there are, and which runs wait for a worker that they prefer.
CREATE INDEX ready_placed ON ${schema}.ready (version) WHERE strpos(version, E'\n') > 0;
CREATE INDEX ready_prefers ON ${schema}.ready (since) WHERE strpos(version, E'\t') > 0;

-- Which runs continue by themselves, and when. A million sleeping runs are a million of these rows and nothing else.
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

-- A run that is cancelled at this time if it has not begun. Only runs that were started with such a limit have a row; it is deleted when
-- the time has come, whether the run has begun by then or not, so beginning a run costs nothing more.
CREATE TABLE ${schema}.start_limit (
    due_at    timestamptz NOT NULL,
    key       bigint      NOT NULL,
    within    bigint      NOT NULL, -- the time that the start allowed, in microseconds: for the reason
    partition smallint    NOT NULL,
    PRIMARY KEY (due_at, key, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
