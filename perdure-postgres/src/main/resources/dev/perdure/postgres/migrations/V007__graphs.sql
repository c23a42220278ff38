-- Perdure: graphs that are started in callers' transactions.

-- What is born with a run that a caller has asked for. Comes and goes with its row in inbox, by the same rules.
CREATE TABLE ${schema}.inbox_task (
    number     bigint   NOT NULL, -- of the start in inbox
    seed       bigint   NOT NULL,
    timeout    bigint,            -- in microseconds
    place      integer  NOT NULL, -- among its fellows
    priority   integer  NOT NULL,
    id         text     NOT NULL,
    definition text     NOT NULL,
    queue      text     NOT NULL,
    version    text,
    after      integer[] NOT NULL, -- places of those that it comes after
    input      bytea,              -- null: that of the run
    PRIMARY KEY (number, place)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- How many of them there are.
ALTER TABLE ${schema}.inbox ADD tasks integer NOT NULL DEFAULT 0;
