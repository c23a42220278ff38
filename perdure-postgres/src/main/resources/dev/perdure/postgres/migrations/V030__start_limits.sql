-- Perdure: runs that have to begin within some time.

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

-- Of the run to be, in microseconds.
ALTER TABLE ${schema}.inbox ADD start_within bigint;
