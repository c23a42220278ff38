-- For transaction steps in another database than Perdure's own: what they have done here, remembered in the transaction
-- that did it. A row is needed until the step is in its run's journal; old ones may be deleted by age at any time.
CREATE SCHEMA IF NOT EXISTS ${schema};

CREATE TABLE IF NOT EXISTS ${schema}.completion (
    seed     bigint      NOT NULL, -- the run's own random bits, so that runs of several databases may share the table
    at       timestamptz NOT NULL DEFAULT now(),
    position integer     NOT NULL,
    status   smallint    NOT NULL, -- 0 value, 1 failure: given up, and nothing may be done any more before the run is retried
    run      text        COLLATE "C" NOT NULL,
    name     text        NOT NULL,
    payload  bytea       NOT NULL,
    epoch    bigint,               -- of the worker that gave up: under a later one the run was retried, and the row counts no more
    PRIMARY KEY (seed, position, run)
);
CREATE INDEX IF NOT EXISTS completion_at ON ${schema}.completion (at);

DO $$
BEGIN
    -- Only where it is missing: the statement would wait for all that use the table, even if it changed nothing.
    IF NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = '${schema}.completion'::regclass AND attname = 'epoch' AND NOT attisdropped
    ) THEN
        ALTER TABLE ${schema}.completion ADD COLUMN IF NOT EXISTS epoch bigint;
    END IF;
END
$$;
