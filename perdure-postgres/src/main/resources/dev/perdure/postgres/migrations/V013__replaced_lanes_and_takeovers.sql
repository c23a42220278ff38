-- A lane whose answer was lost is replaced by one with a number that was never used: there may be many in a long life.
ALTER TABLE ${schema}.lane ALTER COLUMN number TYPE integer;

-- The process of a worker that counted as dead has joined again as another: it had not died.
ALTER TABLE ${schema}.worker ADD COLUMN returned boolean NOT NULL DEFAULT false;

-- Runs that were taken from dead workers, each of which was counted as a recovery. If the worker's process joins again, its
-- rows are taken back and deleted; otherwise they are deleted with the row of the worker, some time later.
CREATE TABLE ${schema}.takeover (
    worker    integer  NOT NULL REFERENCES ${schema}.worker (number) ON DELETE CASCADE,
    key       bigint   NOT NULL,
    entries   integer  NOT NULL, -- run.entries_at_recovery: a run that was recovered later than its progress counts anew
    partition smallint NOT NULL,
    PRIMARY KEY (worker, key, partition)
);
