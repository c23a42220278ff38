-- For transaction steps in another database than Perdure's own: what they have done here, remembered in the transaction
-- that did it. A row is needed until the step is in its run's journal; old ones may be deleted by age at any time.
CREATE SCHEMA IF NOT EXISTS ${schema};

CREATE TABLE IF NOT EXISTS ${schema}.completion (
    seed     bigint      NOT NULL, -- the run's own random bits, so that runs of several databases may share the table
    at       timestamptz NOT NULL DEFAULT now(),
    position integer     NOT NULL,
    status   smallint    NOT NULL, -- 0 value, 1 failure: given up, and nothing may be done any more
    run      text        COLLATE "C" NOT NULL,
    name     text        NOT NULL,
    payload  bytea       NOT NULL,
    PRIMARY KEY (seed, position, run)
);
CREATE INDEX IF NOT EXISTS completion_at ON ${schema}.completion (at);
