-- Perdure: retention removes runs with many others below them in pieces, beside the pass over old runs.

-- A tree of runs that is too large for one batch, by its root. Batches walk through it three times: they look whether all of its runs
-- may go, close those that have others below them, so that none of them continues, and remove them, the last first. The place
-- is a run, and behind which of the runs that it has started: all before that are done, with all that is below them.
CREATE TABLE ${schema}.removal (
    root       bigint      PRIMARY KEY, -- run.key
    parent     bigint      NOT NULL,    -- the place: run.key
    after_at   timestamptz NOT NULL DEFAULT to_timestamp(0), -- and run.created_at
    after_key  bigint      NOT NULL DEFAULT 0,           -- and run.key of one that it has started
    next_at    timestamptz NOT NULL,    -- no batch before this; the first of these is next
    stage      smallint    NOT NULL,    -- 0: looking, 1: closing, 2: removing
    asked      boolean     NOT NULL,    -- whether an operator deletes it, whatever its retention is
    remembered boolean     NOT NULL     -- whether ids, inputs and outcomes stay
) WITH (fillfactor = 50);

CREATE INDEX removal_next_at ON ${schema}.removal (next_at, root);
